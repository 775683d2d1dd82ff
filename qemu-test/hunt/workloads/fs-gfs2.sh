# SPDX-License-Identifier: GPL-2.0-only
#
# GFS2 on one machine. Quotas make lockdep complain without a fault, so there are none.
#
# programs: huntwork mkfs.gfs2
# modules: gfs2
# disk: 96M

. /qt/workloads/lib.sh

prepare()
{
	on_disk gfs2 acl mkfs.gfs2 -q -O -p lock_nolock -j 1 -J 8
}
