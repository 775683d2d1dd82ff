# SPDX-License-Identifier: GPL-2.0-only
#
# Control groups, version 1: all controllers, and groups in each

. /qt/workloads/lib.sh

prepare()
{
	for name in cpuset cpu cpuacct blkio devices freezer net_cls perf_event net_prio hugetlb pids rdma misc; do
		mkdir -p /tmp/c/$name
	done
}

work()
{
	for name in cpuset cpu cpuacct blkio devices freezer net_cls perf_event net_prio hugetlb pids misc; do
		F mount -t cgroup -o $name x /tmp/c/$name || return
		F mkdir -p /tmp/c/$name/a/b || return
		F ls /tmp/c/$name/a || return
		F rmdir /tmp/c/$name/a/b /tmp/c/$name/a || return
		F umount /tmp/c/$name || return
	done
	F mount -t cgroup -o none,name=hunt,release_agent=/bin/true x /tmp/c/rdma || return
	F umount /tmp/c/rdma
}

clean()
{
	for name in cpuset cpu cpuacct blkio devices freezer net_cls perf_event net_prio hugetlb pids rdma misc; do
		rmdir /tmp/c/$name/a/b
		rmdir /tmp/c/$name/a
		unmount /tmp/c/$name
	done
	return 0
}
