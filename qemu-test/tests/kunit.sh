# SPDX-License-Identifier: GPL-2.0-only
#
# The KUnit suites on i386 and on arm64.  The kernel runs them before the first process, and this
# test takes their results from the log.  scripts/kunit runs the same suites in User Mode Linux.
#
# append: kunit.enable=1 sysctl.vm.mem_profiling=1 kfence.sample_interval=20 kfence.skip_covered_thresh=100 log_buf_len=1M
# timeout: 300
# expect-console: alloc_tag: no index \d+, memory corruption
# expect-console: WARNING: CPU: \d+ PID: \d+ at lib/alloc_tag\.c:\d+ alloc_tag_count_slow
# expect-console: Call [Tt]race:

SUITES="codetag lazy_percpu_counter alloc_tag allocinfo slab_tag kmemtrace codetag_query alloc_tag_ctx dynamic_fault kmon time_stats codetag_time_stats"
LOG=/tmp/log

# kunit64.sh runs only one suite
only=$(sed -n 's/.*kunit.filter_glob=\([a-z_]*\).*/\1/p' /proc/cmdline)
SUITES=${only:-$SUITES}

# Prints the tests of a suite as "suite.test".  If plan and number of results differ, or the
# suite is missing, it prints a failed result for the suite.
suite()
{
	sed -n "/^ *# Subtest: $1\$/,/^\(ok\|not ok\) [0-9]* $1\$/p" $LOG > /tmp/suite
	if [ ! -s /tmp/suite ]; then
		echo "not ok $1 # no such suite"
		return
	fi
	sed -n "s/^    \(ok\|not ok\) [0-9]* \(test_[^ ]*\)/\1 $1.\2/p" /tmp/suite > /tmp/results
	plan=$(sed -n 's/^    1\.\.\([0-9]*\)$/\1/p' /tmp/suite | head -n 1)
	cat /tmp/results
	[ "$(wc -l < /tmp/results)" = "$plan" ] || echo "not ok $1 # $(wc -l < /tmp/results) results of $plan"
}

dmesg | sed 's/^\[[^]]*\] //' > $LOG
for s in $SUITES; do
	suite "$s"
done > /tmp/all
# kunit64.sh is for what others skip
[ -z "$only" ] || sed -i 's/^ok \(.* # SKIP\)/not ok \1/' /tmp/all
echo "KTAP version 1"
echo "1..$(wc -l < /tmp/all)"
awk '{ i++; sub(/^not ok/, "& " i) || sub(/^ok/, "& " i); print }' /tmp/all
! grep -q '^not ok' /tmp/all
