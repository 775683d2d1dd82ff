# SPDX-License-Identifier: GPL-2.0-only
#
# Every guest test sources this: results in KTAP, and functions that several
# tests need.  A case is a function named test_*; run_tests finds the cases in
# the script by name, prints the plan, and runs each in a subshell, in order.  A
# case can pass state to the next one only through files in /tmp.
#
# In a case: `fail WHY` and `skip WHY` end it, `note WHAT` adds a remark.  A case
# that reaches its end succeeds, even if its last command failed.

MP=/proc/sys/vm/mem_profiling
INFO=/proc/allocinfo
CTAG=/sys/kernel/debug/ctag_test
KEEP=/sys/kernel/debug/ctag_keep
LIFE=/sys/kernel/debug/ctag_life
CONSERVATION=/sys/kernel/debug/alloc_tag/conservation
SKIP_ALL=

# A line of $INFO, for grep -E
LINE='^ *[0-9]+ +[0-9]+ [^ :]+:[0-9]+( \[[A-Za-z0-9_]+\])? func:[A-Za-z0-9_.]+( accurate:no)? $'

note()
{
	echo "# $*"
}

fail()
{
	echo "# $*"
	exit 1
}

skip()
{
	echo "$*" > /tmp/.skip
	exit 4
}

# Does this kernel have _DEBUG: warnings, and reports in debugfs?
debug_kernel()
{
	zcat /proc/config.gz | grep -qx CONFIG_MEM_ALLOC_PROFILING_DEBUG=y
}

# needs_switch: skips all cases if profiling cannot be switched.  With _DEBUG
# vm.mem_profiling is read-only, and the default differs.
needs_switch()
{
	! debug_kernel || SKIP_ALL="vm.mem_profiling is read-only with _DEBUG"
}

run_tests()
{
	script=$0
	cases=$(sed -n 's/^\(test_[A-Za-z0-9_]*\)()$/\1/p' "$script")
	echo "KTAP version 1"
	echo "1..$(echo "$cases" | wc -w)"
	number=0
	failed=0
	for case in $cases; do
		number=$((number + 1))
		rm -f /tmp/.skip
		echo "qt: $case" > /dev/kmsg
		( [ -z "$SKIP_ALL" ] || skip "$SKIP_ALL"; $case; exit 0 )
		case $? in
		0) echo "ok $number ${case#test_}" ;;
		4) echo "ok $number ${case#test_} # SKIP $(cat /tmp/.skip)" ;;
		*) echo "not ok $number ${case#test_}"; failed=1 ;;
		esac
	done
	exit $failed
}

# eq WHAT GOT WANT
eq()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}

# each_as_often WHAT GOT WANT: the file GOT has each line of the file WANT as often as WANT has it.
each_as_often()
{
	eq "$1 that came too often or not at all" "$(awk '
		NR == FNR { got[$0]++; next }
		{ want[$0]++ }
		END { for (line in want) if (got[line] != want[line]) print line }' "$2" "$3" | head -3)" ""
}

# The tag lines of /proc/allocinfo without the two header lines.
tags()
{
	sed 1,2d $INFO
}

# "bytes calls" of the lines that match an extended regular expression, summed.
sum_tags()
{
	grep -E "$1" $INFO | awk '{ b += $1; c += $2 } END { print b + 0, c + 0 }'
}

# A figure of /proc/meminfo
kilobytes()
{
	awk -v k="$1:" '$1 == k { print $2 }' /proc/meminfo
}

# A counter of /proc/vmstat
vmstat()
{
	awk -v k="$1" '$1 == k { print $2 }' /proc/vmstat
}

profiling()
{
	[ "$(stat -c %a $MP)" = 644 ] || skip "$MP is read-only"
	echo "$1" > $MP || fail "cannot write $1 to $MP"
}

# Time in which CPUs were not idle, in microseconds; under icount one microsecond is 1000
# instructions.  The time of the disk depends on the host and is left out.
busy_time()
{
	awk '/^cpu / { print ($2 + $3 + $4 + $7 + $8) * 10000 }' /proc/stat
}

