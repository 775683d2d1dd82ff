#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# dynamic_faults: the list, the commands, and a pipe that cannot be created. The test only
# enables the points of alloc_pipe_info(), for one task of its own.

. ./lib.sh

FAULTS=dynamic_faults
PIPES="func:alloc_pipe_info"
TASK=ksft_piper

needs $FAULTS CONFIG_DYNAMIC_FAULT
! grep " $PIPES " "$DEBUGFS/$FAULTS" | grep -qv ' disabled "$' ||
	skip_all "the points of alloc_pipe_info() are in use"
trap 'echo "func alloc_pipe_info disable" 2> /dev/null > $DEBUGFS/$FAULTS; rm -rf "$WORK"' EXIT

# a program that exits with 0 if it can create a pipe
printf '#!/bin/sh\nexec 2> /dev/null\n: | :\n' > "$WORK/$TASK"
chmod +x "$WORK/$TASK"

needs_points()
{
	grep -q " $PIPES class:memory " "$DEBUGFS/$FAULTS" ||
		skip "allocations are no points since boot"
}

# the settings of all points, without their counts
state()
{
	sed 's/ evaluated:.*//' "$DEBUGFS/$FAULTS"
}

# points: print the settings and counts of the points of alloc_pipe_info()
points()
{
	sed -n "s/.* $PIPES class:memory \\(.*\\) \"\$/\\1/p" "$DEBUGFS/$FAULTS"
}

# sum KEY: print the sum of this count over these points
sum()
{
	points | tr ' ' '\n' | awk -F: -v key="$1" '$1 == key { n += $2 } END { print n + 0 }'
}

test_list()
{
	mode $FAULTS 600
	which='[^ ]+:[0-9]+ module:[^ ]+ func:[^ ]+ class:[^ ]+'
	! grep -vE "^$which (disabled|enabled|oneshot).* \"\$" \
		"$DEBUGFS/$FAULTS" || fail "lines of another form"
}

test_bad_commands()
{
	refuses_queries $FAULTS
	for what in "frequency 0" "frequency x" "frequency" "probability 101" "times 0" \
		"times -1" "oneshot oneshot" "enable disable" "disable times 1" "task"; do
		refuses $FAULTS "func alloc_pipe_info $what"
	done
}

test_no_such_point()
{
	refuses $FAULTS "func no_such_function_at_all enable" "No such file"
	refuses $FAULTS "class no_such_class enable" "No such file"
}

# With probability 0, the point is evaluated but never fails.
test_counts()
{
	needs_points
	write $FAULTS "func alloc_pipe_info probability 0 task $TASK"
	"$WORK/$TASK" || fail "it failed"
	[ "$(sum evaluated)" -ge 1 ] || fail "not evaluated: $(points)"
	eq fired "$(sum fired)" 0
	write $FAULTS "func alloc_pipe_info disable"
	eq "disabled" "$(points | sort -u)" disabled
}

test_fails_once()
{
	needs_points
	write $FAULTS "func alloc_pipe_info index 0 oneshot task $TASK"
	: | : || fail "it fails in another task"
	if "$WORK/$TASK"; then
		fail "it did not fail"
	fi
	"$WORK/$TASK" || fail "it failed twice"
	eq fired "$(sum fired)" 1
	write $FAULTS "func alloc_pipe_info disable"
	"$WORK/$TASK" || fail "it fails when disabled"
}

test_fails_while_enabled()
{
	needs_points
	write $FAULTS "func alloc_pipe_info index 0 enable task $TASK"
	for try in 1 2 3; do
		! "$WORK/$TASK" || fail "it did not fail, try $try"
	done
	write $FAULTS "func alloc_pipe_info disable"
	"$WORK/$TASK" || fail "it fails when disabled"
}

run_cases
