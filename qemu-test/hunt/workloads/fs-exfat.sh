# SPDX-License-Identifier: GPL-2.0-only
#
# exFAT
#
# programs: huntwork mkfs.exfat
# modules: exfat nls_utf8

. /qt/workloads/lib.sh

prepare()
{
	on_image 16 exfat "" mkfs.exfat
}