# mount_disk [DEVICE [FOLDER]]: mounts the disk that the test declared on /mnt.
mount_disk()
{
	mount -t ext4 "${1:-/dev/vda}" "${2:-/mnt}" || fail "cannot mount ${1:-/dev/vda}"
}

loopback_up()
{
	ip link set lo up
}

# settle [SECONDS]: frees memory that the kernel could free at any time: clean pages,
# partial slabs, dentries (one round clears their referenced bit, the next frees
# them), objects that kfree_rcu() holds back for seconds, and vmap areas that are
# unmapped lazily: loading a module flushes those, because its text becomes
# read-only.
settle()
{
	sync
	echo 3 > /proc/sys/vm/drop_caches
	for f in /sys/kernel/slab/*/shrink; do
		[ -L "${f%/shrink}" ] || echo 1 > "$f"
	done 2>/dev/null
	if [ -e /modules/ctag_keep.ko ] && [ ! -d $KEEP ]; then
		insmod /modules/ctag_keep.ko && rmmod ctag_keep
	fi
	round=0
	had=
	while [ $round -lt 12 ]; do
		round=$((round + 1))
		echo 3 > /proc/sys/vm/drop_caches
		usleep 300000
		now=$(sum_tags 'func:(__d_alloc|alloc_inode|alloc_inode_sb|kfree_rcu)')
		[ "$now" != "$had" ] || [ $round -lt 3 ] || break
		had=$now
	done
	# the first clears the referenced bit of dentries that the rounds have touched
	echo 2 > /proc/sys/vm/drop_caches
	echo 2 > /proc/sys/vm/drop_caches
	echo 2 > /proc/sys/vm/drop_caches
	sleep "${1:-1}"
}

# snapshot FILE: copy of all tags, "where bytes calls", one line per tag, sorted.  During
# the read no pipe holds data, no process is between fork() and exec(), and the files of
# the last snapshot are unchanged.  A test that expects two snapshots to be equal takes
# each of them once in advance, because a new file in /tmp takes memory.
snapshot()
{
	# the old pages of truncated files are freed after a grace period
	usleep 300000
	/qt/bin/readall $INFO /tmp/raw || fail "cannot read $INFO"
	sed 1,2d /tmp/raw | awk '{ b = $1; c = $2; $1 = $2 = ""; sub(/^ */, ""); sub(/ *$/, "");
		      B[$0] += b; C[$0] += c }
		    END { for (t in B) print t "\t" B[t] "\t" C[t] }' | sort > "$1"
}

# load KIND N: starts a workload and waits until it holds its memory.  $LOAD is its
# process id, unload ends it.  $ON is the mask of the CPUs that it may use.
load()
{
	rm -f /tmp/.ready
	${ON:+taskset $ON} /qt/bin/load "$1" "$2" /tmp/.ready &
	LOAD=$!
	tries=0
	until [ -e /tmp/.ready ]; do
		kill -0 $LOAD 2>/dev/null || fail "load $1 $2 died"
		tries=$((tries + 1))
		[ $tries -lt 3000 ] || fail "load $1 $2 is not ready after 30 s"
		usleep 10000
	done
}

unload()
{
	kill -9 "$LOAD"
	wait "$LOAD" 2>/dev/null
}

# The test modules

mod_load()
{
	[ -d $KEEP ] || insmod /modules/ctag_keep.ko || fail "insmod ctag_keep"
	insmod /modules/ctag_test.ko "$@" || fail "insmod ctag_test"
	rm -f /tmp/slab_sizes	# the module creates a cache
}

mod_unload()
{
	rmmod ctag_test || fail "rmmod ctag_test"
}

# Loads ctag_test anew, with nothing allocated.
fresh()
{
	[ ! -d $CTAG ] || mod_unload
	mod_load
}

cmd()
{
	echo "$*" > $CTAG/cmd || fail "ctag_test refused: $*"
}

# Lines of ctag_test's sites that are not zero
site_lines()
{
	tags | awk '$4 == "[ctag_test]" && /func:make_/ && ($1 || $2)'
}

