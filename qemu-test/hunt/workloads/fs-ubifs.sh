# SPDX-License-Identifier: GPL-2.0-only
#
# UBI on simulated NAND flash, and UBIFS on it
#
# programs: huntwork flash_erase ubiattach ubidetach ubimkvol ubirmvol ubirsvol ubirename
# modules: ubifs

. /qt/workloads/lib.sh

prepare()
{
	modprobe nandsim first_id_byte=0x20 second_id_byte=0x33 || return
	modprobe ubi
}

work()
{
	: > /tmp/.used
	F ubiattach -m 0 || return
	device_there /dev/ubi0 || return
	F ubimkvol /dev/ubi0 -N volume -s 6MiB || return
	F mount -t ubifs -o compr=zlib,chk_data_crc ubi0:volume /mnt || return
	F huntwork files /mnt || return
	F umount /mnt || return
	F ubirsvol /dev/ubi0 -N volume -s 5MiB || return
	F ubirename /dev/ubi0 volume other || return
	F ubirmvol /dev/ubi0 -N other || return
	F ubidetach -m 0 || return
	rm -f /tmp/.used
}

clean()
{
	unmount /mnt || return
	[ ! -e /dev/ubi0 ] || ubidetach -m 0 || return
	[ -e /tmp/.used ] || return 0
	flash_erase -q /dev/mtd0 0 0 && rm -f /tmp/.used
}
