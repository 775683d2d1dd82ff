#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# test-leak.sh [DIR]: test `allocinfo leak` with labelled data and with small files.

# shellcheck source=tools/mm/allocinfo/test-lib.sh
. "$(dirname "$0")/test-lib.sh"

leak=("$bin/allocinfo" leak)

# series PYTHON [N [START]]: print N snapshots, one a minute from the second START on. PYTHON
# has lines "BYTES CALLS PLACE" as a list `rows`, from the number `i` of the snapshot.
series() {
	python3 - "$1" "${2:-100}" "${3:-1000000}" <<'END'
import sys
for i in range(int(sys.argv[2])):
    scope = {"i": i}
    exec(sys.argv[1], scope)
    print(f"# time {int(sys.argv[3]) + 60 * i}")
    print("MemTotal: 100000 kB\nMemAvailable: 60000 kB")
    print("allocinfo - version: 2.0\n#     <size>  <calls> <tag info>")
    for row in scope["rows"]:
        print("%12s %8s %s" % tuple(row.split(" ", 2)))
END
}

# A leak of 1 KiB a minute, and what is no leak: constant, once, a cache that is emptied, a
# growth that stops, one call whose memory grows, the pages of the slabs with the leak,
# a module that is loaded late.
rows='rows = [f"{100000 + 1024 * i} {100 + i} mm/leak.c:1 func:leak_alloc",
    "4096 1 mm/constant.c:1 func:c", f"{4096 + 90000 * (i > 30)} {1 + (i > 30)} mm/once.c:1 func:o",
    f"{5000 * (i % 40)} {i % 40} mm/cache.c:1 func:f", f"{900 * min(i, 60)} {min(i, 60)} mm/stops.c:1 func:s",
    f"{5000 + 1000 * i} 1 mm/grown.c:1 func:g",
    f"{4096 * (50 + i // 4)} {50 + i // 4} mm/slub.c:1799 func:alloc_slab_page"] + ["70000 9 drivers/m.c:3 [m] func:m"] * (i > 50)'

# --- what is found

series "$rows" >"$tmp/one"
expect "one leak" 1 "${leak[@]}" "$tmp/one"
says "one leak" "1 of 8 call sites leak"
says "one leak" "60.0K bytes an hour (60.0K to 60.0K), 60.0 calls an hour: mm/leak.c:1 func:leak_alloc"
says "one leak" "or before, holds"
says "one leak" "alone it ends the memory in 42 days"
expect "why the others do not count" 1 "${leak[@]}" -a "$tmp/one"
says "why the others do not count" "mm/once.c:1 func:o: rose in a few steps only"
says "why the others do not count" "mm/stops.c:1 func:s: stopped rising"
says "why the others do not count" "mm/grown.c:1 func:g: gave back"
says "why the others do not count" "func:alloc_slab_page: holds the objects of call sites that leak"

# counters of profiling: at most one for each call site
counters='rows = [f"{640 * (COUNT + i)} {COUNT + i} lib/lazy-percpu-counter.c:82 func:give_parts"] + [
    f"64 1 mm/constant.c:{n} func:c" for n in range(200)]'
series "${counters//COUNT/5}" >"$tmp/counters"
expect "counters of profiling do not leak" 0 "${leak[@]}" -a "$tmp/counters"
says "counters of profiling do not leak" "func:give_parts: holds counters of profiling, at most one for each call site"
series "${counters//COUNT/150}" >"$tmp/counters"
expect "more counters than call sites" 1 "${leak[@]}" "$tmp/counters"

expect "slabs that get emptier" 1 "${leak[@]}" "$tmp/one" func alloc_slab_page
says "slabs that get emptier" "1 of 1 call sites leak"
expect "standard input" 1 "${leak[@]}" - <"$tmp/one"
expect "no leak among those that match" 0 "${leak[@]}" "$tmp/one" func c
says "no leak among those that match" "0 of 1 call sites leak"

expect "JSON" 1 "${leak[@]}" --format json -a -o "$tmp/one.json" "$tmp/one"
expect "JSON is JSON" 0 python3 - "$tmp/one.json" <<'END'
import json, sys
got = json.load(open(sys.argv[1]))
assert got["found"] == 1 and got["sites"] == 8 and got["snapshots"] == 100, got
leak, = got["leaks"]
assert (leak["file"], leak["line"], leak["module"]) == ("mm/leak.c", 1, None), leak
assert abs(leak["bytes"]["an_hour"] - 61440) < 1 and abs(leak["calls"]["an_hour"] - 60) < .01
assert leak["since_or_before"] and leak["held_calls"] == 199, leak
assert abs(leak["memory_ends_in"] - 60000 * 1024 / (1024 / 60)) < 1, leak
assert all(other["verdict"] != "leaks" for other in got["others"]) and len(got["others"]) >= 3
END

