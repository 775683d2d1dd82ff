# SPDX-License-Identifier: GPL-2.0-only
#
# Mediated devices: a serial card, displays
#
# programs: huntwork
# modules: mtty mdpy mbochs

. /qt/workloads/lib.sh

prepare()
{
	modprobe mtty && modprobe mdpy && modprobe mbochs
	cat > /tmp/steps <<-'END'
	put /sys/devices/virtual/mtty/mtty/mdev_supported_types/mtty-1/create 83b8f4f2-509f-382f-3c1e-e6bfe0fa1001
	put /sys/devices/virtual/mtty/mtty/mdev_supported_types/mtty-2/create 83b8f4f2-509f-382f-3c1e-e6bfe0fa1002
	put /sys/devices/virtual/mdpy/mdpy/mdev_supported_types/mdpy-vga/create 83b8f4f2-509f-382f-3c1e-e6bfe0fa1003
	put /sys/devices/virtual/mbochs/mbochs/mdev_supported_types/mbochs-small/create 83b8f4f2-509f-382f-3c1e-e6bfe0fa1004
	put /sys/bus/mdev/devices/83b8f4f2-509f-382f-3c1e-e6bfe0fa1001/remove 1
	put /sys/bus/mdev/devices/83b8f4f2-509f-382f-3c1e-e6bfe0fa1002/remove 1
	put /sys/bus/mdev/devices/83b8f4f2-509f-382f-3c1e-e6bfe0fa1003/remove 1
	put /sys/bus/mdev/devices/83b8f4f2-509f-382f-3c1e-e6bfe0fa1004/remove 1
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	for device in /sys/bus/mdev/devices/*; do
		set_to "$device/remove" 1
	done
}
