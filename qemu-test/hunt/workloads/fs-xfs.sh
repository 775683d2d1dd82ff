# SPDX-License-Identifier: GPL-2.0-only
#
# XFS with all that mkfs can switch on
#
# programs: huntwork mkfs.xfs
# modules: xfs
# disk: 320M

. /qt/workloads/lib.sh

prepare()
{
	on_disk xfs usrquota,grpquota,prjquota mkfs.xfs -q -f -m crc=1,reflink=1,rmapbt=1,bigtime=1,inobtcount=1
}
