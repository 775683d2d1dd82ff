# SPDX-License-Identifier: GPL-2.0-only
#
# Network controllers on PCI, bound again
#
# devices: vmxnet3
# programs: huntwork
# modules: vmxnet3

. /qt/workloads/lib.sh

prepare()
{
	sleep 1
	bind_again pci > /tmp/steps
	[ -s /tmp/steps ]
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	bound_again pci
	# disks are looked for in the background
	usleep 100000
}