# Leaks that are not printed are not among the others.
series 'rows = [f"{100000 + 1024 * n * i} {100 + n * i} mm/leak.c:{n} func:l" for n in (1, 2, 3)] + [
    f"{4096 + 90000 * (i > 30)} {1 + (i > 30)} mm/once.c:1 func:o"]' >"$tmp/three"
for top in 1 2 3 0; do
	expect "$top of three leaks" 1 "${leak[@]}" --format json -n $top --all -f -o "$tmp/three.json" "$tmp/three"
	expect "$top of three leaks: the others" 0 python3 - "$tmp/three.json" $top <<'END'
import json, sys
got = json.load(open(sys.argv[1]))
assert got["found"] == 3 and [leak["line"] for leak in got["leaks"]] == [3, 2, 1][:int(sys.argv[2]) or 3], got
assert [other["file"] for other in got["others"]] == ["mm/once.c"], got["others"]
END
done

# A leak that begins in the middle.
series 'rows = [f"{100000 + 512 * max(0, i - 80)} {50 + max(0, i - 80)} mm/late.c:5 func:l"]' 200 \
	>"$tmp/late"
expect "since when" 1 "${leak[@]}" --format json -o "$tmp/late.json" "$tmp/late"
expect "since when: at the right minute" 0 python3 - "$tmp/late.json" <<'END'
import json, sys
leak, = json.load(open(sys.argv[1]))["leaks"]
assert abs(leak["since"] - (1000000 + 60 * 80)) <= 240 and not leak["since_or_before"], leak
END
expect "--until: before it leaks" 0 "${leak[@]}" --until 80m "$tmp/late"
expect "--last: less than half of the time" 1 "${leak[@]}" --last 1h "$tmp/late"
says "--last: less than half of the time" "in 61 snapshots"

# --- a reboot in the middle

# boots PYTHON NR...: a recording with that many snapshots of each boot; `boot` counts the
# boots from 0, and `i` the snapshots of each
boots() {
	local boot=0 nr
	for nr in "${@:2}"; do
		echo "# boot number-$boot"
		series "boot = $boot; $1" "$nr" $((1000000 + 60000 * boot))
		boot=$((boot + 1))
	done | "$here/make-recording.py" "$tmp/boots"
}

# What leaked before the reboot, and what holds more after it, is no leak.
boots 'rows = [f"{50000 + 4096 * i * (not boot)} {50 + i * (not boot)} mm/before.c:1 func:before",
	f"{4096 + 900000 * boot} {1 + boot} mm/more.c:1 func:more"]' 60 60
expect "a reboot is no leak" 0 "${leak[@]}" "$tmp/boots"
says "a reboot is no leak" "booted after 60 snapshots, which are left out"
says "a reboot is no leak" "0 of 2 call sites leak"
expect "the boot before" 1 "${leak[@]}" --until 59m "$tmp/boots"
says "the boot before" "mm/before.c:1 func:before"
not_says "the boot before" "left out"

# A leak goes on in each boot, from the beginning: its rate is that of the last boot.
boots 'rows = [f"{4096 + (1024 if boot == 2 else 5000) * i} {1 + i} mm/goes_on.c:1 func:goes_on"]' 90 90 90
expect "a reboot hides no leak" 1 "${leak[@]}" --format json "$tmp/boots"
sed -n '/^{/,$p' "$tmp/out" >"$tmp/boots.json"
expect "a reboot hides no leak: rate and time" 0 python3 - "$tmp/boots.json" <<'END'
import json, sys
got = json.load(open(sys.argv[1]))
leak, = got["leaks"]
assert got["snapshots"] == 90 and abs(leak["bytes"]["an_hour"] - 61440) < 1, got
assert leak["since"] >= 1120000 and leak["held_calls"] == 90, leak
END
expect "a reboot hides no leak: the first boot" 1 "${leak[@]}" --until 89m "$tmp/boots"
says "a reboot hides no leak: the first boot" "293.0K bytes an hour"

# The last boot is too short to judge.
boots 'rows = [f"{4096 + 1024 * i} {1 + i} mm/short.c:1 func:short"]' 60 10
expect "a boot that is too short" 4 "${leak[@]}" "$tmp/boots"
says "a boot that is too short" "at least 20 are needed"

# --- the calls go up and down, because the call site also makes many short-lived allocations

