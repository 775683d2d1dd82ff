# SPDX-License-Identifier: GPL-2.0-only
#
# ext4 on a loop device.
#
# programs: mkfs.ext4

prepare()
{
	mkdir -p /tmp/m
	dd if=/dev/zero of=/tmp/image bs=64k count=16 2> /dev/null
	mkfs.ext4 -q -O ^has_journal /tmp/image
}

work()
{
	F losetup /dev/loop0 /tmp/image || return
	F mount -t ext4 /dev/loop0 /tmp/m || return
	F mkdir /tmp/m/a || return
	F rmdir /tmp/m/a || return
	F umount /tmp/m || return
	F losetup -d /dev/loop0
}

clean()
{
	! grep -q ' /tmp/m ' /proc/mounts || umount /tmp/m || return
	! losetup /dev/loop0 > /dev/null 2>&1 || losetup -d /dev/loop0
}
