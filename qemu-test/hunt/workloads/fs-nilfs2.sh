# SPDX-License-Identifier: GPL-2.0-only
#
# NILFS2; each fsync writes a checkpoint
#
# programs: huntwork mkfs.nilfs2
# modules: nilfs2

. /qt/workloads/lib.sh

prepare()
{
	on_image 32 nilfs2 "" mkfs.nilfs2 -q -f -B 16
}
