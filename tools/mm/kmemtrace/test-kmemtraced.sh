#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Test kmemtraced with a directory of files and pipes instead of debugfs. Only relay, CPUs
# that go offline, and losses need a kernel and are not tested here.

# The mounts of this script disappear with it, even if it is killed.
if [ -z "${OWN_MOUNTS:-}" ] && unshare --mount true 2>/dev/null; then
	OWN_MOUNTS=y exec unshare --mount "$0" "$@"
fi

# shellcheck source=test-lib.sh
. "$(dirname "$0")/test-lib.sh"

fake=$tmp/fake
out=$tmp/trace
gen source --cpus 3 --events 20000 --lost
# About 18 MB: many times the size of one write().
gen large --cpus 1 --events 300000
large=$tmp/large/cpu0.out

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

briefly=("$bin/kmemtraced" --debugfs "$fake" --seconds 0.3)

header() {
	if grep -qx -- "$2" "$out/header"; then
		pass
	else
		head -n 20 "$out/header" >"$tmp/out"
		fail "$1: not in the header: $2"
	fi
}

# section NAME: the section must begin with the first word of standard input
section() {
	local line want
	line=$(sed -n "/^section $1\$/{n;p}" "$out/header")
	read -r want || want='section kallsyms'
	if [ -n "$line" ] && [ "${line%% *}" = "${want%% *}" ]; then
		pass
	else
		echo "$line" >"$tmp/out"
		fail "section $1: does not begin with ${want%% *}"
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

# untouched DIR FILES: DIR must still contain just these files, and recording must be off
untouched() {
	local now
	now=$(cd "$1" && echo *)
	if [ "$now" = "$2" ]; then pass; else fail "$1 has $now"; fi
	enabled "$1" 0
}

features() {
	local now
	now=$(tr -s ' ' <"$fake/features" | sed 's/^ //; s/ $//')
	if [ "$now" = "$1" ]; then pass; else fail "features: $now"; fi
}

# --- recordings that cannot begin

run "no debugfs" 1
says "no debugfs" 'is debugfs mounted'
run "unknown option" 64 --what
run "a word too many" 64 what
run "no time" 64 --seconds x
for size in 0 -1 x 1kk '' 99999999999999999999; do
	run "no size: $size" 64 --max "$size"
done
run "help" 0 --help
says "help" 'Exit status'
run "version" 0 --version
for option in --help --version; do
	full "$option on a full disk" "$bin/kmemtraced" $option
	says "$option on a full disk" 'kmemtraced: cannot write: No space left'
done
if [ -e "$out" ]; then fail "left behind: $out"; else pass; fi

# --- a recording that kmemtraced begins and ends

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
header "record" "machine $(uname -m)"
header "record" "page_size $(getconf PAGESIZE)"
header "record" "word_bits $(getconf LONG_BIT)"
header "record" "byte_order $(python3 -c 'import sys; print(sys.byteorder)')"
header "record" 'clock monotonic'
header "record" 'begins 0'
section modules < <(cat /proc/modules 2>/dev/null)
section kallsyms </proc/kallsyms
header "record" 'end'
if [ -e "$out/header.tmp" ]; then fail "header.tmp is left"; else pass; fi
expect "record: check" 0 "$bin/kmemtrace_check" "$out/cpu0.out" "$out/cpu1.out"

# --- an existing trace

run "not over a trace" 3 --seconds 0.1
says "not over a trace" '--force overwrites it'
recorded "not over a trace"
touch "$out/mine" "$out/cpu7.out" "$out/header.first" "$out/header.tmp"
run "over a trace" 0 --seconds 0.5 --force --quiet
if [ -s "$tmp/out" ]; then fail "quiet"; else pass; fi
recorded "over a trace"
untouched "$out" 'cpu0.out cpu1.out cpu9999.out header mine'

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
# All bytes since boot were read, so all losses since boot count.
header "joined" 'lost 2 3 144'
# It is unknown how often recording was switched on.
if grep -q '^begins' "$out/header"; then fail "joined: begins"; else pass; fi
kernel 1
files
run "the rest, too early" 1 --rest --force
says "the rest, too early" 'recording is on, too early for --rest'
enabled "the rest, too early" 1
recorded "joined"
printf '0 9 1000000000 7 700 0 0\n' >"$fake/stats"
run "joined late" 0 --seconds 0.5 --force
header "joined late" 'lost 0 0 0'
kernel 1
files
run "joined and stopped" 2 --seconds 0.5 --force --stop
enabled "joined and stopped" 0
header "joined and stopped" 'span whole'

# --- a newer kernel, and one without some of the files

kernel 0
files
echo 3 >"$fake/abi_version"
run "newer ABI" 0 --seconds 0.1 --force
says "newer ABI" 'version 3 of the ABI, newer than 2'
header "newer ABI" 'abi_version 3'
rm "$fake/stats" "$fake/tags" "$fake/subbufs" "$fake/features"
run "bare kernel" 0 --seconds 0.2 --force
recorded "bare kernel"
header "bare kernel" 'span part'
# Losses before kmemtraced joined do not count.
echo 1 >"$fake/enabled"
echo 4800 >"$fake/total_overruns"
run "bare kernel, joined" 0 --seconds 1.3 --force --progress
header "bare kernel, joined" 'span part'
says "bare kernel, joined" ' MB, 0 bytes lost'
says "bare kernel, joined" 'recording is left on'
echo 0 >"$fake/enabled"
run "bare kernel, the rest" 2 --rest --force
says "bare kernel, the rest" 'events were lost'
rm "$fake/total_overruns"
run "nothing told of losses" 4 --seconds 0.2 --force
says "nothing told of losses" 'nobody knows what was lost'
recorded "nothing told of losses"
header "nothing told of losses" 'span part'
run "nothing told of losses, the rest" 4 --rest --force

# --- signals, and a second kmemtraced at the same time

# begin [COMMAND...]: start kmemtraced in the background and wait until its files exist
begin() {
	local tries
	"$@" "$bin/kmemtraced" --debugfs "$fake" --output "$out" --force 2>"$tmp/err" &
	daemon=$!
	jobs_left=("$daemon")
	for ((tries = 0; tries < 100; tries++)); do
		[ "$(cat "$fake/enabled")" != 0 ] && [ -e "$out/cpu0.out" ] && return
		sleep 0.1
	done
	fail "it does not begin"
}

# ended WHAT STATUS: wait for the end of kmemtraced and expect STATUS
ended() {
	local status=0
	wait "$daemon" || status=$?
	jobs_left=()
	cp "$tmp/err" "$tmp/out"
	if [ "$status" -eq "$2" ]; then pass; else fail "$1: exit status $status"; fi
}

# Under nohup, this script and its children ignore SIGHUP.
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

# --- killed: the trace on disk is valid, but its last record may be cut short

# whole_records FILE: print the number of whole records
whole_records() {
	python3 - "$1" <<'PY'
import struct, sys
data = open(sys.argv[1], 'rb').read()
at = records = 0
while at + 24 <= len(data):
    at += struct.unpack_from('=H', data, at + 2)[0]
    records += at <= len(data)
print(records)
PY
}

# begins WHAT: cpu0.out must be the beginning of the large trace, and all of it must be
# reported, except for a record that is cut short
begins() {
	local status=0 records size
	size=$(stat -c %s "$out/cpu0.out")
	same "$1: cpu0.out" <(head -c "$size" "$large") "$out/cpu0.out"
	"$bin/kmemtrace_check" "$out/cpu0.out" >"$tmp/out" || status=$?
	if [ "$status" -eq 0 ] || { [ "$status" -eq 2 ] && grep -q '; 1 errors$' "$tmp/out" &&
		grep -q 'cut short after' "$tmp/out"; }; then
		pass
	else
		fail "$1: more is wrong than the end"
	fi
	records=$(whole_records "$out/cpu0.out")
	# Both programs complain about a record that is cut short.
	expect "$1: report" "$status" "$bin/kmemtrace-report" --json -f -o "$tmp/json" "$out"
	if python3 -c "
import json
got = json.load(open('$tmp/json'))['records']
assert 0 < got['allocs'] + got['frees'] == $records, (got, $records)
" >"$tmp/out" 2>&1; then pass; else fail "$1: not all is reported"; fi
}

# larger BYTES: wait until cpu0.out is larger than that
larger() {
	local tries
	for ((tries = 0; tries < 1000; tries++)); do
		[ "$(stat -c %s "$out/cpu0.out")" -gt "$1" ] && return
		sleep 0.01
	done
	fail "cpu0.out does not grow to $1 bytes"
}

split -b 700000 "$large" "$tmp/piece."
for size in 1000000 5000000 12000000; do
	kernel 0
	rm -rf "$out"
	mkfifo "$fake/cpu0"
	begin
	header "while it runs" 'complete no'
	for piece in "$tmp"/piece.*; do
		cat "$piece"
		sleep 0.02
	done >"$fake/cpu0" 2>/dev/null &
	feeder=$!
	jobs_left+=("$feeder")
	larger "$size"
	kill -KILL "$daemon"
	wait "$daemon" "$feeder" 2>/dev/null
	jobs_left=()
	header "killed at $size" 'complete no'
	begins "killed at $size"
done

# --- buffers that are removed while kmemtraced reads; O_DIRECT that fails

# A preloaded library simulates faults of the kernel. A fault happens if a file with its name
# exists in $FAULTS; then the library creates NAME.fired beside it.
cat >"$tmp/faults.c" <<'END'
#include <errno.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int fault(const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path) - 8, "%s/%s", getenv("FAULTS"), name);
	if (access(path, F_OK))
		return 0;
	strcat(path, ".fired");
	close(open(path, O_WRONLY | O_CREAT, 0600));
	return 1;
}