# All lines of ctag_test
mod_lines()
{
	tags | grep -F '[ctag_test]'
}

# even: no counter of ctag_test is too high or too low.  A line never shows a negative
# number, so a counter below zero becomes visible only after an allocation on that line.
even()
{
	check_table || return 1
	cmd alloc all 8
	check_table || return 1
	cmd free all 8
	check_table
}

# "CACHE SIZE" of each cache; the size includes an object's metadata.  SLAB has no sysfs,
# and its slabinfo does not name a merged cache.  ctag_odd may be merged; then it has no
# metadata, because caches with debugging are not merged, and its size is the requested one.
slab_sizes()
{
	if [ -d /sys/kernel/slab ]; then
		grep -H . /sys/kernel/slab/*/slab_size |
			sed 's|/sys/kernel/slab/||; s|/slab_size:| |'
		return
	fi
	echo "ctag_odd 200"
	sed 1,2d /proc/slabinfo | awk '{ print $1, $4 }'
}

# check_rows MODULE TABLE AWK [NAME=VALUE...]: runs AWK on each row of TABLE (- is
# stdin), which states the module's live memory.  AWK can use bytes[], calls[] and seen[]
# of the module's lines in /proc/allocinfo, by "FILE:LINE func:FUNCTION" and by
# "func:FUNCTION" alone, and size[] of the slab caches.  It calls wrong() or differs()
# for a mismatch, which becomes a note.  Fails after a mismatch, or without rows.
check_rows()
{
	mod=$1
	rows=$2
	rule=$3
	shift 3
	[ -s /tmp/slab_sizes ] || slab_sizes > /tmp/slab_sizes
	cat "$rows" > /tmp/table
	tags | grep -F "[$mod]" > /tmp/info
	awk '
	function wrong(what)
	{
		print "# " $1 ": " what
		bad++
	}
	function differs(k, want_bytes, want_calls)
	{
		wrong(bytes[k] + 0 " bytes " calls[k] + 0 " calls, want " want_bytes " and " want_calls)
	}
	function add(k)
	{
		bytes[k] += $1; calls[k] += $2; seen[k] = 1
	}
	FILENAME == "/tmp/slab_sizes" { size[$1] = $2; next }
	FILENAME == "/tmp/info" { add($3 " " $5); add($5); next }
	{ n++ }
	'"$rule"'
	END {
		if (!n) print "# no table"
		exit bad || !n
	}
	' module="$mod" "$@" /tmp/slab_sizes /tmp/info /tmp/table
}

# check_table [FILE [MODULE]]: the live memory according to the module, or to a copy of
# its table, is the same as in /proc/allocinfo, site by site.  Differences become
# notes.
check_table()
{
	check_rows "${2:-ctag_test}" "${1:-$CTAG/table}" '
	{
		k = module ".c:" $2 " func:" $3
		# without kmem accounting these caches do not exist
		if (!($6 in size)) sub(/-cg-/, "-", $6)
		want = $5 * ($6 == "bytes" ? 1 : size[$6])
		if (!seen[k] && (want || !gone))
			wrong("no line for " k)
		else if ($7 == "exact" && (bytes[k] != want || calls[k] != $4))
			differs(k, want, $4)
		else if ($7 == "atleast" && (bytes[k] < want || bytes[k] > want * 1.5))
			wrong(bytes[k] " bytes, want at least " want " and less than half more")
	}' gone="${GONE:-0}"
}

# Memory that is freed in unusual ways: ctag_life

life_load()
{
	insmod /modules/ctag_life.ko || fail "insmod ctag_life"
	rm -f /tmp/slab_sizes	# the module creates caches
}

life_unload()
{
	rmmod ctag_life || fail "rmmod ctag_life"
}

life()
{
	echo "$*" > $LIFE/cmd || fail "ctag_life refused: $*"
}

check_life()
{
	check_table $LIFE/table ctag_life
}

# The memory controller, on /tmp/cg
mount_cgroup()
{
	mkdir -p /tmp/cg
	mount -t cgroup2 none /tmp/cg || fail cgroup2
	echo +memory > /tmp/cg/cgroup.subtree_control
}

# Moves the case, process $self, into a group of its own, /tmp/cg/a.
enter_cgroup()
{
	mount_cgroup
	mkdir /tmp/cg/a
	read -r self _ < /proc/self/stat
	echo "$self" > /tmp/cg/a/cgroup.procs
}

# conserved WHEN: references and counters agree, line by line; no counter is below zero,
# which a line never shows; and the report covers more than 4 MiB and 1000 calls.
conserved()
{
	cat $CONSERVATION > /tmp/report || fail "$1: no report"
	last=$(tail -n 1 /tmp/report)
	if [ "$last" != "differing: 0" ]; then
		head -8 /tmp/report | sed 's/^/# /'
		fail "$1: $last"
	fi
	grep -qx "negative: 0" /tmp/report || fail "$1: $(grep negative: /tmp/report)"
	awk '$1 == "bytes:" { b = $2 } $1 == "calls:" { c = $2 }
	     END { exit b <= 4194304 || c <= 1000 }' /tmp/report ||
		fail "$1: too little is accounted: $(grep -E '^(bytes|calls):' /tmp/report | xargs)"
}

# monitor COMMAND...: sends a command to qemu; the test must declare `monitor: yes`.  The
# answer is not read.
monitor()
{
	port=/dev/ttyS2
	# its console is no ttyS
	[ "$(uname -m)" != aarch64 ] || port=/dev/ttyS1
	stty -F $port raw -echo
	# the monitor's greeting may have been echoed back to it before: end that line
	printf '\n%s\n' "$*" > $port
}

# until_true SECONDS COMMAND...: repeats the command until it succeeds
until_true()
{
	left=$(($1 * 10))
	shift
	until "$@"; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		usleep 100000
	done
}

# Does everything take ten times as long, under KASAN or KCSAN?
slow_kernel()
{
	zcat /proc/config.gz | grep -qxE 'CONFIG_(KASAN|KCSAN)=y'
}

# refuses FILE COMMAND ERROR [COLUMN]: FILE refuses a command about code tags, and the
# kernel log has the error
refuses()
{
	dmesg -c > /dev/null
	if printf '%s' "$2" > "$1" 2> /dev/null; then
		fail "accepted: $2"
	fi
	dmesg | grep -F "${1##*/}: " | grep -F "$3" | grep -qF "${4:-}" ||
		fail "$2: the log says: $(dmesg | tail -1)"
}

