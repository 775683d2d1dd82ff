# SPDX-License-Identifier: GPL-2.0-only
#
# The instructions of an event on its whole way to disk, with kmemtraced and with
# trace-cmd: from the allocation until the recorder has ended and the disk has all data.
# The test measures few and many pairs of kmalloc() and kfree(); the difference is the cost
# of the events without that of start and end.  Buffers are so large that nothing is lost.
# It fails if trace-cmd takes less than three times as many instructions, allocations
# included.  It also prints the cost of reporting as many events.
#
# While nothing runs, time jumps to the next timer, by minutes while the disk works: so
# the detector of hung tasks is off.  The kernel must copy eight bytes at a time: on a CPU
# that claims a fast REP MOVSB it uses that instruction, and QEMU counts it once for each
# byte.
#
# append: sysctl.vm.mem_profiling=0 sysctl.kernel.hung_task_timeout_secs=0 clearcpuid=erms,fsrm
# icount: yes
# cpus: 1
# modules: alloc_rate
# programs: kmemtraced kmemtrace_check kmemtrace-report trace-cmd
# memory: 3G
# disk: 2G
# timeout: 900

. /qt/lib.sh

KT=/sys/kernel/debug/kmemtrace
FEW=100000
MANY=900000

produce()
{
	insmod /modules/alloc_rate.ko rate=1000000000 pairs=$PAIRS || fail insmod
}

# timed COMMAND...: sets $took, in microseconds
timed()
{
	began=$(busy_time)
	"$@"
	sync
	took=$(($(busy_time) - began))
	rmmod alloc_rate
	if [ -d /mnt/t ]; then
		kmemtrace_check --all /mnt/t > /tmp/check || fail "$(tail -3 /tmp/check)"
	fi
	rm -rf /mnt/t*
	sync
}

with_trace_cmd()
{
	trace-cmd record --compression none -e kmem -b 300000 -o /mnt/t.dat \
		insmod /modules/alloc_rate.ko rate=1000000000 pairs=$PAIRS > /tmp/said 2>&1
	size=$(stat -c %s /mnt/t.dat)
	[ "$size" -gt $((PAIRS * 40)) ] || fail "trace-cmd: $(cat /tmp/said)"
	! grep -q 'overrun: [1-9]' /tmp/said || fail "trace-cmd lost some"
}

with_kmemtraced()
{
	kmemtraced --quiet --features "$FEATURES" --output /mnt/t 2> /tmp/said &
	DAEMON=$!
	until grep -q 1 $KT/enabled; do
		usleep 1000
	done
	produce
	kill -INT $DAEMON
	wait $DAEMON || fail "kmemtraced: $? $(cat /tmp/said)"
	size=$(stat -c %s /mnt/t/cpu0.out)
}

# chain NAME COMMAND: sets $cost to the cost of an event
chain()
{
	PAIRS=$FEW
	timed "$2"	# pays the costs that occur only once
	timed "$2"
	few=$took
	few_size=$size
	PAIRS=$MANY
	timed "$2"
	cost=$(((took - few) * 500 / (MANY - FEW)))
	note "$1: $cost instructions an event, $(((size - few_size) / 2 / (MANY - FEW))) bytes; start and end $((few / 1000 - cost * FEW / 500000)) ms"
}

test_beside_trace_cmd()
{
	mount_disk
	echo 1000 > $KT/subbufs
	mount -t tracefs none /sys/kernel/tracing 2> /dev/null
	size=0
	chain nothing produce
	nothing=$cost
	chain trace-cmd with_trace_cmd
	theirs=$((cost - nothing))
	for FEATURES in none all; do
		chain "kmemtraced, $FEATURES" with_kmemtraced
		note "trace-cmd takes $((theirs * 100 / (cost - nothing))) % of these instructions"
		all=$(((nothing + theirs) * 100 / cost))
		note "and $all % with the allocations themselves"
		[ $all -ge 300 ] || fail "$FEATURES: trace-cmd takes less than three times as many instructions"
	done
}

# report NAME COMMAND...: the instructions per event and the memory of a report
report()
{
	name=$1
	shift
	began=$(busy_time)
	time -v "$@" > /dev/null 2> /tmp/time || fail "$name: $(cat /tmp/time)"
	ended=$(busy_time)
	memory=$(sed -n 's/.*Maximum resident set size (kbytes): //p' /tmp/time)
	note "$name: $(((ended - began) * 500 / PAIRS)) instructions an event, $memory KiB"
}

test_report_beside_trace_cmd()
{
	mount | grep -q /mnt || mount_disk
	mount -t tracefs none /sys/kernel/tracing 2> /dev/null
	PAIRS=200000
	FEATURES=all
	echo 1000 > $KT/subbufs
	with_kmemtraced
	rmmod alloc_rate
	report kmemtrace-report kmemtrace-report /mnt/t
	report kmemtrace_check kmemtrace_check /mnt/t/cpu0.out
	echo 1 > $KT/subbufs
	with_trace_cmd
	rmmod alloc_rate
	report "trace-cmd report" trace-cmd report -i /mnt/t.dat
}

run_tests