series 'calls = 100 + 16 * i + 37 * i % 500
rows = [f"{100000 + 65536 * i + 8 * (37 * i % 500)} {calls} mm/noise.c:1 func:noise"]' 180 >"$tmp/noise"
expect "noisy calls" 1 "${leak[@]}" --format json -f -o "$tmp/noise.json" "$tmp/noise"
expect "noisy calls: rate" 0 python3 - "$tmp/noise.json" <<'END'
import json, sys
leak, = json.load(open(sys.argv[1]))["leaks"]
calls = leak["calls"]
assert 700 < calls["an_hour"] < 1300, calls
assert calls["an_hour_low"] <= calls["an_hour"] <= calls["an_hour_high"], calls
END

# --- leaking objects are counted once, although the slab pages that contain them leak, too

series 'rows = [f"{1000000 + 1024 * i} {1000 + i} mm/leak.c:1 func:l",
	f"{9000000 + 4096 * i} {2000 + i} mm/slub.c:9 func:alloc_slab_page"]' >"$tmp/slabs"
expect "objects and their pages" 1 "${leak[@]}" "$tmp/slabs"
says "objects and their pages" "2 of 2 call sites leak"
says "objects and their pages" "240.0K bytes an hour"
not_says "objects and their pages" "300.0K"

# --- somebody sets the clock

for step in 1000000 -900000; do
	series 'rows = [f"{100000 + 1024 * i} {100 + i} mm/steady.c:1 func:steady"]' |
		awk -v step=$step '/^# time/ && ++n == 11 { print "# clock " step } { print }' |
		"$here/make-recording.py" "$tmp/clock"
	expect "a step of the clock, $step s" 1 "${leak[@]}" --format json -f -o "$tmp/clock.json" "$tmp/clock"
	expect "a step of the clock, $step s: rate and time" 0 python3 - "$tmp/clock.json" <<'END'
import json, sys
got = json.load(open(sys.argv[1]))
leak, = got["leaks"]
assert got["snapshots"] == 100 and abs(leak["bytes"]["an_hour"] - 61440) < 1, got
END
	expect "--until, $step s" 4 "${leak[@]}" --until 10m "$tmp/clock"
	expect "--last, $step s" 1 "${leak[@]}" --last 30m "$tmp/clock"
	says "--last, $step s" "in 31 snapshots"
done

# The machine boots with an old clock.
for boot in 0 1; do
	echo "# boot number-$boot"
	[ $boot = 0 ] || echo "# clock -900000"
	series 'rows = [f"{100000 + 1024 * i} {100 + i} mm/steady.c:1 func:steady"]' 60 $((1000000 + 60000 * boot))
done | "$here/make-recording.py" "$tmp/old-clock"
expect "a boot with an old clock" 1 "${leak[@]}" "$tmp/old-clock"
says "a boot with an old clock" "in 60 snapshots"
expect "--last, a boot with an old clock" 1 "${leak[@]}" --last 30m "$tmp/old-clock"
says "--last, a boot with an old clock" "in 31 snapshots"

# --- exit codes

expect "nothing leaks" 0 "${leak[@]}" --until 80m "$tmp/one" func c
series "$rows" 19 >"$tmp/short"
expect "too few snapshots" 4 "${leak[@]}" "$tmp/short"
says "too few snapshots" "too few snapshots: at least 20 are needed"
series "$rows" 20 >"$tmp/short"
expect "just enough snapshots" 1 "${leak[@]}" "$tmp/short"
expect "no file" 4 "${leak[@]}" "$tmp/none"
expect "no snapshots" 4 "${leak[@]}" "$here/test-leak.sh"
expect "a file that cannot be read" 4 "${leak[@]}" "$tmp"
says "a file that cannot be read" 'Is a directory'
sed '60s/^ *[0-9]/x/' "$tmp/late" >"$tmp/damaged"
expect "no leak, but damage" 2 "${leak[@]}" --until 80m "$tmp/damaged"
expect "an output that exists" 3 "${leak[@]}" -o "$tmp/one" "$tmp/one"
expect "an output that is the input" 3 "${leak[@]}" -f -o "$tmp/one" "$tmp/one"
says "an output that is the input" "is an input file"
expect "a full disk" 3 "${leak[@]}" -f -o /dev/full "$tmp/one"
expect "neither file nor --live" 64 "${leak[@]}"
expect "a file with --live" 64 "${leak[@]}" --live 10m "$tmp/one"
expect "a wrong query" 64 "${leak[@]}" "$tmp/one" line x
expect "--interval without --live" 64 "${leak[@]}" -i 5 "$tmp/one"
expect "--interval too long" 64 "${leak[@]}" --live 60 -i 30
expect "help" 0 "${leak[@]}" --help
says "help" "1   at least one call site leaks"

