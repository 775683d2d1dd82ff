# SPDX-License-Identifier: GPL-2.0-only
#
# The events per second that get to disk without loss: kmemtraced and trace-cmd, two CPUs,
# the same buffers for each CPU, the same disk.  With 4 MiB of buffers the rate rises by a
# fifth until events are lost, or until the CPUs cannot allocate that fast.  At full
# speed, with room for all events, the test measures the wall-clock time until the disk
# has them.  The figures are notes, because they depend on the host: on a busy host the
# figure of kmemtraced can be the smaller one.  kmemtrace_chain counts instructions and
# has a verdict.
#
# The clock is the TSC, as on a PC.  By default this guest reads CLOCK_MONOTONIC from an
# HPET, a device of QEMU's, which takes longer than the rest of an event.  The CPU does not
# claim a fast REP MOVSB: TCG moves one byte at a time with it, and the kernel's other copy
# loop moves eight.
#
# append: sysctl.vm.mem_profiling=0 tsc=reliable clearcpuid=erms,fsrm
# modules: alloc_rate
# programs: kmemtraced kmemtrace_check trace-cmd
# memory: 3G
# disk: 2G
# timeout: 1500

. /qt/lib.sh

KT=/sys/kernel/debug/kmemtrace
SECONDS_EACH=4

# produce RATE: fails if the CPUs were slower by more than a tenth
produce()
{
	dmesg -c > /dev/null
	insmod /modules/alloc_rate.ko "rate=$1" seconds=$SECONDS_EACH || fail insmod
	rmmod alloc_rate
	set -- "$1" $(dmesg | sed -n 's/.*alloc_rate: \([0-9]* [0-9]*\)$/\1/p' | head -1)
	[ $# -eq 3 ] || fail "alloc_rate says nothing"
	ms=$3
	[ "$3" -lt $((SECONDS_EACH * 1100)) ]
}

lost_by_kmemtrace()
{
	rm -rf /mnt/t
	kmemtraced --quiet --features "$FEATURES" --output /mnt/t 2> /tmp/said &
	DAEMON=$!
	until_true 20 grep -q 1 $KT/enabled || fail "$(cat /tmp/said)"
	produce "$1"
	kept_up=$?
	kill -INT $DAEMON
	wait $DAEMON
	code=$?
	[ $code -eq 0 ] || [ $code -eq 2 ] || fail "kmemtraced: $code $(cat /tmp/said)"
	lost=$(awk '$1 == "lost" { n += $3 } END { print n + 0 }' /mnt/t/header)
}

# lossless NAME RATE COMMAND...: prints the events a second without loss
lossless()
{
	name=$1
	shift
	climb "$@"
	note "$name: $((best * 4)) events a second without loss; at $((rate * 4)), $lost lost in $ms ms"
}

test_beside_trace_cmd()
{
	mount_disk
	mount -t tracefs none /sys/kernel/tracing 2> /dev/null
	[ -d /sys/kernel/tracing/events/kmem ] || fail "no tracefs"
	until_true 20 grep -qx tsc /sys/devices/system/clocksource/clocksource0/current_clocksource ||
		fail "the clock is not the TSC"
	lossless trace-cmd 10000 trace_cmd_at kmem/kmalloc
	theirs=$best
	[ "$theirs" -gt 0 ] || fail "trace-cmd records nothing without loss"
	for FEATURES in none all; do
		lossless "kmemtraced, $FEATURES" $theirs lost_by_kmemtrace
		note "$((best * 100 / theirs)) % of the rate of trace-cmd"
	done
	kmemtrace_check --all /mnt/t > /tmp/check || fail "$(tail -3 /tmp/check)"
	rm -rf /mnt/t /mnt/t.dat*
}

# wall: the time of the host in hundredths of a second
wall()
{
	read -r up _ < /proc/uptime
	echo "${up%.*}${up#*.}"
}

flat_out()
{
	insmod /modules/alloc_rate.ko rate=1000000000 "pairs=$PAIRS" || fail insmod
}

kmemtraced_flat_out()
{
	kmemtraced --quiet --features "$FEATURES" --output /mnt/t 2> /tmp/said &
	DAEMON=$!
	until_true 20 grep -q 1 $KT/enabled || fail "$(cat /tmp/said)"
	flat_out
	kill -INT $DAEMON
	wait $DAEMON || fail "kmemtraced: $? $(cat /tmp/said)"
}

trace_cmd_flat_out()
{
	trace-cmd record --compression none -e kmem -b 102400 -o /mnt/t.dat \
		insmod /modules/alloc_rate.ko rate=1000000000 "pairs=$PAIRS" > /tmp/said 2>&1
	[ -s /mnt/t.dat ] || fail "trace-cmd: $(cat /tmp/said)"
	! grep -q 'overrun: [1-9]' /tmp/said || fail "trace-cmd lost some"
}

FEW=100000
MANY=900000
ROUNDS=5

# timed PAIRS COMMAND: sets $took to the time until the disk has all data
timed()
{
	PAIRS=$1
	rm -rf /mnt/t /mnt/t.dat*
	sync
	began=$(wall)
	"$2"
	sync
	took=$(($(wall) - began))
	rmmod alloc_rate
}

# least NAME COMMAND: measures few and many pairs; keeps the shortest times in /tmp/NAME
least()
{
	few=
	many=
	[ ! -e "/tmp/$1" ] || read -r few many < "/tmp/$1"
	timed $FEW "$2"
	[ "${few:-$took}" -lt "$took" ] || few=$took
	timed $MANY "$2"
	[ "${many:-$took}" -lt "$took" ] || many=$took
	echo "$few $many" > "/tmp/$1"
}

# speed NAME: sets $speed to the events a second, without the time of start and end
speed()
{
	read -r few many < "/tmp/$1"
	[ "$many" -gt "$few" ] || fail "$1: more events take no longer"
	speed=$(((MANY - FEW) * 2 * $(nproc) * 100 / (many - few)))
	note "$1: $speed events a second"
}

test_flat_out()
{
	mount | grep -q /mnt || mount_disk
	mount -t tracefs none /sys/kernel/tracing 2> /dev/null
	echo 400 > $KT/subbufs || fail subbufs
	# In turns, so that a slow phase of the host affects all of them.
	for round in $(seq $ROUNDS); do
		least trace-cmd trace_cmd_flat_out
		for FEATURES in none all; do
			least "kmemtraced-$FEATURES" kmemtraced_flat_out
			kmemtrace_check --all /mnt/t > /tmp/check || fail "$(tail -3 /tmp/check)"
		done
	done
	speed trace-cmd
	theirs=$speed
	for FEATURES in none all; do
		speed "kmemtraced-$FEATURES"
		note "$((speed * 100 / theirs)) % of the speed of trace-cmd"
		[ "$speed" -gt "$theirs" ] || fail "$FEATURES: slower than trace-cmd"
	done
}

run_tests
