#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# alloc_tags.ctx: commands, and the holders of memory from a chosen call site. The test
# only chooses the call sites of alloc_pipe_info(); it is skipped if these are in use.

. ./lib.sh

CTX=alloc_tags.ctx
PIPES="func:alloc_pipe_info"

needs $CTX CONFIG_MEM_ALLOC_CONTEXT
! grep -q "$PIPES" "$(file "$CTX")" || skip_all "the lines of alloc_pipe_info() are in use"
trap 'echo "func alloc_pipe_info disable" 2> /dev/null > "$(file $CTX)"; rm -rf "$WORK"' EXIT

# the chosen call sites, without the memory that they hold
state()
{
	grep -o '[^ ]* module:[^ ]* func:[^ ]*' "$(file "$CTX")"
}

needs_profiling()
{
	[ "$(cat /proc/sys/vm/mem_profiling)" = 1 ] || skip "vm.mem_profiling is not 1"
}

test_modes()
{
	mode $CTX 600
	mode ${CTX}_mem 400
	grep -qE '^[0-9]+ of [0-9]+ bytes$' "$(file "${CTX}_mem")" ||
		fail "${CTX}_mem: $(cat "$(file "${CTX}_mem")")"
}

test_bad_commands()
{
	refuses_queries $CTX
	refuses $CTX "enable func alloc_pipe_info"
	refuses $CTX "class memory enable"
}

test_no_such_line()
{
	needs_profiling
	refuses $CTX "func no_such_function_at_all enable" "No such file"
}

# The file must show an open pipe with the call that created it, until the pipe is closed.
test_enable_and_disable()
{
	needs_profiling
	write $CTX "func alloc_pipe_info enable"
	mkfifo "$WORK/fifo"
	exec 3<> "$WORK/fifo"
	cat "$(file "$CTX")" > "$WORK/open"
	exec 3>&-
	cat "$(file "$CTX")" > "$WORK/closed"
	write $CTX "func alloc_pipe_info disable"
	row="^ *[0-9.]+[KMG]?i?B +[0-9]+ fs/pipe\.c:[0-9]+ module:pipe $PIPES\$"
	grep -qE "$row" "$WORK/open" ||
		fail "no row of it: $(grep func: "$WORK/open" | head -1)"
	grep -qE '^    count: [1-9][0-9]*$' "$WORK/open" || fail "nothing is counted"
	grep -qE '^    bytes: [1-9][0-9]*$' "$WORK/open" || fail "no bytes"
	grep -q '^ *fifo_open+0x' "$WORK/open" || fail "not by fifo_open()"
	! grep -q '^ *fifo_open+0x' "$WORK/closed" || fail "still there once it is closed"
	! grep -q "$PIPES" "$(file "$CTX")" || fail "still there once it is disabled"
}

# Memory from before the command is not shown, and no other call site is enabled.
test_only_what_is_chosen()
{
	needs_profiling
	mkfifo "$WORK/older"
	exec 3<> "$WORK/older"
	write $CTX "file fs/pipe.c func alloc_pipe_info enable"
	! grep -q 'fifo_open+0x' "$(file "$CTX")" || fail "older memory is shown"
	[ "$(grep -c ' func:' "$(file "$CTX")")" = "$(grep -c "$PIPES" "$(file "$CTX")")" ] ||
		skip "others have chosen lines, too"
	exec 3>&-
	write $CTX "func alloc_pipe_info disable"
}

run_cases
