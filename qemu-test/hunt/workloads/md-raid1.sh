# SPDX-License-Identifier: GPL-2.0-only
#
# MD: RAID 1 with a bitmap, a spare disk and a failed one
#
# programs: mdadm
# modules: raid1

. /qt/workloads/lib.sh

md_disks 3

work()
{
	F mdadm --create /dev/md0 --run --force --assume-clean --level=1 --raid-devices=2 --metadata=1.2 --bitmap=internal /dev/loop0 /dev/loop1 || return
	F dd if=/dev/zero of=/dev/md0 bs=64k count=4 oflag=direct || return
	F mdadm /dev/md0 --add /dev/loop2 || return
	F mdadm /dev/md0 --fail /dev/loop1 --remove /dev/loop1 || return
	try F mdadm --wait /dev/md0
	F mdadm --detail /dev/md0 || return
	F mdadm --stop /dev/md0 || return
	F mdadm --assemble /dev/md0 --run /dev/loop0 /dev/loop1 || return
	F mdadm --stop /dev/md0
}
