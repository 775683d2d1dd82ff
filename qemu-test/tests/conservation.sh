# SPDX-License-Identifier: GPL-2.0-only
#
# References and counters agree, line by line: after boot, under load, and after the
# load.  The kernel compares them while all CPUs are stopped.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slub_debug=FZPU
# append: sysctl.vm.mem_profiling=1 kfence.sample_interval=1 slab_nomerge
# append@slab: sysctl.vm.mem_profiling=1
# memory: 768M
# disk: 256M
# modules: ctag_test ctag_life ctag_keep
# timeout: 480

. /qt/lib.sh

# SLUB allocates the first object of kmem_cache_node before its line can be recorded.
FIRST=0
[ ! -d /sys/kernel/slab ] || FIRST=1

# objects WHEN: on an idle machine each object except that one has a reference.  A task
# that allocates many objects at once may sleep before they are accounted; so the check
# looks three times, and one good look is enough.
objects()
{
	for look in 1 2 3; do
		cat /sys/kernel/debug/alloc_tag/slabs > /tmp/slabs || fail "$1: no report"
		awk -v first=$FIRST '
		$3 != $2 - first * ($1 == "kmem_cache_node") {
			print "# " $1 ": " $2 " objects, " $3 " references"; bad++
		}
		{ all += $2 }
		END { exit bad || NR < 20 || all < 1000 }
		' /tmp/slabs > /tmp/differing && return
		sed "s/\$/, look $look/" /tmp/differing | head -4
	done
	fail "$1: objects without references"
}

test_after_boot()
{
	eq mode "$(stat -c %a $CONSERVATION)" 400
	conserved "after boot"
}

test_known_amounts()
{
	fresh
	life_load
	for where in task softirq hardirq; do
		cmd alloc all 50 $where
		conserved "allocated in $where"
	done
	life inflate 64
	life caches 500
	life twins 500
	life exact 100
	conserved "inflated"
	life rcu 2000
	conserved "with objects on their way"
	life deflate
	life uncache
	cmd free all 150
	conserved "freed"
}

test_live_memory_of_a_module_that_is_gone()
{
	cmd alloc all 20
	cmd keep all
	mod_unload
	conserved "gone"
	echo 1 > $KEEP/free
	conserved "freed"
	fresh
}

busy_files()
{
	while :; do
		dd if=/dev/zero of="/mnt/busy.$1" bs=64k count=32 2>/dev/null
		cp "/mnt/busy.$1" "/tmp/busy.$1"
		cat "/tmp/busy.$1" > /dev/null
		rm -f "/mnt/busy.$1" "/tmp/busy.$1"
	done
}

busy_processes()
{
	while :; do
		for word in a b c d e f; do
			echo $word | cat | wc -c
		done > /dev/null
	done
}

busy_loads()
{
	while :; do
		for kind in sockets unix pipes forks threads anon thp holes; do
			load $kind 20
			unload
		done
	done
}

test_under_load()
{
	loopback_up
	mount_disk
	jobs=
	for job in "busy_files 0" "busy_files 1" busy_processes busy_loads; do
		$job &
		jobs="$jobs $!"
	done
	i=0
	while [ $i -lt 40 ]; do
		i=$((i + 1))
		echo "churn 5" > $CTAG/cmd
		echo "rcu 50" > $LIFE/cmd
		conserved "look $i"
		objects "look $i"
		[ $((i % 10)) != 0 ] || echo 1 > /proc/sys/vm/compact_memory
		[ $((i % 20)) != 0 ] || echo 3 > /proc/sys/vm/drop_caches
	done
	# shellcheck disable=SC2086
	kill -9 $jobs
	wait
	killall -9 load 2>/dev/null
	sleep 1
	umount /mnt || fail umount
}

test_after_it()
{
	conserved "right after"
	settle
	conserved "settled"
	even || fail "lines of ctag_test"
	check_life || fail "lines of ctag_life"
}

test_no_half_and_no_warning()
{
	tags | awk '($1 > 0) != ($2 > 0) { print "# " $0; bad = 1 } END { exit bad }' ||
		fail "bytes without calls or calls without bytes"
	dmesg | grep -E 'alloc_tag:|WARNING' && fail "a warning"
	:
}

run_tests
