# SPDX-License-Identifier: GPL-2.0-only
#
# EROFS, compressed by LZ4
#
# programs: huntwork mkfs.erofs
# modules: erofs

. /qt/workloads/lib.sh

prepare()
{
	tree /tmp/tree
	mkfs.erofs -zlz4hc -E legacy-compress /tmp/erofs /tmp/tree || return
	on_file /tmp/erofs erofs user_xattr,acl
}
