# SPDX-License-Identifier: GPL-2.0-only
#
# bcache: a cache set, a backing device, attaching and stopping
#
# programs: make-bcache bcache-super-show
# modules: bcache

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk0 16
	attach /tmp/disk0 /dev/loop0 || return
	zeros /tmp/disk1 16
	attach /tmp/disk1 /dev/loop1 || return
	modprobe bcache
	make-bcache -b 16k -C /dev/loop0 || return
	make-bcache -B /dev/loop1 || return
	SET=$(bcache-super-show /dev/loop0 | awk '/cset.uuid/ { print $2 }')
	return 0
}

work()
{
	put /dev/loop0 /sys/fs/bcache/register || return
	put /dev/loop1 /sys/fs/bcache/register || return
	device_there /dev/bcache0 || return
	put "$SET" /sys/block/bcache0/bcache/attach || return
	F dd if=/dev/zero of=/dev/bcache0 bs=64k count=4 oflag=direct || return
	F dd if=/dev/bcache0 of=/dev/null bs=64k count=4 iflag=direct || return
	put writeback /sys/block/bcache0/bcache/cache_mode || return
	put 1 /sys/block/bcache0/bcache/detach || return
	put 1 /sys/block/bcache0/bcache/stop || return
	put 1 "/sys/fs/bcache/$SET/stop"
}

clean()
{
	set_to 1 /sys/block/bcache0/bcache/stop
	set_to 1 "/sys/fs/bcache/$SET/stop"
	tries=0
	while [ -e /sys/block/bcache0 ] || [ -e "/sys/fs/bcache/$SET" ]; do
		usleep 100000
		tries=$((tries + 1))
		[ $tries -lt 50 ] || return
	done
	make-bcache -b 16k --wipe-bcache -C /dev/loop0 --cset-uuid "$SET" || return
	make-bcache --wipe-bcache -B /dev/loop1
}
