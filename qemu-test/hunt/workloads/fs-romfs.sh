# SPDX-License-Identifier: GPL-2.0-only
#
# romfs
#
# programs: huntwork genromfs
# modules: romfs

. /qt/workloads/lib.sh

prepare()
{
	tree /tmp/tree
	genromfs -d /tmp/tree -f /tmp/romfs || return
	on_file /tmp/romfs romfs ""
}
