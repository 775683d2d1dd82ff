# SPDX-License-Identifier: GPL-2.0-only
#
# squashfs, compressed by xz with its filters, without fragments
#
# programs: huntwork mksquashfs
# modules: squashfs

. /qt/workloads/lib.sh

prepare()
{
	tree /tmp/tree
	mksquashfs /tmp/tree /tmp/squashfs -quiet -no-progress -comp xz -Xbcj x86 -no-fragments
	on_file /tmp/squashfs squashfs ""
}
