# SPDX-License-Identifier: GPL-2.0-only
#
# squashfs, compressed by zlib
#
# programs: huntwork mksquashfs
# modules: squashfs

. /qt/workloads/lib.sh

prepare()
{
	tree /tmp/tree
	mksquashfs /tmp/tree /tmp/squashfs -quiet -no-progress -comp gzip
	on_file /tmp/squashfs squashfs ""
}
