#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# kmemtraced against a directory of files and pipes in place of debugfs: all but
# what only a kernel can do, which are relay, CPUs that go, and losses.

# shellcheck source=test-lib.sh
. "$(dirname "$0")/test-lib.sh"

fake=$tmp/fake
out=$tmp/trace
gen source --cpus 3 --events 20000 --lost

kernel() {
	rm -rf "$fake"
	mkdir "$fake"
	echo 2 >"$fake/abi_version"
	echo "${1:-0}" >"$fake/enabled"
	echo '[time] pid [tag]' >"$fake/features"
	echo 64 >"$fake/subbufs"
	printf '%s\n' '# cpu written bytes lost bytes untold bytes' '0 9 1000 0 0 0 0' \
		'2 5 500 3 144 1 48' >"$fake/stats"
	printf '12 mm/foo.c:3 func:foo\n' >"$fake/tags"
	echo 0 >"$fake/total_overruns"
}

files() {
	cp "$tmp/source/cpu0.out" "$fake/cpu0"
	cp "$tmp/source/cpu1.out" "$fake/cpu1"
	cp "$tmp/source/cpu2.out" "$fake/cpu9999"
}

run() {
	expect "$1" "$2" "$bin/kmemtraced" --debugfs "$fake" --output "$out" "${@:3}"
}

header() {
	if grep -qx -- "$2" "$out/header"; then
		pass
	else
		head -n 20 "$out/header" >"$tmp/out"
		fail "$1: not in the header: $2"
	fi
}

recorded() {
	same "$1: cpu0" "$tmp/source/cpu0.out" "$out/cpu0.out"
	same "$1: cpu1" "$tmp/source/cpu1.out" "$out/cpu1.out"
	same "$1: cpu9999" "$tmp/source/cpu2.out" "$out/cpu9999.out"
}

enabled() {
	if [ "$(cat "$fake/enabled")" = "$2" ]; then
		pass
	else
		fail "$1: enabled is $(cat "$fake/enabled")"
	fi
}

features() {
	local now
	now=$(tr -s ' ' <"$fake/features" | sed 's/^ //; s/ $//')
	if [ "$now" = "$1" ]; then pass; else fail "features: $now"; fi
}

# --- what cannot begin

run "no debugfs" 1
says "no debugfs" 'is debugfs mounted'
run "unknown option" 1 --what
run "a word too many" 1 what
run "no time" 1 --seconds x
run "help" 0 --help
says "help" 'Exit status'
run "version" 0 --version
if [ -e "$out" ]; then fail "left behind: $out"; else pass; fi

# --- a recording of our own

kernel 0
files
run "record" 0 --seconds 0.5
says "record" 'events recorded'
recorded "record"
enabled "record" 0
header "record" 'complete yes'
header "record" 'span whole'
header "record" 'cpus 0 1 9999'
header "record" 'features time tag'
header "record" 'lost 2 0 0'
header "record" 'earlier 2 1 48'
header "record" '12 mm/foo.c:3 func:foo'
header "record" 'abi_version 2'
header "record" "release $(uname -r)"
header "record" 'end'
if [ -e "$out/header.tmp" ]; then fail "header.tmp is left"; else pass; fi
expect "record: check" 0 "$bin/kmemtrace_check" "$out/cpu0.out" "$out/cpu1.out"

# --- an existing trace

run "not over a trace" 1 --seconds 0.1
says "not over a trace" '--force overwrites it'
recorded "not over a trace"
touch "$out/mine" "$out/cpu7.out" "$out/header.tmp"
run "over a trace" 0 --seconds 0.5 --force --quiet
if [ -s "$tmp/out" ]; then fail "quiet"; else pass; fi
recorded "over a trace"
if [ -e "$out/mine" ] && [ ! -e "$out/cpu7.out" ]; then pass; else fail "only what is ours"; fi

# --- features

kernel 0
files
run "features" 0 --seconds 0.1 --force --features time,pid
features 'time pid'
kernel 0
run "all features" 0 --seconds 0.1 --force --features all
features 'time pid tag'
kernel 1
run "features, but it is on" 1 --seconds 0.1 --force --features time
says "features, but it is on" 'too late for --features'
enabled "features, but it is on" 1

# --- a recording that was on already

kernel 1
files
run "joined" 2 --seconds 0.5 --force
says "joined" 'recording is on already'
says "joined" 'left on'
recorded "joined"
enabled "joined" 1
header "joined" 'span part'
# All that was ever written was read, so what was ever lost counts.
header "joined" 'lost 2 3 144'
kernel 1
files
printf '0 9 1000000000 7 700 0 0\n' >"$fake/stats"
run "joined late" 0 --seconds 0.5 --force
header "joined late" 'lost 0 0 0'
kernel 1
files
run "joined and stopped" 2 --seconds 0.5 --force --stop
enabled "joined and stopped" 0
header "joined and stopped" 'span whole'

# --- a newer kernel, one that lacks things

kernel 0
files
echo 3 >"$fake/abi_version"
run "newer ABI" 0 --seconds 0.1 --force
says "newer ABI" 'version 3 of the ABI, newer than 2'
header "newer ABI" 'abi_version 3'
rm "$fake/stats" "$fake/tags" "$fake/subbufs" "$fake/features"
run "bare kernel" 0 --seconds 0.2 --force
recorded "bare kernel"

