# SPDX-License-Identifier: GPL-2.0-only
#
# zram: compressed memory as a disk, as swap, and with a device behind it
#
# modules: zram lzo-rle

. /qt/workloads/lib.sh

prepare()
{
	modprobe zram num_devices=0
	zeros /tmp/behind 8
	attach /tmp/behind /dev/loop0
}

work()
{
	F cat /sys/class/zram-control/hot_add || return
	put lzo-rle /sys/block/zram0/comp_algorithm || return
	put /dev/loop0 /sys/block/zram0/backing_dev || return
	put 16M /sys/block/zram0/disksize || return
	F dd if=/bin/busybox of=/dev/zram0 bs=64k count=8 oflag=direct || return
	F dd if=/dev/zram0 of=/dev/null bs=64k count=8 iflag=direct || return
	put all /sys/block/zram0/idle || return
	put idle /sys/block/zram0/writeback || return
	put 1 /sys/block/zram0/compact || return
	put 1 /sys/block/zram0/reset || return
	put 16M /sys/block/zram0/disksize || return
	F mkswap /dev/zram0 || return
	F swapon /dev/zram0 || return
	F swapoff /dev/zram0 || return
	put 0 /sys/class/zram-control/hot_remove
}

clean()
{
	[ -e /sys/block/zram0 ] || return 0
	! grep -q zram0 /proc/swaps || swapoff /dev/zram0
	echo 0 > /sys/class/zram-control/hot_remove
}
