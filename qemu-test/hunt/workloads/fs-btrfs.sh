# SPDX-License-Identifier: GPL-2.0-only
#
# btrfs with compression
#
# programs: huntwork mkfs.btrfs
# modules: btrfs
# disk: 128M
# memory: 1G

. /qt/workloads/lib.sh

prepare()
{
	on_disk btrfs compress-force=zlib,autodefrag mkfs.btrfs -q -f
}
