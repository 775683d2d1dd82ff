# SPDX-License-Identifier: GPL-2.0-only
#
# MD: faulty: a disk whose reads fail now and then
#
# programs: mdadm
# modules: faulty

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk0 8
	attach /tmp/disk0 /dev/loop0 || return
	zeros /tmp/disk1 8
	attach /tmp/disk1 /dev/loop1 || return
	zeros /tmp/disk2 8
	attach /tmp/disk2 /dev/loop2 || return
}

work()
{
	F mdadm --build /dev/md0 --level=faulty --raid-devices=1 --force /dev/loop0 || return
	F mdadm --grow /dev/md0 --level=faulty --layout=read-transient5 || return
	F dd if=/dev/zero of=/dev/md0 bs=64k count=4 oflag=direct || return
	F mdadm --grow /dev/md0 --level=faulty --layout=clear || return
	F mdadm --detail /dev/md0 || return
	F mdadm --stop /dev/md0
}

clean()
{
	md_gone md0 || return
	for disk in 0 1 2; do
		dd if=/dev/zero of=/dev/loop$disk bs=64k count=4 oflag=direct
	done
	return 0
}
