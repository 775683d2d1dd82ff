# SPDX-License-Identifier: GPL-2.0-only
#
# MD: RAID 6 with a partial disk
#
# programs: mdadm
# modules: raid456

. /qt/workloads/lib.sh

md_disks 5

work()
{
	F mdadm --create /dev/md0 --run --force --assume-clean --level=6 --raid-devices=4 --metadata=1.2 --chunk=64 --bitmap=none /dev/loop0 /dev/loop1 /dev/loop2 /dev/loop3 || return
	F dd if=/dev/zero of=/dev/md0 bs=64k count=4 oflag=direct || return
	F mdadm /dev/md0 --fail /dev/loop0 || return
	F dd if=/dev/md0 of=/dev/null bs=64k count=4 iflag=direct || return
	F mdadm /dev/md0 --remove /dev/loop0 || return
	F mdadm /dev/md0 --add /dev/loop0 || return
	try F mdadm --wait /dev/md0
	F mdadm --detail /dev/md0 || return
	F mdadm --stop /dev/md0 || return
	F mdadm --assemble /dev/md0 --run /dev/loop0 /dev/loop1 /dev/loop2 /dev/loop3 || return
	F mdadm --stop /dev/md0
}
