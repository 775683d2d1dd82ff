# SPDX-License-Identifier: GPL-2.0-only
#
# Reads all lines all the time while memory is allocated on one CPU and freed on another: no
# counter is below zero, none exceeds what is possible, and at the end all lines are exact.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_life ctag_keep
# timeout: 240

. /qt/lib.sh

# without the reports the test sees less, and looks less often
REPORTS=
LOOKS=40
! debug_kernel || { REPORTS=yes; LOOKS=100; }

# A line never shows a negative number; the report has the raw counters.
in_order()
{
	[ -z "$REPORTS" ] || conserved "$1"
}

# Checks that hold for all lines at any time.  A page is counted once, so the lines that
# count pages add up to at most all memory, apart from changes during the read; objects
# are counted a second time as pages of their slabs.
plausible()
{
	tags | awk -v total="$(kilobytes MemTotal)" '
	$1 !~ /^[0-9]+$/ || $2 !~ /^[0-9]+$/ { print "# " $0; bad = 1 }
	$1 > total * 1024 || $2 > $1 + 4096 { print "# " $0; bad = 1 }
	{ sum += $1 }
	END {
		if (sum > 2 * total * 1024) { print "# " sum " bytes in all"; bad = 1 }
		exit bad
	}'
}

test_read_under_load()
{
	fresh
	life_load
	loopback_up
	cmd alloc all 100 softirq 0
	( while :; do echo "churn 20" > $CTAG/cmd; done ) &
	a=$!
	( while :; do load sockets 50; unload; load forks 50; unload; done ) &
	b=$!
	( while :; do
		echo "inflate 16" > $LIFE/cmd
		echo "deflate" > $LIFE/cmd
		echo "rcu 100" > $LIFE/cmd
	done ) &
	c=$!
	i=0
	while [ $i -lt $LOOKS ]; do
		i=$((i + 1))
		plausible || fail "look $i"
		[ $((i % 10)) != 0 ] || in_order "look $i"
	done
	kill -9 $a $b $c
	wait
	killall -9 load 2>/dev/null
	:
}

test_landed()
{
	echo deflate > $LIFE/cmd
	cmd free all 100 softirq 1
	cmd free all 100
	life barrier
	settle
	in_order "landed"
	even || fail "not even"
	check_life || fail "not even"
	tags | awk '($1 > 0) != ($2 > 0) { print "# " $0; bad = 1 } END { exit bad }' ||
		fail "bytes without calls or calls without bytes"
}

run_tests
