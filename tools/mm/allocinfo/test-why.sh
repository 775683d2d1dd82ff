#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-why.sh [DIR]: test `allocinfo why` and the parser of contexts, with a file in place
# of the kernel's.

# shellcheck source=tools/mm/allocinfo/test-lib.sh
. "$(dirname "$0")/test-lib.sh"

why=("$bin/allocinfo" why --proc "$tmp/proc")

make_proc "$tmp/proc" <<'END'
4096 1 mm/builtin.c:10 func:one
4096 1 mm/builtin.c:20 func:two
940000 230 net/leak.c:33 [net] func:leak_alloc
8192 2 net/leak.c:40 [net] func:other_alloc
4096 1 net/twice.c:7 func:twice
4096 1 net/twice.c:7 func:twice
END

# fake ARG...: start the other side of alloc_tags.ctx
fake() {
	rm -f "$tmp/proc/alloc_tags.ctx" "$tmp/log" "$tmp/end"
	mkfifo "$tmp/end"
	"$here/fake-contexts.py" "$tmp/proc/alloc_tags.ctx" "$tmp/log" "$@" <"$tmp/end" &
	fake_pid=$!
	jobs_left+=("$fake_pid")
	exec 7>"$tmp/end"
	wait_until [ -e "$tmp/log" ]
}

fake_end() {
	sleep 0.3
	echo >&7
	exec 7>&-
	wait "$fake_pid"
}

# commands_are WHAT WANT: the commands that the program wrote, one in each line
commands_are() {
	is "$1" "$(cat "$tmp/log")" "$2"
}

on='file "net/leak.c" line 33 func "leak_alloc" module "net" enable'
off=${on/%enable/disable}

# --- what cannot be captured

expect "no contexts" 1 "${why[@]}" net/leak.c:33
says "no contexts" "CONFIG_MEM_ALLOC_CONTEXT, which mainline does not have"
expect "no call site" 1 "${why[@]}" nobody
says "no call site" "no such call site"
expect "several" 1 "${why[@]}" file leak.c
says "several" "2 call sites match"
says "several" "net/leak.c:40 [net] func:other_alloc"
expect "several, built in" 1 "${why[@]}" file builtin.c
says "several, built in" "2 call sites match"
expect "a filter in one word" 1 "${why[@]}" "file leak.c line 40"
says "a filter in one word" "CONFIG_MEM_ALLOC_CONTEXT"
expect "two allocations in a line are one" 1 "${why[@]}" twice
says "two allocations in a line are one" "CONFIG_MEM_ALLOC_CONTEXT"
expect "no site given" 64 "${why[@]}"
expect "words that are no filter" 64 "${why[@]}" a b
expect "a wrong query" 64 "${why[@]}" line x
expect "a wrong time" 64 "${why[@]}" --for x leak_alloc
expect "help" 0 "${why[@]}" --help
expect "an output that exists" 3 "${why[@]}" -o "$tmp/proc/meminfo" leak_alloc

# --- what can

fake
expect "text" 0 "${why[@]}" --for 24 leak.c:33
says "text" "net/leak.c:33 [net] func:leak_alloc"
says "text" "2 call stacks"
callers=$(sed -n 's/+0x.*//; s/^        //; /_caller/p' "$tmp/out" | tr '\n' ' ')
is "what grows comes first" "$callers" "bad_caller steady_caller "
says "text" "grows by"
says "text" "by quiet (70)"
says "a name with a newline is the beginning of it" "by x (70)"
fake_end
commands_are "enabled and disabled" "$on
$off"

fake
expect "JSON" 0 "${why[@]}" --for 3 --format json -o "$tmp/why.json" leak_alloc
fake_end
expect "JSON is JSON" 0 python3 - "$tmp/why.json" <<'END'
import json, os, sys
got = json.load(open(sys.argv[1]))
assert (got["file"], got["line"], got["module"], got["func"]) == \
    ("net/leak.c", 33, "net", "leak_alloc"), got
assert got["dropped"] == 0 and got["held_calls"] == 230, got
stacks = {s["frames"][1].split("+")[0]: s for s in got["stacks"]}
assert set(stacks) == {"bad_caller", "steady_caller"}, stacks
assert stacks["steady_caller"]["tasks"] == [{"comm": "quiet", "tgid": 70, "calls": 1}]
assert not stacks["bad_caller"]["grows"] and stacks["bad_caller"]["reason"] == "too few snapshots"
assert stacks["bad_caller"]["bytes"] == 4096 * stacks["bad_caller"]["calls"]
assert os.stat(sys.argv[1]).st_mode & 0o777 == 0o600
END

