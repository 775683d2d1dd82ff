# SPDX-License-Identifier: GPL-2.0-only
#
# The instructions of recording the scheduler to disk, with kmonlog and with trace-cmd: two
# tasks wake each other, until the recorder has ended and the disk has all data.  The test
# measures few and many rounds; the difference is the cost of the rounds without that of
# start and end.  Nothing may be lost.
#
# While nothing runs, time jumps to the next timer, by minutes while the disk works: so the
# detector of hung tasks is off.
#
# append: sysctl.vm.mem_profiling=0 sysctl.kernel.hung_task_timeout_secs=0
# icount: yes
# cpus: 1
# programs: kmonlog trace-cmd
# memory: 2G
# disk: 2G
# timeout: 900

. /qt/lib.sh

FEW=20000
MANY=120000

timed()
{
	began=$(busy_time)
	"$@"
	sync
	took=$(($(busy_time) - began))
}

nothing()
{
	kmon pingpong $ROUNDS 0 > /tmp/pp || fail "$(cat /tmp/pp)"
	records=0
}

with_trace_cmd()
{
	trace-cmd record --compression none -e sched -b 200000 -o /mnt/t.dat \
		kmon pingpong $ROUNDS 0 > /tmp/said 2>&1 || fail "trace-cmd: $(tail -3 /tmp/said)"
	! grep -q 'overrun: [1-9]' /tmp/said || fail "trace-cmd lost some"
	[ "$(stat -c %s /mnt/t.dat)" -gt $((ROUNDS * 100)) ] || fail "$(cat /tmp/said)"
	records=$(awk '/entries:/ { n += $NF } /events:/ { n += $NF } END { print n + 0 }' /tmp/said)
}

with_kmonlog()
{
	kmonlog -b 64M -o /mnt/log --force -p /mnt/pids 2> /tmp/said &
	logger=$!
	until_true 20 grep -q '^kmonlog: started' /tmp/said || fail "$(cat /tmp/said)"
	kmon pingpong $ROUNDS 0 > /tmp/pp || fail "$(cat /tmp/pp)"
	kill -INT $logger
	wait $logger || fail "kmonlog: $? $(cat /tmp/said)"
	records=$(sed -n 's/^kmonlog: \([0-9]*\) records.*/\1/p' /tmp/said)
	[ "$records" -ge $((8 * ROUNDS)) ] || fail "$records records"
}

# chain NAME COMMAND: sets $cost to the instructions of a round
chain()
{
	ROUNDS=$FEW
	timed "$2"	# pays the costs that occur only once
	timed "$2"
	few=$took
	ROUNDS=$MANY
	timed "$2"
	cost=$(((took - few) * 1000 / (MANY - FEW)))
	note "$1: $cost instructions a round, $records records of $MANY rounds"
}

test_beside_trace_cmd()
{
	mount_disk
	mount -t tracefs none /sys/kernel/tracing 2> /dev/null
	echo -1 > /proc/sys/kernel/sched_rt_runtime_us
	# in both cases the two tasks let no other task run meanwhile
	echo 64M > /sys/module/kmon/parameters/ring_size || fail ring_size
	chain nothing nothing
	without=$cost
	chain trace-cmd with_trace_cmd
	theirs=$((cost - without))
	chain kmonlog with_kmonlog
	ours=$((cost - without))
	note "kmonlog: $((ours / 8)) instructions a record, to disk"
	note "trace-cmd takes $((theirs * 100 / ours)) % of the instructions of kmonlog"
	[ $theirs -gt $ours ] || fail "trace-cmd costs less"
}

run_tests
