# SPDX-License-Identifier: GPL-2.0-only
#
# GFS2 on one machine
#
# programs: huntwork mkfs.gfs2
# modules: gfs2
# disk: 96M

. /qt/workloads/lib.sh

prepare()
{
	on_disk gfs2 quota=on,acl mkfs.gfs2 -q -O -p lock_nolock -j 1 -J 8
}
