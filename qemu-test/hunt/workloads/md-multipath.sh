# SPDX-License-Identifier: GPL-2.0-only
#
# MD: multipath: one disk of two fails
#
# programs: mdadm
# modules: multipath

. /qt/workloads/lib.sh

md_disks 3

work()
{
	F mdadm --build /dev/md0 --level=multipath --raid-devices=2 /dev/loop0 /dev/loop1 || return
	F dd if=/dev/zero of=/dev/md0 bs=64k count=4 oflag=direct || return
	F mdadm --fail /dev/md0 /dev/loop1 || return
	F mdadm --remove /dev/md0 /dev/loop1 || return
	F mdadm --detail /dev/md0 || return
	F mdadm --stop /dev/md0
}
