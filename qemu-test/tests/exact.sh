# SPDX-License-Identifier: GPL-2.0-only
#
# Known numbers of known sizes: each on its own line, to the byte, from any context; and
# nothing is left after they are freed, in any context and on any CPU.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slub_debug=FZPU
# append: sysctl.vm.mem_profiling=1 cgroup.memory=nokmem slab_nomerge
# append@alloc-debug: sysctl.vm.mem_profiling=1
# append@alloc-debug: sysctl.vm.mem_profiling=1 kfence.sample_interval=1
# append@slab: sysctl.vm.mem_profiling=1
# timeout: 480
# modules: ctag_test ctag_keep

. /qt/lib.sh

# there_and_back CONTEXT CPU: allocates there, frees in every context and on every CPU
there_and_back()
{
	for from in process softirq hardirq; do
		for cpu in 0 1; do
			cmd alloc all 24 "$1" "$2"
			check_table || fail "allocated in $1 on CPU $2"
			cmd free all 12 $from $cpu
			check_table || fail "half freed in $from on CPU $cpu"
			cmd free all 24 "$1" "$2"
			# free what interrupts could not free
			cmd free all 24
			check_table || fail "freed in $from on CPU $cpu"
		done
	done
}

test_process()
{
	fresh
	there_and_back process 0
	there_and_back process 1
	even || fail "in the end"
}

test_softirq()
{
	fresh
	there_and_back softirq 0
	there_and_back softirq 1
	even || fail "in the end"
}

test_hardirq()
{
	fresh
	there_and_back hardirq 0
	there_and_back hardirq 1
	even || fail "in the end"
}

# The kernel memory that the group /tmp/cg/a is charged with, in bytes
charged()
{
	awk '$1 == "kernel" { print $2 }' /tmp/cg/a/memory.stat
}

# charge_moves LEAST SIGN: waits until the charge has grown (SIGN 1) or shrunk (-1) by LEAST
# since $had; sets $moved.  The kernel sums up per-CPU changes every other second, if
# anything runs.
charge_moves()
{
	tries=20
	until moved=$((($(charged) - had) * $2)); [ $moved -ge "$1" ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || break
		sleep 1
	done
}

# The two lines that request it hold 40 times 8192 bytes and 40 times 256.
test_memory_cgroup()
{
	fresh
	page=$(awk '/^KernelPageSize/ { print $2 * 1024; exit }' /proc/self/smaps)
	want=$((40 * (2 * page + 256)))
	if grep -q cgroup.memory=nokmem /proc/cmdline; then
		want=0
	fi
	# reading hundreds of files must not be charged to the group
	slab_sizes > /tmp/slab_sizes
	enter_cgroup
	had=$(charged)
	[ -n "$had" ] || fail "memory.stat has no figure of the kernel"
	cmd alloc all 40 task
	# a CPU may hold an older part of the charge
	charge_moves $((want - 16384)) 1
	note "the charge of the group grew by $moved bytes"
	if [ $want = 0 ]; then
		eq "charged in spite of nokmem" $moved 0
	# the stacks of the processes that read are charged as well; twice the amount
	# would mean that each object is charged twice
	elif [ $moved -lt $((want - 16384)) ] || [ $moved -gt $((want * 3 / 2)) ]; then
		fail "the group is charged $moved bytes, not about $want"
	fi
	check_table || fail "allocated"
	cmd free all 20 softirq 0
	check_table || fail "freed by a softirq"
	echo "$self" > /tmp/cg/cgroup.procs
	had=$(charged)
	cmd free all 40
	# a CPU may keep a part of the charge in reserve
	charge_moves $((want / 2 - 16384)) -1
	even || fail "freed"
	note "freeing the other half released $moved bytes"
	if [ $want = 0 ]; then
		eq "charged in spite of nokmem" $moved 0
	else
		[ $moved -ge $((want / 2 - 16384)) ] || fail "it stays charged"
	fi
	rmdir /tmp/cg/a
	umount /tmp/cg
}

test_one_by_one()
{
	fresh
	cmd alloc all 1
	cmd free all 1
	for s in $(awk '$1 !~ /_before$/ { print $1 }' $CTAG/table); do
		cmd alloc "$s" 7
		check_table || fail "7 of $s"
		cmd free "$s" 1
		check_table || fail "1 of $s freed"
		cmd free all 6
		check_table || fail "none of $s"
	done
}

# The allocation of a helper is charged to its caller.
test_r27_wrappers_of_util_c()
{
	fresh
	for s in kmemdup kmemdup_nul kstrdup kstrndup; do
		cmd alloc $s 9
	done
	check_table || fail "9 of each"
	for s in kmemdup kmemdup_nul kstrdup kstrndup; do
		cmd free $s 9 softirq 1
	done
	even || fail "freed"
}

test_r07_split()
{
	fresh
	cmd alloc split 100
	check_table || fail "split"
	cmd free split 100
	even || fail "freed"
}

test_r11_extra_reference()
{
	fresh
	cmd alloc extra_ref 100
	check_table || fail "with a reference left"
	cmd free extra_ref 100
	even || fail "freed"
}

test_many()
{
	fresh
	cmd alloc all 500
	check_table || fail "500 of each"
	cmd free all 500
	even || fail "freed"
}

# Enough to make every counter per-CPU; its earlier value must not be lost.
test_hot_lines()
{
	fresh
	rounds=1500
	# kmemleak makes a round many times slower: run fewer
	[ ! -e /sys/kernel/debug/kmemleak ] || rounds=150
	cmd alloc all 50
	for i in 1 2 3 4; do
		cmd churn $rounds
		check_table || fail "after $i rounds"
	done
	cmd free all 50
	even || fail "freed"
}

test_no_other_line()
{
	fresh
	cmd alloc all 10
	cmd free all 10
	[ -z "$(site_lines)" ] || fail "left: $(site_lines | head -1)"
	mod_unload
	[ -z "$(mod_lines)" ] || fail "lines left: $(mod_lines | head -2)"
}

run_tests
