# SPDX-License-Identifier: GPL-2.0-only
#
# Control groups, version 1: all controllers, and groups in each
#
# programs: huntwork

. /qt/workloads/lib.sh

prepare()
{
	for name in cpuset cpu cpuacct blkio devices freezer net_cls perf_event net_prio hugetlb pids misc; do
		mkdir -p /tmp/c/$name
		cat <<-END
		mount cgroup x /tmp/c/$name $name
		mkdir /tmp/c/$name/a
		mkdir /tmp/c/$name/a/b
		ls /tmp/c/$name/a
		rmdir /tmp/c/$name/a/b
		rmdir /tmp/c/$name/a
		umount /tmp/c/$name
		END
	done > /tmp/steps
	mkdir /tmp/c/none
	cat >> /tmp/steps <<-'END'
	mount cgroup x /tmp/c/none none,name=hunt,release_agent=/bin/true
	umount /tmp/c/none
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	for folder in /tmp/c/*; do
		rmdir "$folder/a/b"
		rmdir "$folder/a"
		unmount "$folder" || return
	done
	return 0
}
