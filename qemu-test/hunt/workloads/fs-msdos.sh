# SPDX-License-Identifier: GPL-2.0-only
#
# FAT without long names
#
# programs: huntwork mkfs.vfat
# modules: msdos nls_cp437

. /qt/workloads/lib.sh

prepare()
{
	on_image 4 msdos "" mkfs.vfat -F 12
}
