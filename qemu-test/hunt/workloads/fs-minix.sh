# SPDX-License-Identifier: GPL-2.0-only
#
# minix, version 3
#
# programs: huntwork mkfs.minix
# modules: minix

. /qt/workloads/lib.sh

prepare()
{
	on_image 4 minix "" mkfs.minix -3
}
