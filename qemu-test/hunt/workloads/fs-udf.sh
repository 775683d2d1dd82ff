# SPDX-License-Identifier: GPL-2.0-only
#
# UDF
#
# programs: huntwork mkfs.udf
# modules: udf

. /qt/workloads/lib.sh

prepare()
{
	on_image 8 udf "" mkfs.udf --media-type=hd --blocksize=512
}
