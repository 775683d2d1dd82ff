# SPDX-License-Identifier: GPL-2.0-only
#
# Two tasks wake each other, a pair on each of two CPUs.  The test finds how many of their
# rounds per second get to disk without loss, with kmonlog and with trace-cmd record -e
# sched, both with 8 MiB of buffers and the same disk.  The rate rises by a fifth until
# events are lost, or until the CPUs cannot switch that fast.  The figures are notes,
# because they depend on the host; but kmonlog must reach the rate of trace-cmd.  The
# clock is the TSC, see kmemtrace_rate.
#
# append: sysctl.vm.mem_profiling=0 tsc=reliable
# programs: kmonlog kmonparse trace-cmd
# memory: 2G
# disk: 2G
# timeout: 900

. /qt/lib.sh

SECONDS_EACH=4
RECORDS=8	# a round: each of the two is woken, queued, dequeued, switched to

# produce RATE: fails if the CPUs were slower by more than a tenth
produce()
{
	set -- "$1" $(kmon rounds "$1" $SECONDS_EACH)
	[ $# = 3 ] || fail "kmon rounds: $*"
	rounds=$2
	ms=$3
	[ "$ms" -lt $((SECONDS_EACH * 1100)) ]
}

lost_by_kmonlog()
{
	rm -f /mnt/log
	kmonlog -b 8M -o /mnt/log -p /mnt/pids 2> /tmp/said &
	LOGGER=$!
	until_true 20 grep -q '^kmonlog: started' /tmp/said || fail "$(cat /tmp/said)"
	produce "$1"
	kept_up=$?
	kill -INT $LOGGER
	wait $LOGGER
	code=$?
	[ $code = 0 ] || [ $code = 2 ] || fail "kmonlog: $code $(cat /tmp/said)"
	set -- $(sed -n 's/^kmonlog: \([0-9]*\) records, [0-9]* bytes; \([0-9]*\) records lost.*/\1 \2/p' /tmp/said)
	[ $# = 2 ] || fail "kmonlog says nothing: $(cat /tmp/said)"
	lost=$2
	# sometimes the tick preempts one of them before it sleeps
	[ $(($1 + lost)) -ge $((RECORDS * rounds * 9 / 10)) ] ||
		fail "$1 records and $lost lost of $rounds rounds"
}

lost_by_trace_cmd()
{
	trace_cmd_at sched/sched_switch "$1"
	[ "$lost" -gt 0 ] || [ "$(stat -c %s /mnt/t.dat)" -gt $((rounds * 100)) ] ||
		fail "trace-cmd: $(cat /tmp/said)"
}

# lossless NAME RATE COMMAND: prints the rounds a second without loss
lossless()
{
	name=$1
	shift
	climb "$@"
	note "$name: $((best * 2)) rounds, $((best * 2 * RECORDS)) records, a second without loss; at $((rate * 2)), $lost lost in $ms ms"
}

test_beside_trace_cmd()
{
	mount_disk
	mount -t tracefs none /sys/kernel/tracing 2> /dev/null
	[ -d /sys/kernel/tracing/events/sched ] || fail "no tracefs"
	lossless trace-cmd 500 lost_by_trace_cmd
	theirs=$best
	[ "$theirs" -gt 0 ] || fail "trace-cmd records nothing without loss"
	# start a step below trace-cmd, because the host may be slower now
	lossless kmonlog $((theirs * 5 / 6)) lost_by_kmonlog
	note "$((best * 100 / theirs)) % of the rate of trace-cmd"
	[ $best -gt 0 ] || fail "kmonlog loses where trace-cmd does not"
	kmonparse /mnt/log | tail -n 1 | grep -q '^cpu=[01],ts=' || fail "no log"
}

run_tests
