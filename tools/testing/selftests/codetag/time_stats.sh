#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# time_stats: commands, and a task that waits for a pipe. The test restores whether timing
# was on; afterwards, the order is that of "sort place", and the events of pipes are reset.

. ./lib.sh

STATS=time_stats

needs $STATS CONFIG_CODETAG_TIME_STATS

# Print the block of the call site where a reader of a pipe waits.
block()
{
	awk '$3 ~ /^func:/ { on = ($2 " " $3 == "module:pipe func:pipe_read") }
	     on && NF { print }' "$(file "$STATS")"
}

# value KEY: print this value of the block, 0 if there is none
value()
{
	block | awk -v key="$1:" '$1 == key { n += $2 } END { print n + 0 }'
}

# A reader waits for two tenths of a second.
wait_for_pipe()
{
	sleep 0.2 | cat
}

timing_is_on()
{
	had=$(value count)
	wait_for_pipe
	[ "$(value count)" -gt "$had" ]
}

if timing_is_on; then
	BEFORE=enable
else
	BEFORE=disable
fi
trap 'echo $BEFORE > "$(file $STATS)"; rm -rf "$WORK"' EXIT

test_mode()
{
	mode $STATS 600
}

test_bad_commands()
{
	write $STATS disable
	for what in enabel "enable now" "sort" "sort size" "reset now" "func pipe_read enable" \
		"func a func b reset" "line x reset" "reset func pipe_read"; do
		refuses $STATS "$what"
	done
	refuses $STATS "func no_such_function_at_all reset" "No such file"
}

test_times_a_wait()
{
	write $STATS enable
	write $STATS "func pipe_read reset"
	wait_for_pipe
	[ "$(value count)" -ge 1 ] || fail "not counted: $(block)"
	block > "$WORK/block"
	grep -qE '^  fs/pipe\.c:[0-9]+ module:pipe func:pipe_read$' "$WORK/block" ||
		fail "no heading"
	for key in rate frequency "avg duration" "max duration" "quantiles \(us\)" \
		"exact \(ns\)"; do
		grep -qE "^  $key: +[0-9a-]" "$WORK/block" || fail "no $key"
	done
	longest=$(awk '/^  exact \(ns\):/ {
		for (i = 4; i < NF; i++) if ($i == "max") print $(i + 1) }' "$WORK/block" |
		sort -n | tail -1)
	[ "$longest" -gt 150000000 ] || fail "the longest took $longest ns, and not 200 ms"
}

test_counts_nothing_while_off()
{
	write $STATS disable
	had=$(value count)
	wait_for_pipe
	eq "count" "$(value count)" "$had"
}

test_forgets_what_it_is_told_to()
{
	write $STATS enable
	wait_for_pipe
	write $STATS disable
	[ "$(value count)" -ge 1 ] || fail "not counted"
	others=$(grep -c ' func:' "$(file "$STATS")")
	ours=$(block | grep -c ' func:')
	write $STATS "func pipe_read reset"
	eq "count" "$(value count)" 0
	eq "other lines" "$(grep -c ' func:' "$(file "$STATS")")" $((others - ours))
}

test_sorts()
{
	write $STATS "sort place"
	grep ' func:' "$(file "$STATS")" | awk '{ print $1 }' > "$WORK/places"
	[ -s "$WORK/places" ] || fail "no lines"
	sed 's/:.*//' "$WORK/places" | LC_ALL=C sort -c 2> /dev/null || fail "not by file"
	write $STATS "sort time"
	awk '/^  exact \(ns\):/ { if (n++ && $NF > last) bad = 1; last = $NF } END { exit bad }' \
		"$(file "$STATS")" || fail "not by time"
	write $STATS "sort place"
}

run_cases
