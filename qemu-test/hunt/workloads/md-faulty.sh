# SPDX-License-Identifier: GPL-2.0-only
#
# MD: faulty: a disk whose reads fail now and then
#
# programs: mdadm
# modules: faulty

. /qt/workloads/lib.sh

md_disks 3

work()
{
	F mdadm --build /dev/md0 --level=faulty --raid-devices=1 --force /dev/loop0 || return
	F mdadm --grow /dev/md0 --level=faulty --layout=read-transient5 || return
	F dd if=/dev/zero of=/dev/md0 bs=64k count=4 oflag=direct || return
	F mdadm --grow /dev/md0 --level=faulty --layout=clear || return
	F mdadm --detail /dev/md0 || return
	F mdadm --stop /dev/md0
}
