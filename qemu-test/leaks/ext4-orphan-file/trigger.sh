# SPDX-License-Identifier: GPL-2.0-only
#
# A disk whose orphan file is damaged is mounted; ext4 refuses it.
#
# programs: mke2fs dumpe2fs debugfs

prepare()
{
	mke2fs -q -F -t ext4 -O orphan_file /tmp/disk 32M
	inode=$(dumpe2fs -h /tmp/disk 2> /dev/null | sed -n 's/^Orphan file inode: *//p')
	size=$(dumpe2fs -h /tmp/disk 2> /dev/null | sed -n 's/^Block size: *//p')
	block=$(debugfs -R "bmap <$inode> 0" /tmp/disk 2> /dev/null)
	# the magic number is at the end of the block
	dd if=/dev/zero of=/tmp/disk bs=1 seek=$((block * size + size - 8)) count=4 conv=notrunc
	echo "orphan file in inode $inode, block $block of $size bytes"
}

once()
{
	mount -t ext4 -o loop /tmp/disk /mnt && umount /mnt
}