/* Another program switches recording on. */
static void switch_on(void)
{
	int fd = open(getenv("ENABLED"), O_WRONLY | O_TRUNC);

	syscall(SYS_write, fd, "1\n", 2);
	close(fd);
}

/* The second file of a CPU cannot be created. */
int openat(int dir, const char *name, int flags, ...)
{
	static int files;
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	if (strstr(name, ".out") && flags & O_EXCL && files++ && fault("second")) {
		errno = EMFILE;
		return -1;
	}
	return syscall(SYS_openat, dir, name, flags, mode);
}

int openat64(int dir, const char *name, int flags, ...)
	__attribute__((alias("openat")));

/* A kernel under lockdown=confidentiality does not open the files of the CPUs. */
int open(const char *name, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = va_arg(args, int);
	va_end(args);
	if (strstr(name, "/cpu") && flags & O_NONBLOCK && fault("lockdown")) {
		errno = EPERM;
		return -1;
	}
	return syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

int open64(const char *name, int flags, ...)
	__attribute__((alias("open")));

/* A cpuset without this CPU */
int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	if (fault("cpuset")) {
		errno = EINVAL;
		return -1;
	}
	return syscall(SYS_sched_setaffinity, pid, size, set) < 0 ? -1 : 0;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	typeof(pthread_create) *real = dlsym(RTLD_NEXT, "pthread_create");

	/* A thread that only tries a CPU has no attributes. */
	return attr && fault("no-thread") ? EAGAIN : real(thread, attr, fn, arg);
}

