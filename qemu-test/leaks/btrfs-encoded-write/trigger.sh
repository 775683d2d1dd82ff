# SPDX-License-Identifier: GPL-2.0-only
#
# Compressed data are written to a btrfs with quotas, as `btrfs receive` does.
#
# programs: mkfs.btrfs btrfs

prepare()
{
	# all of it, so that the file does not grow later
	dd if=/dev/zero of=/tmp/disk bs=1M count=160
	mkfs.btrfs -q -f /tmp/disk
	mount -t btrfs -o loop /tmp/disk /mnt
	btrfs quota enable /mnt
}

once()
{
	trigger encoded
}
