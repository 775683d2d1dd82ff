# SPDX-License-Identifier: GPL-2.0-only
#
# Off at boot: nothing is accounted until it is switched on, and what was
# allocated before then is nobody's when it is freed.
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
	# those of before
	cmd free all 10
	site_lines | grep . && fail "charged by a free"
	cmd alloc all 10
	check_table || fail "not what the module has"
	load forks 50
	awk '$1 > 0' $INFO | grep -q 'kernel/fork.c' || fail "nothing for fork.c"
	unload
}

# r28: all that was allocated before may now be freed
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
