# SPDX-License-Identifier: GPL-2.0-only
#
# HFS+
#
# programs: huntwork
# modules: hfsplus nls_utf8

. /qt/workloads/lib.sh

prepare()
{
	on_image 4 hfsplus "" huntwork mkfs hfsplus
}
