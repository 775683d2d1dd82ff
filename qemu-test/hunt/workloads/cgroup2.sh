# SPDX-License-Identifier: GPL-2.0-only
#
# Control groups, version 2: controllers, limits, pressure, threads, namespaces
#
# modules: bfq

. /qt/workloads/lib.sh

prepare()
{
	mkdir -p /tmp/cgroup
	mount -t cgroup2 -o memory_recursiveprot x /tmp/cgroup
	cd /tmp/cgroup || return
	zeros /tmp/disk 4
	attach /tmp/disk /dev/loop0
}

work()
{
	try put "+memory +pids +io +cpu +cpuset +hugetlb +rdma +misc" cgroup.subtree_control
	F mkdir a || return
	put "+memory +pids +io" a/cgroup.subtree_control || return
	F mkdir a/b a/c || return
	put 64M a/memory.max || return
	put 32M a/b/memory.high || return
	put 100 a/pids.max || return
	put "7:0 rbps=1000000 wiops=100" a/io.max || return
	put "7:0 target=5000" a/io.latency || return
	put "default 50" a/io.weight || return
	put "7:0 enable=1" io.cost.qos || return
	put "7:0 enable=0" io.cost.qos || return
	F sh -c 'echo $$ > a/b/cgroup.procs && dd if=/dev/zero of=/tmp/x bs=64k count=4 && cat /proc/self/cgroup && sleep 0' || return
	rm -f /tmp/x
	try put threaded a/c/cgroup.type
	F sh -c 'exec 3<>a/memory.pressure && echo "some 100000 1000000" >&3' || return
	put 1 a/b/cgroup.freeze || return
	put 0 a/b/cgroup.freeze || return
	put 1 a/cgroup.kill || return
	F rmdir a/b a/c || return
	F rmdir a
}

clean()
{
	rm -f /tmp/x
	echo "7:0 enable=0" > io.cost.qos
	set_to 0 a/b/cgroup.freeze
	rmdir a/b
	rmdir a/c
	rmdir a
	[ ! -e a ]
}
