# SPDX-License-Identifier: GPL-2.0-only
#
# Groups of processes that read a disk come and go, and there is no memory for a node of a tree.
# The kernel has some nodes in reserve, which fork() and mkdir() refill: so many groups read,
# without a new process in between.

MANY="1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20"

prepare()
{
	mkdir /tmp/cg
	mount -t cgroup2 none /tmp/cg
	echo +io > /tmp/cg/cgroup.subtree_control
	echo "func blkg_create enable" > $FAULTS
}

once()
{
	for group in $MANY; do
		mkdir /tmp/cg/$group
	done
	for group in $MANY; do
		echo 0 > /tmp/cg/$group/cgroup.procs
		echo 1 > /proc/sys/vm/drop_caches
		read -r -n 1 byte < /dev/nullb0
	done
	echo 0 > /tmp/cg/cgroup.procs
	for group in $MANY; do
		rmdir /tmp/cg/$group
	done
}