# --- signals, and two at a time

# in the background, until it has made its files
begin() {
	local tries
	"$bin/kmemtraced" --debugfs "$fake" --output "$out" --force 2>"$tmp/err" &
	daemon=$!
	jobs_left=("$daemon")
	for ((tries = 0; tries < 100; tries++)); do
		[ "$(cat "$fake/enabled")" = 1 ] && [ -e "$out/cpu0.out" ] && return
		sleep 0.1
	done
	fail "it does not begin"
}

# ended WHAT STATUS
ended() {
	local status=0
	wait "$daemon" || status=$?
	jobs_left=()
	cp "$tmp/err" "$tmp/out"
	if [ "$status" -eq "$2" ]; then pass; else fail "$1: exit status $status"; fi
}

# who is run by nohup has SIGHUP ignored, and so have all below it
signals="INT TERM HUP"
ignored=$((16#$(awk '$1 == "SigIgn:" { print $2 }' /proc/self/status)))
[ $((ignored & 1)) = 0 ] || signals="INT TERM"
for signal in $signals; do
	kernel 0
	files
	begin
	if [ "$signal" = INT ]; then
		expect "a second one" 1 "$bin/kmemtraced" --debugfs "$fake" --output "$tmp/other"
		says "a second one" 'another kmemtraced is running'
	fi
	sleep 0.3
	kill -"$signal" "$daemon"
	ended "SIG$signal" 0
	recorded "SIG$signal"
	enabled "SIG$signal" 0
	header "SIG$signal" 'complete yes'
done

kernel 0
files
rm -rf "$out"
begin
header "while it runs" 'complete no'
kill -KILL "$daemon"
wait "$daemon" 2>/dev/null
expect "killed" 0 "$bin/kmemtrace_check" "$out/cpu0.out"

# --- a CPU that comes while it records; one that is away is read at the end

kernel 0
cp "$tmp/source/cpu0.out" "$fake/cpu0"
begin
cp "$tmp/source/cpu1.out" "$fake/cpu1"
cp "$tmp/source/cpu2.out" "$fake/.new" && mv "$fake/.new" "$fake/cpu9999"
sleep 2.5
kill -TERM "$daemon"
ended "late CPUs" 0
says "late CPUs" 'CPU 9999 is offline'
recorded "late CPUs"
header "late CPUs" 'cpus 0 1 9999'

# --- pipes: data that comes bit by bit, and a reader that waits

kernel 1
mkfifo "$fake/cpu0"
begin
exec 3>"$fake/cpu0"
split -b 1000 "$tmp/source/cpu0.out" "$tmp/part."
for part in "$tmp"/part.*; do
	cat "$part" >&3
done
exec 3>&-
sleep 0.5
kill -TERM "$daemon"
ended "pipe" 2
same "pipe" "$tmp/source/cpu0.out" "$out/cpu0.out"

# --- nobody listens

kernel 0
files
expect "closed stderr" 0 bash -c '"$@" 2>&-' - "$bin/kmemtraced" --debugfs "$fake" --output "$out" \
	--force --seconds 0.3
recorded "closed stderr"
expect "broken pipe" 0 bash -c 'set -o pipefail; "$@" 2>&1 >/dev/null | true' - "$bin/kmemtraced" \
	--debugfs "$fake" --output "$out" --force --seconds 1.5 --progress
recorded "broken pipe"
run "progress" 0 --force --seconds 2.5 --progress
says "progress" '2 s: 0 events/s'

# --- the disk is full, which a limit on the size of files is a stand-in for

kernel 0
for ((copies = 0; copies < 60; copies++)); do
	cat "$tmp/source/cpu0.out"
done >"$fake/cpu0"
cp "$tmp/source/cpu1.out" "$fake/cpu1"
echo 1024 >"$fake/subbufs"
limit=$(($(stat -c %s "$out/header") / 1024 + 1000))
if [ "$((limit * 1024))" -lt "$(stat -c %s "$fake/cpu0")" ]; then
	expect "full disk" 3 prlimit --fsize=$((limit * 1024)) \
		"$bin/kmemtraced" --debugfs "$fake" --output "$out" --force --seconds 30
	says "full disk" 'cpu0.out: File too large'
	says "full disk" 'the rest is dropped'
	enabled "full disk" 0
	header "full disk" 'complete no'
	header "full disk" 'lost 2 0 0'
	size=$(stat -c %s "$out/cpu0.out")
	if [ "$size" -gt $((limit * 1024 - 100)) ]; then pass; else fail "only $size bytes kept"; fi
	head -c "$size" "$fake/cpu0" >"$tmp/begin"
	same "full disk" "$tmp/begin" "$out/cpu0.out"
	"$bin/kmemtrace_check" "$out/cpu0.out" >"$tmp/out"
	not_says "full disk: whole records" 'cut short'
else
	echo "skipped: the header of this machine is too large for a small limit"
fi
expect "full from the beginning" 3 prlimit --fsize=8192 \
	"$bin/kmemtraced" --debugfs "$fake" --output "$out" --force --seconds 30
enabled "full from the beginning" 0
if [ -e "$out/header" ]; then fail "half a header is left"; else pass; fi

finish