fake --dropped 5
expect "dropped" 2 "${why[@]}" --for 1 leak_alloc
says "dropped" "did not capture 5 allocations"
fake_end

fake --busy
sleep 0.3
expect "captured by somebody else" 0 "${why[@]}" --for 1 leak_alloc
says "captured by somebody else" "captured before, and stays so"
fake_end
commands_are "and not disabled" ""

# sharers: number of programs that hold the lock of a call site
sharers() {
	grep -c "OFDLCK.*READ.*:$(stat -c %i "$tmp/proc/alloc_tags.ctx") " /proc/locks
}

has_sharers() {
	[ "$(sharers)" = "$1" ]
}

has_opened() {
	find "/proc/$1/fd" -lname "$tmp/proc/alloc_tags.ctx" 2>/dev/null | grep -q .
}

# start NAME [SHARERS]: capture in the background until SIGINT; wait until so many programs
# share the capture, or for the one that shares none
start() {
	"${why[@]}" --for 60 leak_alloc >"$tmp/$1.out" 2>&1 &
	pids[$1]=$!
	jobs_left+=($!)
	if [ $# = 2 ]; then wait_until has_sharers "$2"; else wait_until has_opened $!; fi
	sleep 0.5
}

# stop NAME: end it; its output goes to $tmp/out
stop() {
	kill -INT "${pids[$1]}"
	wait "${pids[$1]}"
	is "$1: exit code" $? 0
	cp "$tmp/$1.out" "$tmp/out"
}

# Two programs capture the same call site: the last one to end disables it.
declare -A pids
for last in first second; do
	fake
	start first 1
	start second 2
	if [ "$last" = second ]; then stop first; else stop second; fi
	sleep 0.7
	commands_are "$last is the last one: still enabled" "$on"
	stop "$last"
	says "$last is the last one: its result" "2 call stacks in"
	not_says "$last is the last one: its result" "stays so"
	fake_end
	commands_are "$last is the last one: disabled" "$on
$off"
done

fake
start first 1
start second 2
kill -KILL "${pids[first]}"
wait "${pids[first]}" 2>/dev/null
is "after the first was killed" "$(sharers)" 1
stop second
fake_end
commands_are "the first is killed, the second disables it" "$on
$off"

fake
for i in 1 2 3 4; do
	"${why[@]}" --for 1 leak_alloc >"$tmp/at_once.$i" 2>&1 &
	pids[$i]=$!
done
for i in 1 2 3 4; do
	wait "${pids[$i]}"
	is "four at once, $i" $? 0
done
fake_end
is "four at once: the last command" "$(tail -n 1 "$tmp/log")" "$off"

fake --busy
sleep 0.3
start first
start second
is "a person enabled it: programs that share it" "$(sharers)" 0
stop second
says "a person enabled it: second" "captured before, and stays so"
stop first
says "a person enabled it: first" "captured before, and stays so"
fake_end
commands_are "a person enabled it: not disabled" ""

# A signal ends it with the result so far, and nothing stays enabled.
for signal in INT TERM HUP; do
	fake
	"${why[@]}" --for 60 leak_alloc >"$tmp/out" 2>&1 &
	pid=$!
	jobs_left+=("$pid")
	wait_until grep -q enable "$tmp/log"
	sleep 0.5
	kill "-$signal" "$pid"
	wait "$pid"
	is "SIG$signal: exit code" $? 0
	says "SIG$signal: the result so far" "call stacks in"
	fake_end
	commands_are "SIG$signal: disabled" "$on
$off"
done

# --- the parser

cat >"$tmp/contexts" <<'END'
      920KiB      230 arch/x86/mm/pgtable.c:33 module:pgtable func:pte_alloc_one
    dropped for memory: 3
    count: 228
    bytes: 933888
    size: 4096
    pid: 1474
    tgid: 1474
    comm: bash
    ts: 175332940994
    call stack:
         pte_alloc_one+0xfe/0x130
         foo+0x22/0xb0 [ext4]
         0xffffffffc0123456
    count: 2
    bytes: 8192
    a key of the future: 7
    call stack:
         pte_alloc_one+0xfe/0x130
      0B        0 mm/slub.c:1799 module:slub func:alloc_slab_page
END
expect "cut at every byte, and every byte changed" 0 "$bin/cut-contexts" "$tmp/contexts"
says "cut at every byte, and every byte changed" "2 call sites, 2 stacks"

finish
