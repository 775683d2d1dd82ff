# SPDX-License-Identifier: GPL-2.0-only
#
# MD: RAID 5
#
# programs: mdadm
# modules: raid456

. /qt/workloads/lib.sh

md_disks 4

work()
{
	F mdadm --create /dev/md0 --run --force --assume-clean --level=5 --raid-devices=3 --metadata=1.2 --chunk=64 --consistency-policy=resync /dev/loop0 /dev/loop1 /dev/loop2 || return
	F dd if=/dev/zero of=/dev/md0 bs=64k count=4 oflag=direct || return
	F mdadm /dev/md0 --add /dev/loop3 || return
	F dd if=/dev/md0 of=/dev/null bs=64k count=4 iflag=direct || return
	F mdadm --detail /dev/md0 || return
	F mdadm --stop /dev/md0 || return
	F mdadm --assemble /dev/md0 --run /dev/loop0 /dev/loop1 /dev/loop2 || return
	F mdadm --stop /dev/md0
}
