# SPDX-License-Identifier: GPL-2.0-only
#
# Device mapper: RAID levels, mirrors with a log, multipath
#
# programs: dmsetup
# modules: dm-mirror dm-log dm-region-hash dm-multipath dm-round-robin dm-service-time dm-queue-length dm-raid raid1 raid456

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk0 10
	attach /tmp/disk0 /dev/loop0 || return
	zeros /tmp/disk1 10
	attach /tmp/disk1 /dev/loop1 || return
	zeros /tmp/disk2 10
	attach /tmp/disk2 /dev/loop2 || return
	zeros /tmp/disk3 10
	attach /tmp/disk3 /dev/loop3 || return
	zeros /tmp/disk4 10
	attach /tmp/disk4 /dev/loop4 || return
	zeros /tmp/disk5 10
	attach /tmp/disk5 /dev/loop5 || return
}

work()
{
	F dmsetup --noudevsync create --concise "a,,,rw,0 16384 mirror core 2 64 nosync 2 /dev/loop0 0 /dev/loop1 0 1 handle_errors;\
		b,,,rw,0 16384 mirror disk 3 /dev/loop2 64 nosync 2 /dev/loop0 0 /dev/loop1 0;\
		c,,,rw,0 16384 multipath 0 0 1 1 round-robin 0 2 1 /dev/loop0 100 /dev/loop1 100;\
		d,,,rw,0 16384 multipath 2 queue_mode bio 0 1 1 service-time 0 2 2 /dev/loop0 1 1 /dev/loop1 1 1;\
		e,,,rw,0 16384 raid raid1 4 0 nosync region_size 1024 2 - /dev/loop3 - /dev/loop4;\
		f,,,rw,0 16384 raid raid5_ls 4 64 nosync region_size 1024 3 - /dev/loop3 - /dev/loop4 - /dev/loop5" || return
	F dd if=/dev/zero of=/dev/dm-0 bs=64k count=2 oflag=direct || return
	F dd if=/dev/zero of=/dev/dm-4 bs=64k count=2 oflag=direct || return
	F dd if=/dev/zero of=/dev/dm-5 bs=64k count=2 oflag=direct || return
	F dmsetup --noudevsync message c 0 "fail_path /dev/loop0" || return
	F dmsetup --noudevsync message c 0 "reinstate_path /dev/loop0" || return
	F dmsetup --noudevsync message c 0 "disable_group 1" || return
	F dmsetup --noudevsync message c 0 "enable_group 1" || return
	F dmsetup --noudevsync status f || return
	F dmsetup --noudevsync remove f e d c b a
}

clean()
{
	for name in f e d c b a; do
		dm_gone $name || return
	done
	return 0
}
