# SPDX-License-Identifier: GPL-2.0-only
#
# JFFS2 on flash memory that is RAM
#
# programs: huntwork flash_erase
# modules: jffs2 mtd

. /qt/workloads/lib.sh

prepare()
{
	modprobe mtdram total_size=2048 erase_size=16 || return
	modprobe mtdblock
}

work()
{
	: > /tmp/.used
	F mount -t jffs2 -o compr=zlib mtd0 /mnt || return
	F huntwork files /mnt || return
	F mount -o remount,ro /mnt || return
	F umount /mnt || return
	rm -f /tmp/.used
}

clean()
{
	unmount /mnt || return
	[ -e /tmp/.used ] || return 0
	flash_erase -q /dev/mtd0 0 0 && rm -f /tmp/.used
}
