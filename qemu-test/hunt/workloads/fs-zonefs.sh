# SPDX-License-Identifier: GPL-2.0-only
#
# zonefs on a zoned device in memory. Direct writes of 6.1 fail: zonefs_file_dio_write() advances the
# write pointer before zonefs_file_dio_append() compares with it.
#
# programs: huntwork
# modules: zonefs

. /qt/workloads/lib.sh

prepare()
{
	modprobe null_blk nr_devices=1 zoned=1 zone_size=4 zone_nr_conv=2 gb=1 memory_backed=1 || return
	device_there /dev/nullb0 || return
	superblock
}

# Debian has no mkzonefs: magic, CRC, an empty label, an identifier, no features
superblock()
{
	{
		printf '\123\106\117\132\067\307\320\245'
		dd if=/dev/zero bs=64 count=1
		printf '\000\001\002\003\004\005\006\007\010\011\012\013\014\015\016\017'
		dd if=/dev/zero bs=4008 count=1
	} > /tmp/super
	dd if=/tmp/super of=/dev/nullb0 bs=4096 count=1
}

work()
{
	F mount -t zonefs /dev/nullb0 /mnt || return
	F truncate -s 0 /mnt/seq/0 || return
	F huntwork read /mnt/cnv || return
	F umount /mnt
}

clean()
{
	unmount /mnt
}
