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
	F dmsetup create a --table "0 16384 linear /dev/loop0 0" || return
	F dmsetup create b --table "0 16384 striped 2 64 /dev/loop0 0 /dev/loop1 0" || return
	F dmsetup create c --table "0 16384 zero" || return
	F dmsetup create d --table "0 16384 error" || return
	F dmsetup create e --table "0 16384 delay /dev/loop0 0 1 /dev/loop1 0 1 /dev/loop0 0 1" || return
	F dmsetup create f --table "0 16384 flakey /dev/loop0 0 5 1 1 drop_writes" || return
	F dmsetup create g --table "0 16384 dust /dev/loop0 0 512" || return
	F dmsetup create h --table "0 16384 switch 2 128 0 /dev/loop0 0 /dev/loop1 0" || return
	F dmsetup create i --table "0 8192 unstriped 2 64 0 /dev/loop0 0" || return
	F dmsetup create j --table "0 16384 ebs /dev/loop0 0 1 8" || return
	F dmsetup message g 0 addbadblock 5 || return
	F dmsetup message h 0 set_region_mappings 0:0 1:1 || return
	F dmsetup suspend a || return
	F dmsetup reload a --table "0 8192 linear /dev/loop1 0" || return
	F dmsetup resume a || return
	F dmsetup table --showkeys || return
	F dmsetup deps a || return
	F dmsetup rename a z || return
	F dmsetup rename z a || return
	F dd if=/dev/mapper/e of=/dev/null bs=64k count=2 iflag=direct || return
	F dd if=/dev/zero of=/dev/mapper/b bs=64k count=2 oflag=direct || return
	F dd if=/dev/mapper/j of=/dev/null bs=64k count=2 iflag=direct || return
	F dmsetup message e 0 @stats_create - 100 || return
	F dmsetup message e 0 @stats_print 0 || return
	F dmsetup message e 0 @stats_delete 0 || return
	F dmsetup status j || return
	F dmsetup remove j || return
	F dmsetup remove i || return
	F dmsetup remove h || return
	F dmsetup remove g || return
	F dmsetup remove f || return
	F dmsetup remove e || return
	F dmsetup remove d || return
	F dmsetup remove c || return
	F dmsetup remove b || return
	F dmsetup remove a
}

clean()
{
	for name in j i h g f e d c b a; do
		[ ! -e /dev/mapper/$name ] || dmsetup remove --retry $name || return
	done
	return 0
}
