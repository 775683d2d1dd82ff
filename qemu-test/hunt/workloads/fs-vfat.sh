# SPDX-License-Identifier: GPL-2.0-only
#
# FAT with long names
#
# programs: huntwork mkfs.vfat
# modules: vfat nls_cp437 nls_iso8859-1

. /qt/workloads/lib.sh

prepare()
{
	on_image 16 vfat shortname=mixed,discard mkfs.vfat -F 16
}
