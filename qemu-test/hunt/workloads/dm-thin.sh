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
	F dmsetup create pool --table "0 16384 thin-pool /dev/loop0 /dev/loop1 128 0 1 skip_block_zeroing" || return
	F dmsetup message pool 0 "create_thin 0" || return
	F dmsetup create thin --table "0 16384 thin /dev/mapper/pool 0" || return
	F dd if=/dev/zero of=/dev/mapper/thin bs=64k count=4 oflag=direct || return
	F dmsetup suspend thin || return
	F dmsetup message pool 0 "create_snap 1 0" || return
	F dmsetup resume thin || return
	F dmsetup create thin2 --table "0 16384 thin /dev/mapper/pool 1" || return
	F dd if=/dev/zero of=/dev/mapper/thin bs=64k count=1 oflag=direct || return
	F blkdiscard /dev/mapper/thin2 || return
	F dmsetup message pool 0 reserve_metadata_snap || return
	F dmsetup message pool 0 release_metadata_snap || return
	F dmsetup remove thin2 || return
	F dmsetup message pool 0 "delete 1" || return
	F dmsetup remove thin || return
	F dmsetup message pool 0 "delete 0" || return
	F dmsetup status pool || return
	F dmsetup remove pool
}

clean()
{
	for name in thin2 thin pool; do
		[ ! -e /dev/mapper/$name ] || dmsetup remove --retry $name || return
	done
	dd if=/dev/zero of=/dev/loop0 bs=1M count=2 oflag=direct
	return 0
}
