# SPDX-License-Identifier: GPL-2.0-only
#
# Device mapper: a thin pool, thin devices, and a snapshot of one
#
# programs: dmsetup
# modules: dm-thin-pool

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
	F dmsetup --noudevsync create pool --table "0 16384 thin-pool /dev/loop0 /dev/loop1 128 0 1 skip_block_zeroing" || return
	F dmsetup --noudevsync message pool 0 "create_thin 0" || return
	F dmsetup --noudevsync create thin --table "0 16384 thin /dev/dm-0 0" || return
	F dd if=/dev/zero of=/dev/dm-1 bs=64k count=4 oflag=direct || return
	F dmsetup --noudevsync suspend thin || return
	F dmsetup --noudevsync message pool 0 "create_snap 1 0" || return
	F dmsetup --noudevsync resume thin || return
	F dmsetup --noudevsync create thin2 --table "0 16384 thin /dev/dm-0 1" || return
	F dd if=/dev/zero of=/dev/dm-1 bs=64k count=1 oflag=direct || return
	F blkdiscard /dev/dm-2 || return
	F dmsetup --noudevsync message pool 0 reserve_metadata_snap || return
	F dmsetup --noudevsync message pool 0 release_metadata_snap || return
	F dmsetup --noudevsync remove thin2 || return
	F dmsetup --noudevsync message pool 0 "delete 1" || return
	F dmsetup --noudevsync remove thin || return
	F dmsetup --noudevsync message pool 0 "delete 0" || return
	F dmsetup --noudevsync status pool || return
	F dmsetup --noudevsync remove pool
}

clean()
{
	for name in thin2 thin pool; do
		dm_gone $name || return
	done
	dd if=/dev/zero of=/dev/loop0 bs=1M count=2 oflag=direct
	return 0
}
