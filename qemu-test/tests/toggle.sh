# SPDX-License-Identifier: GPL-2.0-only
#
# Profiling is switched on and off while other things happen.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_keep
# timeout: 300

. /qt/lib.sh

needs_switch

test_r28_allocated_on_freed_off()
{
	fresh
	cmd alloc all 30
	profiling 0
	check_table || fail "switching off lost the objects"
	cmd free all 30
	check_table || fail "freed while off"
	profiling 1
	even || fail "on again"
}

test_r28_allocated_off_freed_on()
{
	profiling 1
	fresh
	profiling 0
	cmd alloc all 30
	site_lines | grep . && fail "accounted while off"
	profiling 1
	site_lines | grep . && fail "accounted by switching on"
	cmd free all 30
	even || fail "freed while on"
}

test_mixed()
{
	profiling 1
	fresh
	cmd alloc all 10
	profiling 0
	cmd alloc all 10
	profiling 1
	cmd alloc all 10
	cmd free all 30
	even || fail "freed"
}

flip()
{
	i=0
	while [ $i -lt "$1" ]; do
		for v in 0 1; do
			echo $v > $MP
			usleep "$2"
		done
		i=$((i + 1))
	done
}

busy()
{
	while :; do
		dd if=/dev/zero of="/tmp/busy.$1" bs=64k count=8 2>/dev/null
		wc -c < "/tmp/busy.$1" > /dev/null
		rm "/tmp/busy.$1"
	done
}

balanced()
{
	profiling 1
	settle
	even || fail "the module's lines do not balance"
	# every line has bytes and calls, or neither
	tags | awk '($1 > 0) != ($2 > 0) { print "# " $0; bad = 1 } END { exit bad }' ||
		fail "bytes without calls or calls without bytes"
}

test_under_load()
{
	fresh
	busy 0 &
	a=$!
	busy 1 &
	b=$!
	cmd alloc all 20
	flip 20 30000 &
	f=$!
	while kill -0 $f 2>/dev/null; do
		cmd churn 40
	done
	wait $f || fail "a switch failed"
	kill $a $b
	cmd free all 20
	balanced
}

test_two_at_the_switch()
{
	fresh
	flip 20 5000 &
	f=$!
	flip 20 7000 &
	g=$!
	while kill -0 $f 2>/dev/null; do
		cmd churn 20
	done
	wait $f $g
	balanced
}

test_while_modules_come_and_go()
{
	[ ! -d $CTAG ] || mod_unload
	flip 20 10000 &
	f=$!
	while kill -0 $f 2>/dev/null; do
		mod_load
		cmd alloc all 3
		cmd free all 1
		mod_unload
	done
	wait $f
	profiling 1
	tags | grep -F '[ctag_test]' && fail "lines left"
	:
}

run_tests
