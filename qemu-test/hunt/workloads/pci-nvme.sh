# SPDX-License-Identifier: GPL-2.0-only
#
# An NVMe controller without a namespace, bound again
#
# devices: nvme,serial=hunt
# programs: huntwork
# modules: nvme

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
