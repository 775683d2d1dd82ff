# SPDX-License-Identifier: GPL-2.0-only
#
# cramfs
#
# programs: huntwork mkfs.cramfs
# modules: cramfs

. /qt/workloads/lib.sh

prepare()
{
	tree /tmp/tree
	mkfs.cramfs /tmp/tree /tmp/cramfs || return
	on_file /tmp/cramfs cramfs ""
}
