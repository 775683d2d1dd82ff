# SPDX-License-Identifier: GPL-2.0-only
#
# OCFS2 on one machine
#
# programs: huntwork mkfs.ocfs2
# modules: ocfs2 ocfs2_stack_o2cb
# disk: 64M

. /qt/workloads/lib.sh

prepare()
{
	on_disk ocfs2 heartbeat=none,acl,usrquota,grpquota mkfs.ocfs2 -q -x -F -M local -N 1 -T mail --fs-features=usrquota,grpquota,refcount,inline-data,xattr
}
