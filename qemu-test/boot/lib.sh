# SPDX-License-Identifier: GPL-2.0-only
#
# What every guest test sources: results in KTAP, and the few things most of
# them do.  A case is a function named test_*; run_tests finds them in the
# script by name, runs each in a subshell, in order, and so knows the plan
# before the first runs.  State that one case leaves to the next goes through
# files in /tmp.
#
# In a case: `fail WHY` and `skip WHY` end it, `note WHAT` explains.  Reaching
# its end is success, whatever the last command returned.

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

# Is this a kernel that warns, and has reports in debugfs?
debug_kernel()
{
	zcat /proc/config.gz | grep -qx CONFIG_MEM_ALLOC_PROFILING_DEBUG=y
}

# needs_switch: without it nothing of this file can be tested.  With _DEBUG
# vm.mem_profiling is read-only, and what is profiled by default differs.
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

# The tag lines of /proc/allocinfo without the two header lines.
tags()
{
	sed 1,2d $INFO
}

# "bytes calls" of the lines that match an awk pattern, summed.
sum_tags()
{
	tags | awk -v p="$1" '$0 ~ p { b += $1; c += $2 } END { print b + 0, c + 0 }'
}

# A figure of /proc/meminfo
kilobytes()
{
	awk -v k="$1:" '$1 == k { print $2 }' /proc/meminfo
}

profiling()
{
	[ "$(stat -c %a $MP)" = 644 ] || skip "$MP is read-only here"
	echo "$1" > $MP || fail "cannot write $1 to $MP"
}

# Time that CPUs were not idle, in microseconds, of 1000 instructions each under icount:
# how long a disk takes is the host's affair.
busy_time()
{
	awk '/^cpu / { print ($2 + $3 + $4 + $7 + $8) * 10000 }' /proc/stat
}

# The disk the test declared, mounted on /mnt.
mount_disk()
{
	mount -t ext4 "${1:-/dev/vda}" "${2:-/mnt}" || fail "cannot mount ${1:-/dev/vda}"
}

loopback_up()
{
	ip link set lo up
}

# Gives back what the kernel keeps only because nobody asked for it: clean pages,
# partial slabs, dentries (one round takes their referenced bit, the next takes
# them), what kfree_rcu() holds back for seconds, and, as making a module's text
# read-only does that, vmap areas whose unmapping was put off.
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
	# the first takes the referenced bit of what the rounds themselves touched
	echo 2 > /proc/sys/vm/drop_caches
	echo 2 > /proc/sys/vm/drop_caches
	echo 2 > /proc/sys/vm/drop_caches
	sleep "${1:-1}"
}

# snapshot FILE: copy of all tags, "where bytes calls", one line a tag, sorted.  While
# the kernel is asked, no pipe holds anything, no process is between fork() and
# exec(), and what the last snapshot wrote is as it was: who wants the next one to
# weigh the same takes each of his files once before.
snapshot()
{
	# what files had before they were truncated is free after a grace period
	usleep 300000
	/qt/bin/readall $INFO /tmp/raw || fail "cannot read $INFO"
	sed 1,2d /tmp/raw | awk '{ b = $1; c = $2; $1 = $2 = ""; sub(/^ */, ""); sub(/ *$/, "");
		      B[$0] += b; C[$0] += c }
		    END { for (t in B) print t "\t" B[t] "\t" C[t] }' | sort > "$1"
}

# load KIND N: starts one and waits until it holds what it should; $LOAD is its
# process id, unload ends it.  $ON is the mask of the CPUs it may use.
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
	rm -f /tmp/slab_sizes	# a cache of its own
}

mod_unload()
{
	rmmod ctag_test || fail "rmmod ctag_test"
}

# A module that has nothing
fresh()
{
	[ ! -d $CTAG ] || mod_unload
	mod_load
}

cmd()
{
	echo "$*" > $CTAG/cmd || fail "ctag_test refused: $*"
}

# Lines of the sites of ctag_test that have more than nothing
site_lines()
{
	tags | awk '$4 == "[ctag_test]" && /func:make_/ && ($1 || $2)'
}

# Lines of ctag_test, whatever they have
mod_lines()
{
	tags | grep -F '[ctag_test]'
}

