# SPDX-License-Identifier: GPL-2.0-only
#
# squashfs, compressed by zlib
#
# programs: huntwork mksquashfs
# files: /lib/x86_64-linux-gnu/libgcc_s.so.1
# modules: squashfs

. /qt/workloads/lib.sh

prepare()
{
	tree /tmp/tree
	mksquashfs /tmp/tree /tmp/squashfs -quiet -no-progress -comp gzip || return
	on_file /tmp/squashfs squashfs ""
}