# The last snapshot may be cut anywhere: it is left out.
size=$(stat -c %s "$tmp/one")
for cut in 1 50 100 300; do
	head -c "$((size - cut))" "$tmp/one" >"$tmp/cut"
	expect "cut by $cut" 1 "${leak[@]}" "$tmp/cut"
	says "cut by $cut" "1 of 8 call sites leak; 7 changed in 99 snapshots"
done

# Names that would confuse a terminal.
series "rows = [chr(27) + f'[31m{0}']; rows = [f'{9000 + 900 * i} {9 + i} mm/e' + chr(27) + '[1m.c:1 func:e']" \
	>"$tmp/escape"
expect "a name with an escape sequence" 1 "${leak[@]}" "$tmp/escape"
says "a name with an escape sequence" "mm/e?[1m.c:1"

# --- a machine

# in_place: replace what allocinfo shows, as the kernel does, without a new file and without
# a moment in which the file is empty
in_place() {
	table >"$tmp/new"
	dd if="$tmp/new" of="$tmp/proc/allocinfo" bs=64k conv=notrunc status=none
	truncate -s "$(stat -c %s "$tmp/new")" "$tmp/proc/allocinfo"
}

# machine SECONDS: a call site leaks, and a cache grows until the caches are dropped
machine() {
	local i
	mkdir -p "$tmp/proc/sys/vm"
	: >"$tmp/proc/sys/vm/drop_caches"
	for ((i = 0; i < 10 * $1; i++)); do
		[ -s "$tmp/proc/sys/vm/drop_caches" ] && break
		in_place <<-END
			$((5000 + 500 * i)) $((50 + i)) mm/leak.c:1 func:leak_alloc
			$((9000 + 900 * i)) $((90 + i)) fs/cache.c:1 func:cache_alloc
		END
		sleep 0.1
	done
	in_place <<-END
		$((5000 + 500 * i)) $((50 + i)) mm/leak.c:1 func:leak_alloc
		4500 45 fs/cache.c:1 func:cache_alloc
	END
}

# captured: the contexts of the call site that leaks
captured() {
	cat <<-'END'
		      500        1 mm/leak.c:1 module:leak func:leak_alloc
		    count: 1
		    bytes: 500
		    size: 500
		    pid: 71
		    tgid: 71
		    comm: kworker/1:2
		    ts: 1234
		    call stack:
		         leak_alloc+0x10/0x80
		         bad_caller+0x10/0x80
	END
}

# on_machine ARG...: watch the machine
on_machine() {
	rm -rf "$tmp/proc"
	make_proc "$tmp/proc" </dev/null
	captured >"$tmp/proc/alloc_tags.ctx"
	machine 60 &
	machine_pid=$!
	jobs_left+=("$machine_pid")
	wait_until grep -q leak_alloc "$tmp/proc/allocinfo"
	expect "$1" 1 "${leak[@]}" --proc "$tmp/proc" "${@:2}"
	kill "$machine_pid" 2>/dev/null
	wait "$machine_pid" 2>/dev/null
}

on_machine "live" --live 25
says "live" "mm/leak.c:1 func:leak_alloc"
says "live: a cache that only grows looks the same" "2 of 2 call sites leak"
on_machine "caches dropped" --live 25 --drop-caches
says "caches dropped" "mm/leak.c:1 func:leak_alloc"
says "the callers" "bad_caller"
says "the tasks" "by kworker/1:2 (71)"
says "caches dropped" "1 of 2 call sites leak"
"${leak[@]}" --proc "$tmp/proc" --live 1h -i 1 >"$tmp/out" 2>&1 &
pid=$!
sleep 5
kill -INT "$pid"
wait "$pid"
is "SIGINT: the result so far" $? 4
if grep -qE 'changed in ([2-9]|[1-9][0-9]) snapshots' "$tmp/out"; then pass; else fail "SIGINT: one snapshot"; fi

# --- labelled data

# bench-leak.py --expect fails with about one seed of a hundred, although nothing is broken:
# allocinfo.rst names two such seeds. It passes with these.
for seed in 1 ${TEST_ALL:+5 6 7}; do
	expect "labelled data, seed $seed" 0 "$here/bench-leak.py" --program "$bin/allocinfo" \
		--runs 1 --quiet-runs 1 --at 180 --seed "$seed" --expect
done
finish
