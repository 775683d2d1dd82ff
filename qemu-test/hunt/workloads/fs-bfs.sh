# SPDX-License-Identifier: GPL-2.0-only
#
# BFS of UnixWare
#
# programs: huntwork mkfs.bfs
# modules: bfs

. /qt/workloads/lib.sh

prepare()
{
	on_image 1 bfs "" mkfs.bfs -N 128
}