# refused_by FILE COMMAND ERROR [COLUMN]: the same, and FILE does not change
refused_by()
{
	cat "$1" > /tmp/was
	refuses "$@"
	cat "$1" | cmp - /tmp/was || fail "changed by: $2"
}

# How fast a recorder can be without loss.  The test defines produce RATE, which adds
# events at that rate for SECONDS_EACH and fails if the CPUs could not keep up.

# trace_cmd_at EVENT RATE: trace-cmd records all events of the same system.  Sets $lost to
# the number of lost events, $kept_up to the result of produce.
trace_cmd_at()
{
	rm -f /mnt/t.dat*
	trace-cmd record -q --compression none -e "${1%/*}" -b 4096 -o /mnt/t.dat \
		sleep $((SECONDS_EACH * 3)) > /tmp/said 2>&1 &
	DAEMON=$!
	until_true 20 grep -q 1 "/sys/kernel/tracing/events/$1/enable" || fail "$(cat /tmp/said)"
	produce "$2"
	kept_up=$?
	cat /sys/kernel/tracing/per_cpu/cpu*/stats > /tmp/stats
	lost=$(awk -F: '/^(overrun|commit overrun|dropped events)/ { n += $2 } END { print n + 0 }' /tmp/stats)
	kill -INT $DAEMON
	wait $DAEMON
	[ -s /mnt/t.dat ] || fail "trace-cmd: $(cat /tmp/said)"
}

# sustained COMMAND...: no event was lost, and the CPUs kept up
sustained()
{
	"$@" && [ "$lost" -eq 0 ] && [ "$kept_up" -eq 0 ]
}

