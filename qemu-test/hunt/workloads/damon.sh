# SPDX-License-Identifier: GPL-2.0-only
#
# DAMON: monitored processes and schemes, through sysfs

. /qt/workloads/lib.sh

prepare()
{
	cd /sys/kernel/mm/damon/admin/kdamonds || return
}

work()
{
	put 1 nr_kdamonds || return
	put 1 0/contexts/nr_contexts || return
	put vaddr 0/contexts/0/operations || return
	put 2 0/contexts/0/targets/nr_targets || return
	put 1 0/contexts/0/targets/0/pid_target || return
	put 1 0/contexts/0/targets/1/pid_target || return
	put 2 0/contexts/0/targets/0/regions/nr_regions || return
	put 0 0/contexts/0/targets/0/regions/nr_regions || return
	put 1 0/contexts/0/schemes/nr_schemes || return
	put stat 0/contexts/0/schemes/0/action || return
	put 1 0/contexts/0/schemes/0/quotas/ms || return
	put on 0/state || return
	put update_schemes_stats 0/state || return
	put off 0/state || return
	put 0 nr_kdamonds
}

clean()
{
	[ ! -e 0/state ] || [ "$(cat 0/state)" = off ] || echo off > 0/state
	echo 0 > nr_kdamonds
}
