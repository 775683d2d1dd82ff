# SPDX-License-Identifier: GPL-2.0-only
#
# OMFS
#
# programs: huntwork
# modules: omfs

. /qt/workloads/lib.sh

prepare()
{
	on_image 2 omfs "" huntwork mkfs omfs
}
