# SPDX-License-Identifier: GPL-2.0-only
#
# FFS of the Amiga
#
# programs: huntwork
# modules: affs

. /qt/workloads/lib.sh

prepare()
{
	on_image 1 affs "" huntwork mkfs affs
}