/* For each thread: the file in which poll() found data, and whether the thread must stop. */
static __thread int polled = -1;
static __thread int over;

/* A reader waits for the event to stop, fds[0], and for its file, fds[1]. */
int poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	struct timespec wait = { timeout / 1000, timeout % 1000 * 1000000L };
	int ret = syscall(SYS_ppoll, fds, nr, timeout < 0 ? NULL : &wait, NULL, 0);

	if (ret > 0 && fds[0].revents)
		over = 1;
	if (ret > 0 && nr == 2 && fds[1].revents)
		polled = fds[1].fd;
	return ret;
}

/* Note whether a poll() came before, and fail like a file of debugfs that was removed. */
ssize_t read(int fd, void *buf, size_t size)
{
	/* Ignore small reads: a signal, or the beginning of a header. */
	if (size <= sizeof(struct signalfd_siginfo))
		return syscall(SYS_read, fd, buf, size);
	if (fcntl(fd, F_GETFL) & O_NONBLOCK) {
		fault(over ? "drained" : fd == polled ? "polled" : "unpolled");
		polled = -1;
	}
	if (fcntl(fd, F_GETFL) & O_NONBLOCK && fault("removed")) {
		errno = EIO;
		return -1;
	}
	return syscall(SYS_read, fd, buf, size);
}

ssize_t write(int fd, const void *buf, size_t size)
{
	/* A disk that takes half a second for a buffer. */
	if (size == 1024 * 1024 && fault("slow"))
		usleep(500000);
	/* to "subbufs" */
	if (size == 3 && !memcmp(buf, "64\n", 3) && fault("busy")) {
		switch_on();
		errno = EBUSY;
		return -1;
	}
	/* to "enabled" */
	if (size == 2 && !memcmp(buf, "2\n", 2) && fault("no-memory")) {
		errno = ENOMEM;
		return -1;
	}
	if (size == 2 && !memcmp(buf, "2\n", 2) && fault("taken")) {
		switch_on();
		errno = EBUSY;
		return -1;
	}
	if (fcntl(fd, F_GETFL) & O_DIRECT && fault("no-direct")) {
		errno = EINVAL;
		return -1;
	}
	return syscall(SYS_write, fd, buf, size);
}
END
"${CC:-gcc}" -D_GNU_SOURCE -shared -fPIC -o "$tmp/faults.so" "$tmp/faults.c" -ldl ||
	fail "faults.so"
faults=(env "LD_PRELOAD=$tmp/faults.so" "FAULTS=$tmp/faults" "ENABLED=$fake/enabled"
	ASAN_OPTIONS=verify_asan_link_order=0)

# fired FAULT: the fault must have happened
fired() {
	if [ -e "$tmp/faults/$1.fired" ]; then pass; else fail "$1: it did not happen"; fi
	rm -rf "$tmp/faults"
	mkdir "$tmp/faults"
}
mkdir "$tmp/faults"

