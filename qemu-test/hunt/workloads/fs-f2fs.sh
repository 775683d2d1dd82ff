# SPDX-License-Identifier: GPL-2.0-only
#
# F2FS with compression, quotas, extra attributes, casefolding and checksums
#
# programs: huntwork mkfs.f2fs
# modules: f2fs
# disk: 96M

. /qt/workloads/lib.sh

prepare()
{
	on_disk f2fs compress_algorithm=lz4,inline_xattr,inline_data mkfs.f2fs -q -f \
		-O extra_attr,inode_checksum,sb_checksum,inode_crtime,flexible_inline_xattr,compression,quota,project_quota
}
