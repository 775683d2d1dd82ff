# SPDX-License-Identifier: GPL-2.0-only
#
# DAMON: monitored processes and schemes, through sysfs
#
# programs: huntwork

. /qt/workloads/lib.sh

prepare()
{
	cd /sys/kernel/mm/damon/admin/kdamonds || return
	cat > /tmp/steps <<-'END'
	put nr_kdamonds 1
	put 0/contexts/nr_contexts 1
	put 0/contexts/0/operations vaddr
	put 0/contexts/0/targets/nr_targets 2
	put 0/contexts/0/targets/0/pid_target 1
	put 0/contexts/0/targets/1/pid_target 1
	put 0/contexts/0/targets/0/regions/nr_regions 2
	put 0/contexts/0/targets/0/regions/nr_regions 0
	put 0/contexts/0/schemes/nr_schemes 1
	put 0/contexts/0/schemes/0/action stat
	put 0/contexts/0/schemes/0/quotas/ms 1
	put 0/state on
	put 0/state update_schemes_stats
	put 0/state off
	put nr_kdamonds 0
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	[ ! -e 0/state ] || [ "$(cat 0/state)" = off ] || echo off > 0/state
	echo 0 > nr_kdamonds
}
