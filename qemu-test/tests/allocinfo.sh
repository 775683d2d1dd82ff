# SPDX-License-Identifier: GPL-2.0-only
#
# alloctop and allocinfo in a guest: their sums are those of /proc/allocinfo, text and records
# agree, memory adds up, growth is found by name.  On mainline, too.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=0
# programs: allocinfo alloctop script
# disk: 64M
# memory: 768M
# timeout: 240

. /qt/lib.sh

MODE=$(sed -n 's/.*mem_profiling=\([a-z01]*\).*/\1/p' /proc/cmdline)

only_in()
{
	[ "$MODE" = "$1" ] || skip "vm.mem_profiling is $MODE"
}

test_off_is_explained()
{
	only_in 0
	explains 2 "sysctl vm.mem_profiling=1" alloctop -1
	explains 2 "sysctl vm.mem_profiling=1" allocinfo check
	grep -q "^profiling *off" /tmp/out || fail "$(cat /tmp/out)"
}

# The sums of a copy, by the program and by awk
test_sums_are_those_of_the_file()
{
	only_in 1
	cp $INFO /tmp/copy
	want=$(awk 'NR > 2 { b += $1; c += $2; n++ } END { printf "%.0f %.0f %d\n", b, c, n }' /tmp/copy)
	allocinfo report --format csv --by site -n 0 /tmp/copy > /tmp/csv
	head -n 1 /tmp/csv
	got=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		{ b += $at["bytes"]; c += $at["calls"]; n += $at["sites"] }
		END { printf "%.0f %.0f %d\n", b, c, n }' /tmp/csv)
	eq sums "$got" "$want"
	for by in func file dir module; do
		allocinfo report --format csv --by $by -n 0 /tmp/copy |
			awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
				{ b += $at["bytes"]; c += $at["calls"]; n += $at["sites"] }
				END { printf "%.0f %.0f %d\n", b, c, n }' > /tmp/sums
		eq "sums by $by" "$(cat /tmp/sums)" "$want"
	done
}

test_text_and_records_agree()
{
	only_in 1
	allocinfo check > /tmp/check || fail "exit code $?"
	sed 's/^/# /' /tmp/check
	if grep -q "this kernel has no records" /tmp/check && grep -q "^Linux version 6\.12\." /proc/version; then
		skip "mainline 6.12 has no ioctls"
	fi
	set -- $(sed -n 's/^text and records *the same at \([0-9]*\) of \([0-9]*\) .*/\1 \2/p' /tmp/check)
	# one that is freed and allocated again between the reads is not at rest
	[ "${2:-0}" -gt 1000 ] && [ "$1" -ge $(($2 - 3)) ] || fail "$(tail -n 1 /tmp/check)"
}

# What is on no line: a guest of 768 MiB has at most 3 % of its memory there.
test_memory_adds_up()
{
	only_in 1
	alloctop -1 -n 5 > /tmp/top || fail "exit code $?"
	sed 's/^/# /' /tmp/top
	alloctop --json -n 1 > /tmp/json
	none=$(sed -n 's/.*"on_no_line": *\(-*[0-9]*\).*/\1/p' /tmp/json | head -n 1)
	[ -n "$none" ] || fail "no on_no_line in $(cat /tmp/json)"
	[ "${none#-}" -lt $((768 << 20 >> 5)) ] || fail "$none bytes are on no line"
}

# 200 pipes are 200 objects more on the line of alloc_pipe_info, by each way to look.
test_growth_is_found()
{
	only_in 1
	need_disk
	allocinfo record -o /mnt/snaps -i 1 -n 1 || fail "record: $?"
	cp $INFO /tmp/before
	load pipes 200
	cp $INFO /tmp/after
	allocinfo record -o /mnt/snaps -i 1 -n 1 || fail "record again: $?"
	unload
	calls='NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next } $at["calls"] == 200 { print }'
	for pair in "/tmp/before /tmp/after" "/mnt/snaps@0 /mnt/snaps@1"; do
		# shellcheck disable=SC2086 # two words
		allocinfo diff --format csv $pair func alloc_pipe_info > /tmp/diff || fail "diff $pair: $?"
		[ -n "$(awk -F, "$calls" /tmp/diff)" ] || fail "$pair: $(cat /tmp/diff)"
	done
}

