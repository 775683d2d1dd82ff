# SPDX-License-Identifier: GPL-2.0-only
#
# UDF with virtual allocation tables and blocks of 2 KiB, as on media that are written once
#
# programs: huntwork mkfs.udf
# modules: udf

. /qt/workloads/lib.sh

prepare()
{
	on_image 8 udf "" mkfs.udf --media-type=dvdram
}
