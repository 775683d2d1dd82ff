# SPDX-License-Identifier: GPL-2.0-only
#
# UFS of FreeBSD
#
# programs: huntwork makefs
# modules: ufs

. /qt/workloads/lib.sh

prepare()
{
	tree /tmp/tree
	makefs -t ffs -s 4m /tmp/ufs /tmp/tree || return
	on_file /tmp/ufs ufs ufstype=44bsd
}
