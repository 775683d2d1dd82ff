# SPDX-License-Identifier: GPL-2.0-only
#
# bcache: a cache set, a backing device, attaching and stopping
#
# programs: huntwork make-bcache bcache-super-show
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
	[ -n "$SET" ] || return
	cat > /tmp/steps <<-END
	put /sys/fs/bcache/register /dev/loop0
	put /sys/fs/bcache/register /dev/loop1
	wait /dev/bcache0
	put /sys/block/bcache0/bcache/attach $SET
	write /dev/bcache0 64
	read /dev/bcache0 64
	put /sys/block/bcache0/bcache/cache_mode writeback
	put /sys/block/bcache0/bcache/detach 1
	put /sys/block/bcache0/bcache/stop 1
	put /sys/fs/bcache/$SET/stop 1
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	set_to /sys/block/bcache0/bcache/stop 1
	set_to "/sys/fs/bcache/$SET/stop" 1
	tries=0
	while [ -e /sys/block/bcache0 ] || [ -e "/sys/fs/bcache/$SET" ]; do
		usleep 100000
		tries=$((tries + 1))
		[ $tries -lt 50 ] || return
	done
	# it refuses a device that has a superblock
	dd if=/dev/zero of=/dev/loop0 bs=64k count=1 || return
	dd if=/dev/zero of=/dev/loop1 bs=64k count=1 || return
	make-bcache -b 16k -C /dev/loop0 --cset-uuid "$SET" || return
	make-bcache -B /dev/loop1
}