kernel 0
files
touch "$tmp/faults/drained" "$tmp/faults/polled" "$tmp/faults/unpolled"
begin "${faults[@]}"
sleep 0.5
kill -TERM "$daemon"
ended "poll before each read" 0
recorded "poll before each read"
for fault in drained polled; do
	if [ -e "$tmp/faults/$fault.fired" ]; then pass; else fail "nothing was read: $fault"; fi
done
if [ -e "$tmp/faults/unpolled.fired" ]; then fail "a read() without poll()"; else pass; fi
rm "$tmp/faults"/*

# removed WHAT: the records that were read before must be there, and kmemtraced must report
# that the trace is not complete
removed() {
	ended "$1" 1
	fired removed
	says "$1" 'Input/output error; somebody has written to "subbufs", and the buffers are gone'
	enabled "$1" 0
	header "$1" 'complete no'
	expect "$1: check" 4 "$bin/kmemtrace_check" --all "$out"
	says "$1: check" 'not complete'
}

kernel 0
files
begin "${faults[@]}"
sleep 1
touch "$tmp/faults/removed"
removed "buffers removed"
same "buffers removed: cpu0" "$tmp/source/cpu0.out" "$out/cpu0.out"
same "buffers removed: cpu1" "$tmp/source/cpu1.out" "$out/cpu1.out"

# The error happens at the end, while data that were read are not written yet.
kernel 0
mkfifo "$fake/cpu0"
begin "${faults[@]}"
exec 3>"$fake/cpu0"
cat "$tmp/source/cpu0.out" >&3
sleep 0.3
touch "$tmp/faults/removed"
kill -TERM "$daemon"
removed "buffers removed at the end"
exec 3>&-
same "buffers removed at the end" "$tmp/source/cpu0.out" "$out/cpu0.out"

# The files are replaced by others with the same names: kmemtraced must keep the old ones.
kernel 0
files
begin
sleep 0.3
for file in cpu0 cpu1 cpu9999; do
	echo other >"$fake/.new" && mv "$fake/.new" "$fake/$file"
done
sleep 1.5
kill -TERM "$daemon"
ended "files replaced" 0
same "files replaced" "$tmp/source/cpu0.out" "$out/cpu0.out"

kernel 0
files
begin
sleep 0.3
rm -r "$fake"
ended "debugfs unmounted" 1
says "debugfs unmounted" "$fake: No such file"
header "debugfs unmounted" 'complete no'
recorded "debugfs unmounted"
expect "debugfs unmounted: check" 4 "$bin/kmemtrace_check" --all "$out"

# direct: is cpu0.out written past the page cache?
direct() {
	local fd flags
	for fd in "/proc/$daemon/fd"/*; do
		[ "$(readlink "$fd")" = "$out/cpu0.out" ] || continue
		flags=$(sed -n 's/^flags:[[:space:]]*//p' "/proc/$daemon/fdinfo/${fd##*/}")
		[ $((flags & $(python3 -c 'import os; print(os.O_DIRECT)'))) -ne 0 ]
		return
	done
	fail "cpu0.out is not open"
	return 1
}

kernel 0
mkfifo "$fake/cpu0"
begin "${faults[@]}"
if direct; then
	touch "$tmp/faults/no-direct"
	cat "$large" >"$fake/cpu0"
	sleep 0.5
	if direct; then fail "it does not give up O_DIRECT"; else pass; fi
	kill -TERM "$daemon"
	ended "EINVAL for O_DIRECT" 0
	fired no-direct
	same "EINVAL for O_DIRECT" "$large" "$out/cpu0.out"
else
	echo "skipped: EINVAL of write(): $tmp has no O_DIRECT"
	kill -TERM "$daemon"
	wait "$daemon"
	jobs_left=()
fi

# --- another program switches recording on while kmemtraced starts: recording must stay on

kernel 0
files
rm -rf "$out"
run "an older trace" 0 --seconds 0.3
touch "$tmp/faults/busy"
expect "somebody else has begun" 1 "${faults[@]}" "${briefly[@]}" --force --output "$out"
fired busy
says "somebody else has begun" 'subbufs: Device or resource busy'
enabled "somebody else has begun" 1
recorded "somebody else has begun: the older trace"
kernel 0
files
touch "$tmp/faults/taken"
expect "somebody else begins at once" 1 "${faults[@]}" "${briefly[@]}" --force --output "$out"
fired taken
says "somebody else begins at once" 'recording cannot be switched on: Device or resource busy'
enabled "somebody else begins at once" 1
recorded "somebody else begins at once: the older trace"

# --- a start that fails: kmemtraced removes its new files, and an older trace stays

