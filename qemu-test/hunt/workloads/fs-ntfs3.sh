# SPDX-License-Identifier: GPL-2.0-only
#
# NTFS
#
# programs: huntwork mkfs.ntfs
# modules: ntfs3 nls_utf8

. /qt/workloads/lib.sh

prepare()
{
	on_image 64 ntfs3 acl,prealloc mkfs.ntfs -q -F -f
}
