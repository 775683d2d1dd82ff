# SPDX-License-Identifier: GPL-2.0-only
#
# Device mapper: a cache with its policy, and an era device
#
# programs: dmsetup
# modules: dm-cache dm-cache-smq dm-era

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk0 16
	attach /tmp/disk0 /dev/loop0 || return
	zeros /tmp/disk1 16
	attach /tmp/disk1 /dev/loop1 || return
	zeros /tmp/disk2 16
	attach /tmp/disk2 /dev/loop2 || return
	zeros /tmp/disk3 16
	attach /tmp/disk3 /dev/loop3 || return
}

work()
{
	F dmsetup --noudevsync create --concise "cache,,,rw,0 16384 cache /dev/loop0 /dev/loop1 /dev/loop2 128 1 writethrough smq 0;\
		era,,,rw,0 16384 era /dev/loop3 /dev/loop2 128" || return
	F dd if=/dev/zero of=/dev/dm-0 bs=64k count=2 oflag=direct || return
	F dd if=/dev/dm-0 of=/dev/null bs=64k count=2 iflag=direct || return
	F dd if=/dev/zero of=/dev/dm-1 bs=64k count=2 oflag=direct || return
	F dmsetup --noudevsync message era 0 checkpoint || return
	F dmsetup --noudevsync message era 0 take_metadata_snap || return
	F dmsetup --noudevsync message era 0 drop_metadata_snap || return
	F dmsetup --noudevsync message cache 0 migration_threshold 2048 || return
	F dmsetup --noudevsync status era || return
	F dmsetup --noudevsync remove era cache
}

clean()
{
	for name in era cache; do
		dm_gone $name || return
	done
	for disk in 0 3; do
		dd if=/dev/zero of=/dev/loop$disk bs=1M count=1 oflag=direct
	done
	return 0
}
