# SPDX-License-Identifier: GPL-2.0-only
#
# EROFS with a table of chunks, without compression
#
# programs: huntwork mkfs.erofs
# modules: erofs

. /qt/workloads/lib.sh

prepare()
{
	tree /tmp/tree
	mkfs.erofs --chunksize=4096 /tmp/erofs /tmp/tree || return
	on_file /tmp/erofs erofs ""
}
