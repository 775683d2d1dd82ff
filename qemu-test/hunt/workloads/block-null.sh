# SPDX-License-Identifier: GPL-2.0-only
#
# null_blk devices through configfs: queues, memory, zones, caches, bad blocks
#
# programs: blkzone
# modules: null_blk bfq kyber-iosched

. /qt/workloads/lib.sh

prepare()
{
	modprobe null_blk nr_devices=0
	mount -t configfs x /sys/kernel/config
	cd /sys/kernel/config/nullb || return
}

work()
{
	F mkdir a || return
	put 64 a/size || return
	put 1 a/memory_backed || return
	put 2 a/submit_queues || return
	put 1 a/poll_queues || return
	put 4 a/cache_size || return
	put 1 a/discard || return
	put +1-5 a/badblocks || return
	put 1 a/power || return
	F dd if=/dev/zero of=/dev/a bs=64k count=4 oflag=direct seek=10 || return
	F dd if=/dev/a of=/dev/null bs=64k count=4 iflag=direct skip=10 || return
	put bfq /sys/block/a/queue/scheduler || return
	put kyber /sys/block/a/queue/scheduler || return
	put mq-deadline /sys/block/a/queue/scheduler || return
	put none /sys/block/a/queue/scheduler || return
	try put 100 /sys/block/a/queue/nr_requests || return
	try put 1 /sys/block/a/queue/wbt_lat_usec
	put 0 a/power || return
	F mkdir b || return
	put 1 b/zoned || return
	put 4 b/zone_size || return
	put 1 b/zone_nr_conv || return
	put 64 b/size || return
	put 1 b/power || return
	F blkzone report /dev/b || return
	put 0 b/power || return
	F rmdir b a
}

clean()
{
	for device in a b; do
		[ ! -e $device ] || rmdir $device || return
	done
}
