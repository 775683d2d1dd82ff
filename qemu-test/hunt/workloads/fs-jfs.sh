# SPDX-License-Identifier: GPL-2.0-only
#
# JFS
#
# programs: huntwork mkfs.jfs
# modules: jfs

. /qt/workloads/lib.sh

prepare()
{
	on_image 32 jfs usrquota,grpquota mkfs.jfs -q
}