# climb RATE COMMAND...: raises the rate until COMMAND loses events, or the CPUs cannot
# keep up, twice in a row.  Sets $rate to that rate, $best to the last good one.
climb()
{
	best=0
	rate=$1
	shift
	while sustained "$@" "$rate" || sustained "$@" "$rate"; do
		best=$rate
		rate=$((rate * 6 / 5))
	done
}

# explains CODE TEXT COMMAND...: the command exits with that code and says the text
explains()
{
	code=$1 text=$2
	shift 2
	"$@" > /tmp/out 2> /tmp/err
	eq "exit code of $*" $? "$code"
	grep -q -- "$text" /tmp/err || fail "$*: $(cat /tmp/err)"
}

# Hours of work, for tests that look for leaks.  Time counts instructions in their guests, so
# hours with little work pass in minutes.  The disk is mounted on /mnt.

# Files come and go, and some stay for hours: page cache, dentries, inodes, journal.
work_files()
{
	mkdir -p /mnt/come
	seq $((RANDOM % 150 + 50)) | while read -r i; do
		echo "$i" > "/mnt/come/$i"
	done
	dd if=/dev/urandom of=/mnt/kept$((RANDOM % 20)) bs=4096 count=$((RANDOM % 300)) 2>/dev/null
	cat /mnt/kept* > /dev/null 2>&1
	ls -lR /sys/class /proc/sys > /dev/null 2>&1
	[ $((RANDOM % 3)) != 0 ] || rm -rf /mnt/come
}

# compile_one N: a C file of 60 functions, and its object file
compile_one()
{
	awk -v file="$1" 'BEGIN {
		for (i = 1; i <= 60; i++)
			printf "static int t%d[%d];\nint f%d_%d(int a, int b)\n{\n" \
			       "\twhile (b--)\n\t\tt%d[b %% %d] += a;\n\treturn t%d[a %% %d];\n}\n",
				i, i, file, i, i, i, i, i
	}' > "/mnt/built/$1.c"
	tcc -nostdinc -c -o "/mnt/built/$1.o" "/mnt/built/$1.c"
}

# A compilation: processes that read files, write others and end.
work_compile()
{
	mkdir -p /mnt/built
	for i in 1 2 3 4 5 6 7 8; do
		compile_one $i || : > /tmp/broken
	done
	tcc -nostdlib -r -o /mnt/built/all.o /mnt/built/[1-8].o || : > /tmp/broken
	rm -rf /mnt/built
}

# A module is loaded for a while.
work_module()
{
	if [ -d /sys/module/ctag_test ]; then
		rmmod ctag_test
	else
		insmod /modules/ctag_test.ko || fail "insmod ctag_test"
		: > /tmp/loaded
	fi
}

# work: until /tmp/stop exists, some work every ten seconds, more of it in some hours
work()
{
	round=0
	rm -f /tmp/loaded /tmp/broken
	while [ ! -e /tmp/stop ]; do
		round=$((round + 1))
		work_files
		[ $((round / 240 % 2)) = 0 ] || work_compile
		[ $((RANDOM % 50)) != 0 ] || work_module
		sleep $((RANDOM % 10 + 5))
	done
	echo $round > /tmp/rounds
	[ ! -d /sys/module/ctag_test ] || rmmod ctag_test
}

# With icount: while a task waits for the disk, which takes time of the host, the idle guest
# skips ahead to its next timer. So a wait can seem to take minutes: no warning of that.
no_hung_tasks()
{
	echo 0 > /proc/sys/kernel/hung_task_timeout_secs
}

start_work()
{
	no_hung_tasks
	rm -f /tmp/stop
	work &
	worker=$!
}

# stop_work LEAST: fails if there were fewer rounds of work, a compilation failed, or no module
# was loaded
stop_work()
{
	: > /tmp/stop
	wait $worker
	note "$(cat /tmp/rounds) rounds of work"
	[ "$(cat /tmp/rounds)" -ge "$1" ] || fail "fewer than $1 rounds of work"
	[ -e /tmp/loaded ] || fail "no module was loaded"
	[ ! -e /tmp/broken ] || fail "tcc failed"
}
