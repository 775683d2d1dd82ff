# SPDX-License-Identifier: GPL-2.0-only
#
# Device mapper: a snapshot, its origin, and a merge
#
# programs: dmsetup
# modules: dm-snapshot

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk0 16
	attach /tmp/disk0 /dev/loop0 || return
	zeros /tmp/disk1 16
	attach /tmp/disk1 /dev/loop1 || return
}

work()
{
	F dmsetup --noudevsync create --concise "origin,,,rw,0 16384 snapshot-origin /dev/loop0;\
		snap,,,rw,0 16384 snapshot /dev/loop0 /dev/loop1 P 8" || return
	F dd if=/dev/zero of=/dev/dm-0 bs=64k count=2 oflag=direct || return
	F dd if=/dev/zero of=/dev/dm-1 bs=64k count=2 oflag=direct || return
	F dd if=/dev/dm-1 of=/dev/null bs=64k count=2 iflag=direct || return
	F dmsetup --noudevsync remove snap origin || return
	F dmsetup --noudevsync create merge --table "0 16384 snapshot-merge /dev/loop0 /dev/loop1 P 8" || return
	F dmsetup --noudevsync remove merge || return
	F dd if=/dev/zero of=/dev/loop1 bs=4096 count=1 oflag=direct || return
	F dmsetup --noudevsync create snap --table "0 16384 snapshot /dev/loop0 /dev/loop1 N 8" || return
	F dmsetup --noudevsync status snap || return
	F dmsetup --noudevsync remove snap
}

clean()
{
	for name in merge snap origin; do
		dm_gone $name || return
	done
	dd if=/dev/zero of=/dev/loop1 bs=4096 count=1 oflag=direct
	return 0
}