# A recording that is killed is read up to there.
test_killed_recording()
{
	only_in 1
	need_disk
	allocinfo record -o /mnt/killed -i 1 &
	pid=$!
	until [ "$(stat -c %s /mnt/killed 2> /dev/null || echo 0)" -gt 10000 ]; do usleep 100000; done
	sleep 2
	kill -9 $pid
	wait $pid 2> /dev/null
	size=$(stat -c %s /mnt/killed)
	head -c $((size - 10)) /mnt/killed > /mnt/cut
	allocinfo report --format csv /mnt/killed > /dev/null || fail "whole: $?"
	allocinfo report --format csv /mnt/cut > /tmp/csv 2> /tmp/err
	eq "exit code" $? 2
	grep -q "no whole snapshot" /tmp/err || fail "$(cat /tmp/err)"
	[ "$(wc -l < /tmp/csv)" -gt 100 ] || fail "$(wc -l < /tmp/csv) lines"
	allocinfo record -o /mnt/killed -i 1 -n 1 || fail "cannot continue it: $?"
}

# line_of FUNCTION: the line of its call site that holds most
line_of()
{
	awk -v name="func:$1" '$4 == name' $INFO | sort -rn | sed -n '1s/.*:\([0-9]*\) .*func.*/\1/p'
}

# mount_disk, unless an earlier case did
need_disk()
{
	grep -q " /mnt " /proc/mounts || mount_disk
}

captured()
{
	grep -c func:alloc_pipe_info /sys/kernel/debug/alloc_tags.ctx
}

# Who makes pipes?  Mainline has no contexts.
test_why()
{
	only_in 1
	if [ ! -e /sys/kernel/debug/alloc_tags.ctx ]; then
		explains 1 CONFIG_MEM_ALLOC_CONTEXT allocinfo why --for 1 func alloc_pipe_info line "$(line_of alloc_pipe_info)"
		return
	fi
	(sleep 2; exec /qt/bin/load pipes 100 /tmp/.pipes) &
	allocinfo why --for 5 func alloc_pipe_info line "$(line_of alloc_pipe_info)" > /tmp/why || fail "exit code $?: $(cat /tmp/why)"
	kill $!
	sed 's/^/# /' /tmp/why | head -n 30
	grep -q do_pipe2 /tmp/why || fail "$(cat /tmp/why)"
	eq "captured afterwards" "$(captured)" 0
}

# see TEXT: the terminal shows it
see()
{
	until_true 30 grep -q -- "$1" /tmp/screen 2> /dev/null ||
		fail "no \"$1\" in $(tr -cd ' -~' < /tmp/screen | tail -c 1000)"
}

captured_are()
{
	[ "$(captured)" = "$1" ]
}

# The screen in a terminal: a filter, the window of the callers, which captures as long as it is
# open, and the end.
test_live_in_a_terminal()
{
	only_in 1
	mkfifo /tmp/keys
	TERM=vt100 script -qefc "stty rows 24 cols 80; alloctop -d 1" /tmp/screen \
		< /tmp/keys > /dev/null &
	screen=$!
	exec 3> /tmp/keys
	see MemTotal
	printf 'ffunc alloc_pipe_info\r' >&3
	# of the row, with the spaces around it
	see " alloc_pipe_info"
	: > /tmp/screen
	printf '\r' >&3
	if [ -e /sys/kernel/debug/alloc_tags.ctx ]; then
		see "Callers"
		eq "captured in the window" "$(captured)" 1
		printf 'q' >&3
		until_true 30 captured_are 0 || fail "still captured after the window"
	else
		see CONFIG_MEM_ALLOC_CONTEXT
		printf ' ' >&3
	fi
	printf 'q' >&3
	wait $screen
	eq "exit code" $? 0
	exec 3>&-
}

# Two programs capture one call site: it stays enabled until the second one ends.  One that a
# person enabled stays enabled.
test_why_twice()
{
	only_in 1
	[ -e /sys/kernel/debug/alloc_tags.ctx ] || skip "mainline has no contexts"
	site="func alloc_pipe_info line $(line_of alloc_pipe_info)"
	# shellcheck disable=SC2086 # several words
	allocinfo why --for 2 $site > /tmp/why1 &
	first=$!
	# shellcheck disable=SC2086
	(sleep 1; exec allocinfo why --for 4 $site > /tmp/why2) &
	wait $first
	eq "exit code of the first" $? 0
	eq "captured after the first" "$(captured)" 1
	wait
	eq "captured after the second" "$(captured)" 0
	! grep "stays so" /tmp/why1 /tmp/why2 || fail "not shared"
	echo "$site enable" > /sys/kernel/debug/alloc_tags.ctx
	# shellcheck disable=SC2086
	allocinfo why --for 1 $site 2> /tmp/err > /dev/null
	grep -q "stays so" /tmp/err || fail "$(cat /tmp/err)"
	eq "captured after a person enabled it" "$(captured)" 1
	echo "$site disable" > /sys/kernel/debug/alloc_tags.ctx
}

run_tests
