# SPDX-License-Identifier: GPL-2.0-only
#
# No count is lost when CPUs go offline and come back.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_keep
# cpus: 4

. /qt/lib.sh

online()
{
	echo "$2" > "/sys/devices/system/cpu/cpu$1/online" || fail "cpu$1 $2"
}

test_offline_with_live_memory()
{
	fresh
	# percpu counters, on all of them
	cmd churn 300
	for cpu in 0 1 2 3; do
		cmd alloc all 10 process $cpu
	done
	cmd alloc all 10 hardirq 3
	check_table || fail "with all CPUs"
	online 3 0
	online 2 0
	check_table || fail "with two CPUs offline"
	cmd free all 25 softirq 0
	check_table || fail "freed on other CPUs than allocated"
	online 2 1
	check_table || fail "with one CPU back"
	cmd free all 50 process 2
	online 3 1
	cmd free all 50 process 3
	even || fail "at the end"
}

test_many_times()
{
	fresh
	for i in 1 2 3 4 5; do
		cmd alloc all 5 process 1
		online 1 0
		cmd churn 100
		cmd free all 2
		online 1 1
		cmd free all 3 hardirq 1
		cmd free all 5
		even || fail "round $i"
	done
}

run_tests