# even: nothing is live, and nothing is owed either. A line never shows less than
# zero, so what a line owes is seen only when something is allocated on it.
even()
{
	check_table || return 1
	cmd alloc all 8
	check_table || return 1
	cmd free all 8
	check_table
}

# "cache size" of each, with all that an object takes up. SLAB has no sysfs, and
# its slabinfo no name for a cache that was merged: then it has no debugging, and
# ctag_odd the size it asked for.
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

# check_rows MODULE TABLE AWK [NAME=VALUE...]: does AWK on each row of a file, or
# with - of stdin, that says what of a module is live.  AWK has bytes[], calls[] and
# seen[] of its lines in /proc/allocinfo, by "FILE:LINE func:FUNCTION" and by
# "func:FUNCTION" alone, and size[] of the slab caches.  What it calls wrong(), or
# says differs(), is left in notes, and then, or without rows, this is false.
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

# check_table [FILE [MODULE]]: what the module, or a copy of its table, says is
# live is what /proc/allocinfo says, site by site.  Leaves the differences in
# notes.
check_table()
{
	check_rows "${2:-ctag_test}" "${1:-$CTAG/table}" '
	{
		k = module ".c:" $2 " func:" $3
		# without kmem accounting there are no such caches
		if (!($6 in size)) sub(/-cg-/, "-", $6)
		want = $5 * ($6 == "bytes" ? 1 : size[$6])
		if (!seen[k] && (want || !gone))
			wrong("no line for " k)
		else if ($7 == "exact" && (bytes[k] != want || calls[k] != $4))
			differs(k, want, $4)
		else if ($7 == "atleast" && (bytes[k] < want || bytes[k] > want * 1.5))
			wrong(bytes[k] " bytes, want at least " want " and not half more")
	}' gone="${GONE:-0}"
}

# Memory that ends in other ways: ctag_life

life_load()
{
	insmod /modules/ctag_life.ko || fail "insmod ctag_life"
	rm -f /tmp/slab_sizes	# caches of its own
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

# The case is in a group of its own, /tmp/cg/a, until it puts $self elsewhere.
enter_cgroup()
{
	mount_cgroup
	mkdir /tmp/cg/a
	read -r self _ < /proc/self/stat
	echo "$self" > /tmp/cg/a/cgroup.procs
}

# conserved WHEN: what the references say is what the counters say, line by line,
# no counter is below zero (a line never shows that), and the report is one of a
# kernel in use.
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
		fail "$1: hardly anything is there: $(grep -E '^(bytes|calls):' /tmp/report | xargs)"
}

# The monitor of qemu, where the test declared it: what it answers is not read.
monitor()
{
	stty -F /dev/ttyS2 raw -echo
	# its greeting may have been echoed to it before that: end that line
	printf '\n%s\n' "$*" > /dev/ttyS2
}

# until_true SECONDS COMMAND...: waits for it to succeed
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

# Does everything take ten times as long, under what finds bugs of memory or races?
slow_kernel()
{
	zcat /proc/config.gz | grep -qxE 'CONFIG_(KASAN|KCSAN)=y'
}

# refuses FILE COMMAND ERROR [COLUMN]: a command about code tags is refused, with that in
# the kernel log
refuses()
{
	dmesg -c > /dev/null
	if printf '%s' "$2" > "$1" 2> /dev/null; then
		fail "accepted: $2"
	fi
	dmesg | grep -F "${1##*/}: " | grep -F "$3" | grep -qF "${4:-}" ||
		fail "$2: the log says: $(dmesg | tail -1)"
}

# refused_by FILE COMMAND ERROR [COLUMN]: and nothing is changed
refused_by()
{
	cat "$1" > /tmp/was
	refuses "$@"
	cat "$1" | cmp - /tmp/was || fail "changed by: $2"
}

# How fast a recorder can be without loss. The test has a produce RATE, for SECONDS_EACH,
# that is false if the CPUs fell back.

# trace_cmd_at EVENT RATE: trace-cmd records the event's whole system; into $lost what it
# lost, into $kept_up what produce said
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

# sustained COMMAND...: nothing was lost, and the CPUs did not fall back
sustained()
{
	"$@" && [ "$lost" -eq 0 ] && [ "$kept_up" -eq 0 ]
}

# climb RATE COMMAND...: the last rate at which nothing was lost, into $best; the first at
# which something was, or the CPUs fell back, twice, into $rate
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
