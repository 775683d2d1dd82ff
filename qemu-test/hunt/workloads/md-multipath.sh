# SPDX-License-Identifier: GPL-2.0-only
#
# MD: multipath: one disk of two fails
#
# programs: mdadm
# modules: multipath

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
	F mdadm --build /dev/md0 --level=multipath --raid-devices=2 /dev/loop0 /dev/loop1 || return
	F dd if=/dev/zero of=/dev/md0 bs=64k count=4 oflag=direct || return
	F mdadm --fail /dev/md0 /dev/loop1 || return
	F mdadm --remove /dev/md0 /dev/loop1 || return
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
