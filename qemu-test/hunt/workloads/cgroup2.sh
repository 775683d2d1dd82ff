# SPDX-License-Identifier: GPL-2.0-only
#
# Control groups, version 2: controllers, limits, pressure, threads, namespaces
#
# programs: huntwork
# modules: bfq

. /qt/workloads/lib.sh

prepare()
{
	mkdir -p /tmp/cgroup
	mount -t cgroup2 -o memory_recursiveprot x /tmp/cgroup
	cd /tmp/cgroup || return
	zeros /tmp/disk 4
	attach /tmp/disk /dev/loop0
	cat > /tmp/steps1 <<-'END'
	- put cgroup.subtree_control +memory +pids +io +cpu +cpuset +hugetlb +rdma +misc
	mkdir a
	put a/cgroup.subtree_control +memory +pids +io
	mkdir a/b
	mkdir a/c
	put a/memory.max 64M
	put a/b/memory.high 32M
	put a/pids.max 100
	put a/io.max 7:0 rbps=1000000 wiops=100
	put a/io.latency 7:0 target=5000
	put a/io.weight default 50
	put io.cost.qos 7:0 enable=1
	put io.cost.qos 7:0 enable=0
	END
	cat > /tmp/steps2 <<-'END'
	- put a/c/cgroup.type threaded
	END
	cat > /tmp/steps3 <<-'END'
	put a/b/cgroup.freeze 1
	put a/b/cgroup.freeze 0
	put a/cgroup.kill 1
	rmdir a/b
	rmdir a/c
	rmdir a
	END
}

work()
{
	F huntwork steps /tmp/steps1 || return
	F sh -c 'echo $$ > a/b/cgroup.procs && dd if=/dev/zero of=/tmp/x bs=64k count=4 && cat /proc/self/cgroup && sleep 0' || return
	rm -f /tmp/x
	F huntwork steps /tmp/steps2 || return
	F sh -c 'exec 3<>a/memory.pressure && echo "some 100000 1000000" >&3' || return
	F huntwork steps /tmp/steps3
}

clean()
{
	rm -f /tmp/x
	echo "7:0 enable=0" > io.cost.qos
	set_to a/b/cgroup.freeze 0
	rmdir a/b
	rmdir a/c
	rmdir a
	[ ! -e a ]
}
