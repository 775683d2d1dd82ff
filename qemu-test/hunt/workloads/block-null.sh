# SPDX-License-Identifier: GPL-2.0-only
#
# null_blk devices through configfs: queues, memory, zones, caches, bad blocks
#
# programs: huntwork blkzone
# modules: null_blk bfq kyber-iosched

. /qt/workloads/lib.sh

prepare()
{
	modprobe null_blk nr_devices=0
	mount -t configfs x /sys/kernel/config
	cd /sys/kernel/config/nullb || return
	cat > /tmp/steps1 <<-'END'
	mkdir a
	put a/size 64
	put a/memory_backed 1
	put a/submit_queues 2
	put a/poll_queues 1
	put a/cache_size 4
	put a/discard 1
	put a/badblocks +100000-100005
	put a/power 1
	write /dev/a 64
	read /dev/a 64
	put /sys/block/a/queue/scheduler bfq
	put /sys/block/a/queue/scheduler kyber
	put /sys/block/a/queue/scheduler mq-deadline
	put /sys/block/a/queue/scheduler none
	- put /sys/block/a/queue/nr_requests 100
	- put /sys/block/a/queue/wbt_lat_usec 1
	put a/power 0
	mkdir b
	put b/zoned 1
	put b/zone_size 4
	put b/zone_nr_conv 1
	put b/size 64
	put b/power 1
	END
	cat > /tmp/steps2 <<-'END'
	put b/power 0
	rmdir b
	rmdir a
	END
}

work()
{
	F huntwork steps /tmp/steps1 || return
	F blkzone report /dev/b || return
	F huntwork steps /tmp/steps2
}

clean()
{
	for device in a b; do
		[ ! -e $device ] || rmdir $device || return
	done
}
