# SPDX-License-Identifier: GPL-2.0-only
#
# MD: RAID 0
#
# programs: mdadm
# modules: raid0

. /qt/workloads/lib.sh

md_disks 3

work()
{
	F mdadm --create /dev/md0 --run --force --assume-clean --level=0 --raid-devices=2 --metadata=1.2 --chunk=64 /dev/loop0 /dev/loop1 || return
	F dd if=/dev/zero of=/dev/md0 bs=64k count=4 oflag=direct || return
	F mdadm --detail /dev/md0 || return
	F mdadm --stop /dev/md0 || return
	F mdadm --assemble /dev/md0 --run /dev/loop0 /dev/loop1 || return
	F mdadm --stop /dev/md0
}
