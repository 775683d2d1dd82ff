# SPDX-License-Identifier: GPL-2.0-only
#
# Mediated devices: a serial card, displays
#
# modules: mtty mdpy mbochs

. /qt/workloads/lib.sh

prepare()
{
	modprobe mtty && modprobe mdpy && modprobe mbochs
	return 0
}

work()
{
	put 83b8f4f2-509f-382f-3c1e-e6bfe0fa1001 /sys/devices/virtual/mtty/mtty/mdev_supported_types/mtty-1/create || return
	put 83b8f4f2-509f-382f-3c1e-e6bfe0fa1002 /sys/devices/virtual/mtty/mtty/mdev_supported_types/mtty-2/create || return
	put 83b8f4f2-509f-382f-3c1e-e6bfe0fa1003 /sys/devices/virtual/mdpy/mdpy/mdev_supported_types/mdpy-vga/create || return
	put 83b8f4f2-509f-382f-3c1e-e6bfe0fa1004 /sys/devices/virtual/mbochs/mbochs/mdev_supported_types/mbochs-small/create || return
	for n in 1 2 3 4; do
		put 1 /sys/bus/mdev/devices/83b8f4f2-509f-382f-3c1e-e6bfe0fa100$n/remove || return
	done
}

clean()
{
	for device in /sys/bus/mdev/devices/*; do
		set_to 1 "$device/remove"
	done
}
