# SPDX-License-Identifier: GPL-2.0-only
#
# Compressed data are written to a btrfs with quotas, as `btrfs receive` does.
#
# programs: mkfs.btrfs btrfs
# disk: 256M

prepare()
{
	mkfs.btrfs -q -f /dev/vda
	mount -t btrfs /dev/vda /mnt
	btrfs quota enable /mnt
}

once()
{
	trigger encoded
}
