# SPDX-License-Identifier: GPL-2.0-only
#
# squashfs, compressed by zstd, without extended attributes
#
# programs: huntwork mksquashfs
# modules: squashfs

. /qt/workloads/lib.sh

prepare()
{
	tree /tmp/tree
	mksquashfs /tmp/tree /tmp/squashfs -quiet -no-progress -comp zstd -no-xattrs -b 16384
	on_file /tmp/squashfs squashfs ""
}