# fails_to_start WHAT TEXT COMMAND...: expect that COMMAND starts no recording and says TEXT: in a
# new folder, there again, and with --force in the folder of an older trace
fails_to_start() {
	local what=$1 text=$2 again before
	shift 2
	before=$(cd "$out" && sha256sum ./*)
	rm -rf "$tmp/fresh"
	for again in '' ', again'; do
		expect "$what$again" 1 "$@" --output "$tmp/fresh"
		says "$what$again" "$text"
		untouched "$tmp/fresh" '*'
	done
	expect "$what, with an older trace" 1 "$@" --output "$out" --force
	says "$what, with an older trace" "$text"
	untouched "$out" 'cpu0.out cpu1.out cpu9999.out header'
	is "$what: the older trace" "$(cd "$out" && sha256sum ./*)" "$before"
}

kernel 0
files
ln -s nowhere "$fake/cpu5"
fails_to_start "a file of a CPU is missing" 'cpu5: No such file' "${briefly[@]}"
rm "$fake/cpu5"
touch "$tmp/faults/lockdown"
fails_to_start "lockdown" 'lockdown=confidentiality forbids tracing' "${faults[@]}" "${briefly[@]}"
fired lockdown
touch "$tmp/faults/cpuset"
fails_to_start "a cpuset" 'Invalid argument; a cpuset of its control group leaves' \
	"${faults[@]}" "${briefly[@]}"
fired cpuset
touch "$tmp/faults/no-memory"
fails_to_start "no memory for the buffers" 'recording cannot be switched on: Cannot allocate' \
	"${faults[@]}" "${briefly[@]}"
fired no-memory

# When recording begins, nothing of the old trace is in the page cache.
recorded "the page cache"
touch "$tmp/faults/no-memory"
expect "the page cache" 1 "${faults[@]}" "${briefly[@]}" --force --output "$out"
fired no-memory
if [ "$(stat -f -c %T "$out")" = tmpfs ]; then
	skip "the page cache: files of tmpfs stay in it"
elif ! command -v fincore >/dev/null; then
	skip "the page cache: no fincore"
else
	is "pages in the page cache" "$(fincore -n -o PAGES "$out"/* | xargs)" "0 0 0 0"
fi

# The old trace is removed before threads start.
rm -rf "$tmp/fresh"
touch "$tmp/faults/no-thread"
for force in --quiet --force; do
	expect "no threads $force" 1 "${faults[@]}" "${briefly[@]}" $force --output "$tmp/fresh"
	says "no threads $force" 'no thread for CPU'
	untouched "$tmp/fresh" '*'
done
fired no-thread

# With any number of descriptors it replaces the old trace or keeps all of it.
before=$(cd "$out" && sha256sum ./*)
for ((nr = 4; nr < 60; nr++)); do
	status=0
	prlimit --nofile=$nr "${briefly[@]}" --force --output "$out" >"$tmp/out" 2>&1 || status=$?
	[ $status != 0 ] || break
	is "$nr descriptors: the older trace" "$(cd "$out" && sha256sum ./*)" "$before"
	enabled "$nr descriptors" 0
done
is "with $nr descriptors" "$status" 0
if [ "$nr" -gt 10 ]; then pass; else fail "$nr descriptors suffice"; fi
recorded "with $nr descriptors"
header "with $nr descriptors" 'complete yes'

touch "$tmp/faults/second"
expect "a file cannot be created" 3 "${faults[@]}" "${briefly[@]}" --force --output "$out"
fired second
says "a file cannot be created" '.out: Too many open files'
enabled "a file cannot be created" 0
header "a file cannot be created" 'complete no'

# --- a second signal skips the records that the first one left

# seconds FILE: print the age of a file
seconds() {
	python3 -c "import os, sys, time; print(time.time() - os.stat(sys.argv[1]).st_mtime)" "$1"
}

for signals in "INT INT" "INT TERM" "TERM INT"; do
	kernel 0
	cp "$large" "$fake/cpu0"
	touch "$tmp/faults/slow"
	begin "${faults[@]}"
	sleep 0.3
	touch "$tmp/first"
	for signal in $signals; do
		kill -"$signal" "$daemon"
		sleep 0.7
	done
	ended "$signals" 2
	took=$(seconds "$tmp/first")
	fired slow
	says "$signals" 'kmemtraced: told to stop again; '
	enabled "$signals" 0
	header "$signals" 'complete no'
	header "$signals" 'span part'
	# The file is a part of the trace, with whole records. All of it would take nine seconds.
	size=$(stat -c %s "$out/cpu0.out")
	same "$signals" <(head -c "$size" "$large") "$out/cpu0.out"
	expect "$signals: check" 0 "$bin/kmemtrace_check" "$out/cpu0.out"
	if python3 -c "import sys; sys.exit(not $took < 5)" && [ "$size" -gt 0 ] &&
		[ "$size" -lt "$(stat -c %s "$large")" ]; then
		pass
	else
		fail "$signals: $size bytes in $took seconds"
	fi
done

# --- the kernel ends the recording of a daemon that is killed

# For this, kmemtraced writes 2 to "enabled" and keeps the file open, see mm/kmemtrace.c.
kernel 0
files
begin
enabled "held" 2
held=0
for fd in "/proc/$daemon/fd"/*; do
	[ "$(readlink "$fd")" = "$fake/enabled" ] && held=$((held + 1))
done
if [ "$held" = 1 ]; then pass; else fail "it does not hold the recording"; fi
kill -TERM "$daemon"
ended "held" 0
enabled "held" 0

# --- a CPU that appears during the recording; an offline CPU is read at the end

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

# --- pipes: data that arrive in small pieces, and a reader that waits

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

# --- standard error is closed or has no reader

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
kernel 0
files
{
	sleep 1.5
	printf '0 4009 1000 0 0 0 0\n2 5 500 10 480 1 48\n' >"$fake/.new"
	mv "$fake/.new" "$fake/stats"
} &
run "progress of events and losses" 2 --force --seconds 3.5 --progress
wait
if grep -Eq '^[0-9]+ s: [1-9][0-9]+ events/s, [0-9.]+ MB, 7 events lost$' "$tmp/out"; then
	pass
else
	fail "progress: no rate, or no losses"
fi

# --- no directory given: the commands of the guide of kmemtrace

kernel 0
files
mkdir "$tmp/guide"
expect "guide: kmemtraced" 0 env -C "$tmp/guide" "${briefly[@]}"
same "guide" "$tmp/source/cpu0.out" "$tmp/guide/cpu0.out"
for file in "$tmp"/guide/cpu*.out; do
	expect "guide: kmemtrace_check" 0 env -C "$tmp/guide" "$bin/kmemtrace_check" "${file##*/}"
done
expect "guide: kmemtrace-report" 0 env -C "$tmp/guide" "$bin/kmemtrace-report"
says "guide: kmemtrace-report" '20000 records: 10848 allocations'
expect "guide: again" 3 env -C "$tmp/guide" "${briefly[@]}"
says "guide: again" '--force overwrites it'
expect "guide: again, by force" 0 env -C "$tmp/guide" "${briefly[@]}" --force
echo 'my own' >"$tmp/guide/header"
expect "a header of something else" 3 env -C "$tmp/guide" "${briefly[@]}" --force
says "a header of something else" 'is no header of a trace'
if [ "$(cat "$tmp/guide/header")" = 'my own' ]; then pass; else fail "my own header is gone"; fi
if [ -e "$tmp/guide/cpu0.out" ]; then pass; else fail "a part of a trace is gone"; fi

# --- a directory that others can write to, and links that they may have put there

kernel 0
files
for mode in 1777 0777 0720 0702; do
	rm -rf "$tmp/shared"
	mkdir -m "$mode" "$tmp/shared"
	touch "$tmp/shared/cpu7.out"
	for force in --quiet --force; do
		expect "mode $mode $force" 3 "${briefly[@]}" $force --output "$tmp/shared"
		says "mode $mode $force" 'belongs to another user, or others may write to it'
		untouched "$tmp/shared" cpu7.out
	done
done
expect "the current folder" 3 env -C "$tmp/shared" "${briefly[@]}"
says "the current folder" 'kmemtraced: .: belongs to another user, or others may write to it'
says "the current folder" '--output DIR writes to another directory, which is created'
untouched "$tmp/shared" cpu7.out
# kmemtraced changes no setting of the kernel if it refuses the directory.
for folder in "$tmp/shared" "$out"; do
	expect "features, $folder is refused" 3 "${briefly[@]}" --features pid --output "$folder"
	features '[time] pid [tag]'
done
# A private directory in a shared one is allowed.
chmod 1777 "$tmp/shared"
expect "a folder in a shared one" 0 bash -c 'umask 0 && exec "$@"' - "${briefly[@]}" \
	--output "$tmp/shared/own"
for file in "$tmp"/shared/own/*; do
	if [ "$(stat -c %a "$file")" = 600 ]; then pass; else fail "others may read $file"; fi
done
if [ "$(stat -c %a "$tmp/shared/own")" = 700 ]; then pass; else fail "others may look into it"; fi
mkdir "$tmp/mine"
ln -s mine "$tmp/leads"
ln -s loop "$tmp/loop"
expect "links for ever" 3 "${briefly[@]}" --output "$tmp/loop/t"
expect "no such folder" 3 "${briefly[@]}" --output "$tmp/none/t"
expect "no name at all" 3 "${briefly[@]}" --output ''
for name in leads leads/ leads//; do
	expect "a link: $name" 3 "${briefly[@]}" --output "$tmp/$name"
	untouched "$tmp/mine" '*'
done
# Links in a private directory are replaced. Their targets are not changed.
echo private >"$tmp/victim"
ln "$tmp/victim" "$tmp/mine/cpu0.out"
ln -s "$tmp/victim" "$tmp/mine/cpu1.out"
ln -s "$tmp/victim" "$tmp/mine/header.tmp"
expect "links in it" 0 "${briefly[@]}" --force --output "$tmp/mine"
same "links in it: cpu0" "$tmp/source/cpu0.out" "$tmp/mine/cpu0.out"
same "links in it: cpu1" "$tmp/source/cpu1.out" "$tmp/mine/cpu1.out"
if [ "$(cat "$tmp/victim")" = private ]; then pass; else fail "it wrote through a link"; fi
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$tmp"
	mkdir -m 700 "$tmp/other"
	chown 65534 "$tmp/other"
	expect "another user's" 3 "${briefly[@]}" --output "$tmp/other"
	untouched "$tmp/other" '*'
	# A link of root to which another user has given a second name. The user could do this
	# with fs.protected_hardlinks=0; here root does it for him.
	mkdir "$tmp/theirs" "$tmp/theirs/sticky" "$tmp/all" "$tmp/for-links" "$tmp/few"
	ln -s "$tmp/for-links" "$tmp/link-of-root"
	for name in theirs theirs/sticky all few; do
		ln "$tmp/link-of-root" "$tmp/$name/log"
	done
	ln -s "$tmp/for-links" "$tmp/theirs/only"
	chmod 1777 "$tmp/theirs/sticky" "$tmp/all"
	chown 65534 "$tmp/theirs" "$tmp/theirs/sticky"
	for name in theirs theirs/sticky all; do
		expect "a link of root's in $name" 3 "${briefly[@]}" --output "$tmp/$name/log/t"
		says "a link of root's in $name" 'does it belong to another user?'
	done
	expect "a link of root's by another user's" 3 "${briefly[@]}" --output "$tmp/theirs/only/t"
	untouched "$tmp/for-links" '*'
	expect "a link with two names" 0 "${briefly[@]}" --output "$tmp/few/log/two"
	ln -s "$tmp/for-links" "$tmp/all/one"
	expect "a link of root's among others" 0 "${briefly[@]}" --output "$tmp/all/one/one"
	left=$(cd "$tmp/for-links" && echo *)
	if [ "$left" = 'one two' ]; then pass; else fail "links of root's: $left"; fi
	# A link of another user in the path is not followed, but a link of the user himself is.
	mkdir "$tmp/way" "$tmp/inner"
	ln -s "$tmp/inner" "$tmp/way/theirs"
	ln -s ../inner "$tmp/way/own"
	chown -h 65534 "$tmp/way/theirs"
	for name in way/theirs/t way/theirs/t/ way/own/../way/theirs/t; do
		expect "by $name" 3 "${briefly[@]}" --output "$tmp/$name"
		says "by $name" 'does it belong to another user?'
		untouched "$tmp/inner" '*'
	done
	expect "by a link of one's own" 0 env -C "$tmp" "${briefly[@]}" --output ./way//own/./t/
	same "by a link of one's own" "$tmp/source/cpu0.out" "$tmp/inner/t/cpu0.out"
	cp "$tmp/victim" "$tmp/inner/report"
	for name in report new; do
		expect "report by a link" 3 "$bin/kmemtrace-report" -f -o "$tmp/way/theirs/$name" \
			"$tmp/inner/t"
	done
	if [ "$(cd "$tmp/inner" && echo * && cat report)" = "$(printf 'report t\nprivate')" ]; then
		pass
	else
		fail "a report goes through a link"
	fi
	# The other way round: another user cannot write to a directory of root.
	chmod -R a+rwX "$fake"
	as_other=(setpriv --reuid 65534 --clear-groups env -C /)
	expect "root's" 3 "${as_other[@]}" "${briefly[@]}" --output "$tmp/shared/own"
	expect "as that user" 0 "${as_other[@]}" "${briefly[@]}" --output "$tmp/other"
	enabled "as that user" 0
else
	echo "skipped: two users, this takes root"
fi

# --- the limit of --max

# bytes: print the size of all files of CPUs
bytes() {
	cat "$out"/cpu*.out | wc -c
}

kernel 0
files
all=$(cat "$tmp"/source/cpu*.out | wc -c)
for max in 1 23 100 10000 100001 300K $((all - 1)); do
	run "--max $max" 0 --force --seconds 5 --max "$max"
	says "--max $max" "-m $(numfmt --from=iec "$max") is reached; "
	header "--max $max" 'span part'
	header "--max $max" 'complete yes'
	enabled "--max $max" 0
	size=$(bytes)
	max=$(numfmt --from=iec "$max")
	if [ "$size" -le "$max" ] && [ $((size + 3 * 100)) -ge "$max" ]; then
		pass
	else
		fail "--max $max: $size bytes"
	fi
	expect "--max $max: check" 0 "$bin/kmemtrace_check" "$out"/cpu*.out
	expect "--max $max: check of all" 4 "$bin/kmemtrace_check" --all "$out"
done
run "as much as there is" 0 --force --seconds 0.5 --max "$all"
not_says "as much as there is" 'is reached'
header "as much as there is" 'span whole'
recorded "as much as there is"
kernel 0
cp "$large" "$fake/cpu0"
run "--max of a large trace" 0 --force --seconds 5 --max 5M
expect "--max of a large trace: check" 0 "$bin/kmemtrace_check" "$out/cpu0.out"
size=$(bytes)
same "--max of a large trace" <(head -c "$size" "$large") "$out/cpu0.out"
if [ "$size" -le $((5 << 20)) ] && [ "$size" -gt $(((5 << 20) - 100)) ]; then
	pass
else
	fail "--max of a large trace: $size bytes"
fi

# --- a full disk; a limit on the size of files stands for it

kernel 0
for ((copies = 0; copies < 60; copies++)); do
	cat "$tmp/source/cpu0.out"
done >"$fake/cpu0"
cp "$tmp/source/cpu1.out" "$fake/cpu1"
echo 1024 >"$fake/subbufs"
header_size=$(stat -c %s "$out/header")
limit=$((header_size / 1024 + 1000))
if [ "$((limit * 1024))" -lt "$(stat -c %s "$fake/cpu0")" ]; then
	expect "full disk" 3 prlimit --fsize=$((limit * 1024)) \
		"$bin/kmemtraced" --debugfs "$fake" --output "$out" --force --seconds 30
	says "full disk" 'File too large'
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
before=$(cd "$out" && sha256sum ./*)
expect "full from the beginning" 3 prlimit --fsize=8192 \
	"$bin/kmemtraced" --debugfs "$fake" --output "$out" --force --seconds 30
says "full from the beginning" '/header: File too large'
enabled "full from the beginning" 0
is "full from the beginning: the older trace" "$(cd "$out" && sha256sum ./*)" "$before"

# --- file systems: a full disk with O_DIRECT, and file systems without O_DIRECT

here_it_was=$out

# mounted ARG...: mount a file system at $tmp/mnt and write traces there
mounted() {
	mkdir -p "$tmp/mnt"
	if ! mount "$@" "$tmp/mnt" 2>"$tmp/out"; then
		echo "skipped: $(head -n 1 "$tmp/out")"
		return 1
	fi
	out=$tmp/mnt/trace
}

unmounted() {
	umount "$tmp/mnt"
	out=$here_it_was
}

# Room for two headers, and some of the trace.
truncate -s $((2 * header_size + 8 * 1024 * 1024)) "$tmp/disk"
mkfs.ext4 -q -F "$tmp/disk" >"$tmp/out" 2>&1 || fail "mkfs.ext4"
if mounted -o loop "$tmp/disk"; then
	kernel 0
	mkfifo "$fake/cpu0"
	begin
	if direct; then pass; else fail "ext4: no O_DIRECT"; fi
	cat "$large" >"$fake/cpu0" 2>/dev/null &
	feeder=$!
	jobs_left+=("$feeder")
	ended "ext4 is full" 3
	wait "$feeder"
	says "ext4 is full" 'No space left on device'
	says "ext4 is full" 'the rest is dropped'
	enabled "ext4 is full" 0
	header "ext4 is full" 'complete no'
	header "ext4 is full" "written 0 $(stat -c %s "$out/cpu0.out")"
	if [ "$(stat -c %s "$out/cpu0.out")" -gt 3000000 ]; then
		pass
	else
		fail "ext4 is full: too early"
	fi
	begins "ext4 is full"
	expect "ext4 is full: whole records" 0 "$bin/kmemtrace_check" "$out/cpu0.out"
	expect "ext4 is full: check" 4 "$bin/kmemtrace_check" --all "$out"
	# Two more headers have room only when the old trace is gone.
	kernel 0
	files
	run "a full ext4 again" 0 --force --seconds 0.3
	recorded "a full ext4 again"
	unmounted
fi

# Linux 6.1 has no O_DIRECT on tmpfs, but later kernels do. No kernel has it on ramfs.
for type in ramfs tmpfs; do
	mounted -t "$type" none || continue
	kernel 0
	cp "$large" "$fake/cpu0"
	begin
	if [ "$type" = ramfs ]; then
		if direct; then fail "ramfs: O_DIRECT"; else pass; fi
	fi
	sleep 0.5
	kill -TERM "$daemon"
	ended "$type" 0
	same "$type" "$large" "$out/cpu0.out"
	header "$type" 'complete yes'
	unmounted
done

finish
