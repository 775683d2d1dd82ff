# SPDX-License-Identifier: GPL-2.0-only
#
# Device mapper: a clone that is hydrated from its source
#
# programs: dmsetup
# modules: dm-clone

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk0 16
	attach /tmp/disk0 /dev/loop0 || return
	zeros /tmp/disk1 16
	attach /tmp/disk1 /dev/loop1 || return
	zeros /tmp/disk2 16
	attach /tmp/disk2 /dev/loop2 || return
}

work()
{
	F dmsetup --noudevsync create clone --table "0 16384 clone /dev/loop0 /dev/loop1 /dev/loop2 8 1 no_hydration" || return
	F dd if=/dev/zero of=/dev/dm-0 bs=64k count=2 oflag=direct || return
	F dd if=/dev/dm-0 of=/dev/null bs=64k count=2 iflag=direct || return
	F dmsetup --noudevsync message clone 0 enable_hydration || return
	F dmsetup --noudevsync message clone 0 disable_hydration || return
	F dmsetup --noudevsync status clone || return
	F dmsetup --noudevsync remove clone
}

clean()
{
	dm_gone clone || return
	dd if=/dev/zero of=/dev/loop0 bs=1M count=1 oflag=direct
	return 0
}
