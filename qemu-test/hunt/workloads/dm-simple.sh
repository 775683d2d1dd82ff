# SPDX-License-Identifier: GPL-2.0-only
#
# Device mapper: linear, striped, zero, error, delay, flakey, dust, switch, unstriped, ebs
#
# programs: dmsetup
# modules: dm-mod dm-delay dm-flakey dm-dust dm-switch dm-unstripe dm-ebs dm-zero

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
	F dmsetup --noudevsync create --concise "a,,,rw,0 16384 linear /dev/loop0 0;\
		b,,,rw,0 16384 striped 2 64 /dev/loop0 0 /dev/loop1 0;\
		c,,,rw,0 16384 zero;\
		d,,,rw,0 16384 error;\
		e,,,rw,0 16384 delay /dev/loop0 0 1 /dev/loop1 0 1 /dev/loop0 0 1;\
		f,,,rw,0 16384 flakey /dev/loop0 0 5 1 1 drop_writes;\
		g,,,rw,0 16384 dust /dev/loop0 0 512;\
		h,,,rw,0 16384 switch 2 128 0 /dev/loop0 0 /dev/loop1 0;\
		i,,,rw,0 8192 unstriped 2 64 0 /dev/loop0 0;\
		j,,,rw,0 16384 ebs /dev/loop0 0 1 8" || return
	F dmsetup --noudevsync message g 0 addbadblock 5 || return
	F dmsetup --noudevsync message h 0 set_region_mappings 0:0 1:1 || return
	F dmsetup --noudevsync suspend a || return
	F dmsetup --noudevsync reload a --table "0 8192 linear /dev/loop1 0" || return
	F dmsetup --noudevsync resume a || return
	F dmsetup --noudevsync table --showkeys || return
	F dmsetup --noudevsync deps a || return
	F dmsetup --noudevsync rename a z || return
	F dmsetup --noudevsync rename z a || return
	F dd if=/dev/dm-4 of=/dev/null bs=64k count=2 iflag=direct || return
	F dd if=/dev/zero of=/dev/dm-1 bs=64k count=2 oflag=direct || return
	F dd if=/dev/dm-9 of=/dev/null bs=64k count=2 iflag=direct || return
	F dmsetup --noudevsync message e 0 @stats_create - 100 || return
	F dmsetup --noudevsync message e 0 @stats_print 0 || return
	F dmsetup --noudevsync message e 0 @stats_delete 0 || return
	F dmsetup --noudevsync status j || return
	F dmsetup --noudevsync remove j i h g f e d c b a
}

clean()
{
	for name in j i h g f e d c b a; do
		dm_gone $name || return
	done
	return 0
}
