# SPDX-License-Identifier: GPL-2.0-only
#
# XFS in its old format
#
# programs: huntwork mkfs.xfs
# modules: xfs
# disk: 320M

. /qt/workloads/lib.sh

prepare()
{
	on_disk xfs uquota,gquota mkfs.xfs -q -f -m crc=0
}
