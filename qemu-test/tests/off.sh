# SPDX-License-Identifier: GPL-2.0-only
#
# Off at boot: nothing is accounted until profiling is switched on, and memory that was
# allocated before is charged to no line when it is freed.
#
# append: sysctl.vm.mem_profiling=0
# append: sysctl.vm.mem_profiling=0,compressed
# modules: ctag_test ctag_keep

. /qt/lib.sh

needs_switch

test_all_zero()
{
	eq value "$(cat $MP)" 0
	mod_load
	cmd alloc all 10
	eq "bytes and calls" "$(sum_tags .)" "0 0"
	n=$(tags | wc -l)
	[ "$n" -gt 500 ] || fail "only $n lines"
}

test_switched_on()
{
	profiling 1
	# the objects that were allocated while it was off
	cmd free all 10
	site_lines | grep . && fail "charged by a free"
	cmd alloc all 10
	check_table || fail "the lines are not what the module holds"
	load forks 50
	awk '$1 > 0' $INFO | grep -q 'kernel/fork.c' || fail "fork.c has no memory"
	unload
}

# r28: memory that was allocated before is freed now
test_r28_frees_of_old_memory()
{
	settle
	cmd free all 10
	profiling 1
	even || fail "not zero"
}

test_switched_off()
{
	cmd alloc all 10
	check_table || fail "before"
	profiling 0
	check_table || fail "lost by switching off"
	cmd alloc all 10
	cmd free all 10
	cmd free all 10
	profiling 1
	even || fail "not zero"
}

run_tests
