# SPDX-License-Identifier: GPL-2.0-only
#
# zram: compressed memory as a disk, as swap, and with a device behind it
#
# programs: huntwork
# modules: zram lzo-rle

. /qt/workloads/lib.sh

prepare()
{
	modprobe zram num_devices=0
	zeros /tmp/behind 8
	attach /tmp/behind /dev/loop0
	cat > /tmp/steps1 <<-'END'
	cat /sys/class/zram-control/hot_add
	put /sys/block/zram0/comp_algorithm lzo-rle
	put /sys/block/zram0/backing_dev /dev/loop0
	put /sys/block/zram0/disksize 16M
	END
	cat > /tmp/steps2 <<-'END'
	read /dev/zram0 128
	put /sys/block/zram0/idle all
	put /sys/block/zram0/writeback idle
	put /sys/block/zram0/compact 1
	put /sys/block/zram0/reset 1
	put /sys/block/zram0/disksize 16M
	END
	cat > /tmp/steps3 <<-'END'
	put /sys/class/zram-control/hot_remove 0
	END
}

work()
{
	F huntwork steps /tmp/steps1 || return
	F dd if=/bin/busybox of=/dev/zram0 bs=64k count=8 oflag=direct || return
	F huntwork steps /tmp/steps2 || return
	F mkswap /dev/zram0 || return
	F swapon /dev/zram0 || return
	F swapoff /dev/zram0 || return
	F huntwork steps /tmp/steps3
}

clean()
{
	[ -e /sys/block/zram0 ] || return 0
	! grep -q zram0 /proc/swaps || swapoff /dev/zram0
	echo 0 > /sys/class/zram-control/hot_remove
}
