# SPDX-License-Identifier: GPL-2.0-only
#
# Device mapper: a write cache, a log of writes
#
# programs: dmsetup
# modules: dm-writecache dm-log-writes

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
	F dmsetup --noudevsync create --concise "a,,,rw,0 16384 writecache s /dev/loop0 /dev/loop1 4096 4 high_watermark 50 low_watermark 20;\
		b,,,rw,0 16384 log-writes /dev/loop2 /dev/loop3" || return
	F dd if=/dev/zero of=/dev/dm-0 bs=64k count=2 oflag=direct || return
	F dd if=/dev/dm-0 of=/dev/null bs=64k count=2 iflag=direct || return
	F dmsetup --noudevsync message a 0 flush || return
	F dd if=/dev/zero of=/dev/dm-1 bs=64k count=2 oflag=direct || return
	F dmsetup --noudevsync message b 0 "mark here" || return
	F dmsetup --noudevsync status b || return
	F dmsetup --noudevsync remove b a
}

clean()
{
	for name in b a; do
		dm_gone $name || return
	done
	for disk in 1 3; do
		dd if=/dev/zero of=/dev/loop$disk bs=64k count=1 oflag=direct
	done
	return 0
}
