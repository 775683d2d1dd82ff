# SPDX-License-Identifier: GPL-2.0-only
#
# The file system of System V, release 4
#
# programs: huntwork
# modules: sysv

. /qt/workloads/lib.sh

prepare()
{
	on_image 2 sysv "" huntwork mkfs sysv
}
