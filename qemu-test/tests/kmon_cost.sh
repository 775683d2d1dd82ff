# SPDX-License-Identifier: GPL-2.0-only
#
# The instructions of a record: kmon_add_data() alone, with the device closed and started,
# and a record of the scheduler compared with ftrace's sched_switch.  It fails if a record
# costs more than a quarter of ftrace's event, or if anything is lost.  No reader runs:
# kmon_chain.sh has the cost of the way to disk.
#
# append: sysctl.vm.mem_profiling=0
# icount: yes
# cpus: 1
# modules: kmon_feed
# memory: 1G

. /qt/lib.sh

FT=/sys/kernel/tracing
ROUNDS=5000

# alone NAME: measures kmon_add_data() into /tmp/alone.NAME
alone()
{
	dmesg -c > /dev/null
	insmod /modules/kmon_feed.ko cost=1 || fail insmod
	rmmod kmon_feed
	dmesg | sed -n 's/.*kmon_feed: cost //p' > "/tmp/alone.$1"
	note "$1: $(cat "/tmp/alone.$1" | xargs)"
}

# pingpong NAME: measures a round of two switches into /tmp/round.NAME
pingpong()
{
	kmon pingpong $ROUNDS 0 > /tmp/pp || fail "$(cat /tmp/pp)"
	kmon pingpong $ROUNDS 0 > /tmp/pp || fail "$(cat /tmp/pp)"
	awk -v n=$ROUNDS '{ print int($3 / n) }' /tmp/pp > "/tmp/round.$1"
	note "$1: a round is $(cat "/tmp/round.$1") instructions"
}

# started COMMAND...: runs it while an instance is started
started()
{
	kmon hold 1 1000000 > /tmp/held &
	holder=$!
	until_true 20 grep -q ready /tmp/held || fail hold
	"$@"
	kill -INT $holder
	wait $holder
	tail -1 /tmp/held > /tmp/lost
}

# more NAME EVENTS: the cost of each of EVENTS events in a round
more()
{
	echo $((($(cat "/tmp/round.$1") - $(cat /tmp/round.nothing)) / $2))
}

test_alone()
{
	alone closed
	started alone started
	alone "closed again"
	eq "closed again" "$(cat "/tmp/alone.closed again")" "$(cat /tmp/alone.closed)"
	# a branch that is not taken, in a loop
	awk '$2 > 8 { bad = 1 } END { exit bad || NR != 2 }' /tmp/alone.closed ||
		fail "it costs something while closed"
	awk '$2 < 20 { bad = 1 } END { exit bad || NR != 2 }' /tmp/alone.started ||
		fail "it does nothing while started"
}

test_beside_ftrace()
{
	[ -d $FT/events ] || mount -t tracefs none $FT || fail tracefs
	echo -1 > /proc/sys/kernel/sched_rt_runtime_us
	pingpong nothing
	# all records have room, so that none is only counted as lost
	echo 4M > /sys/module/kmon/parameters/ring_size || fail ring_size
	started pingpong kmon
	echo 256K > /sys/module/kmon/parameters/ring_size
	eq "lost" "$(cat /tmp/lost)" "lost 0"
	echo 50000 > $FT/buffer_size_kb
	echo 1 > $FT/events/sched/sched_switch/enable || fail ftrace
	pingpong ftrace
	echo 0 > $FT/events/sched/sched_switch/enable
	pingpong again
	ftrace=$(more ftrace 2)
	ours=$(more kmon 8)
	note "instructions a record: $ours; ftrace's sched_switch: $ftrace"
	[ $ftrace -gt 200 ] || fail "ftrace records nothing"
	[ $ours -gt 20 ] || fail "nothing is recorded"
	note "$((ours * 1000 / ftrace)) thousandths of ftrace"
	[ $((ours * 1000 / ftrace)) -le 250 ] || fail "more than a quarter"
	# after the close, the cost is as if the device had never been open
	d=$(($(cat /tmp/round.again) - $(cat /tmp/round.nothing)))
	[ ${d#-} -le 20 ] || fail "$d instructions a round remain"
}

run_tests
