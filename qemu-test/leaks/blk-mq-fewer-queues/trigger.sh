# SPDX-License-Identifier: GPL-2.0-only
#
# A disk loses one of its two queues before it is removed.
#
# cpus: 1,maxcpus=2
# pause: 500000

prepare()
{
	mount -t configfs none /sys/kernel/config
}

once()
{
	disk=/sys/kernel/config/nullb/disk
	mkdir $disk
	echo 2 > $disk/submit_queues
	echo 1 > $disk/power
	echo 1 > $disk/submit_queues
	rmdir $disk
}
