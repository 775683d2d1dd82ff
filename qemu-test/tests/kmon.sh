# SPDX-License-Identifier: GPL-2.0-only
#
# /dev/kmon: the settings that the device accepts, the contents of its records, and that the
# records read and lost add up to the records written.
#
# append: sysctl.vm.mem_profiling=1 rcupdate.rcu_cpu_stall_timeout=150
# modules: kmon_feed ctag_test ctag_keep
# programs: kmonlog kmonparse
# memory: 1G
# timeout: 450

. /qt/lib.sh

PARAMS=/sys/module/kmon/parameters
TAGS=/sys/kernel/debug/kmon/tags

# On a kernel that is ten times slower, a tenth of the records is as hard a test.
PART=1
! slow_kernel || PART=10

# start_log NAME OPTION...: runs kmonlog, output in /tmp/NAME, messages in /tmp/NAME.said
start_log()
{
	name=$1
	shift
	rm -f /tmp/$name /tmp/$name.*
	kmonlog -o /tmp/$name -p /tmp/$name.pids "$@" 2> /tmp/$name.said &
	eval "LOG_$name=$!"
	# a failed case must not leave a kmonlog to the next
	LOGS="$LOGS $!"
	trap 'echo 256K > $PARAMS/ring_size; kill -KILL $LOGS 2> /dev/null' EXIT
	until_true 20 recording || fail "kmonlog does not begin: $(cat /tmp/$name.said)"
}

recording()
{
	grep -q '^kmonlog: started' /tmp/$name.said
}

# end_log NAME [CODE...]: ends kmonlog, which must exit with one of CODE; sets $read, $lost
end_log()
{
	name=$1
	eval "pid=\$LOG_$name"
	shift
	kill -INT $pid
	wait $pid
	code=$?
	case " ${*:-0} " in
	*" $code "*) ;;
	*) fail "kmonlog ended with $code: $(cat /tmp/$name.said)" ;;
	esac
	set -- $(sed -n 's/^kmonlog: \([0-9]*\) records, [0-9]* bytes; \([0-9]*\) records lost.*/\1 \2/p' /tmp/$name.said)
	[ $# = 2 ] || fail "kmonlog says nothing: $(cat /tmp/$name.said)"
	read=$1
	lost=$2
}

# feed OPTION...: runs kmon_feed; sets $written, $dropped and $refused
feed()
{
	dmesg -c > /dev/null
	insmod /modules/kmon_feed.ko "$@" || fail "insmod kmon_feed"
	fed_up
}

# fed_up: unloads kmon_feed, and sets $written, $dropped and $refused from its message
fed_up()
{
	rmmod kmon_feed
	dmesg | sed -n 's/.*kmon_feed: CPU/# CPU/p'
	set -- $(dmesg | sed -n 's/.*kmon_feed: \([0-9]* [0-9]* [0-9]*\)$/\1/p')
	[ $# = 3 ] || fail "kmon_feed says nothing"
	written=$1
	dropped=$2
	refused=$3
}

# check_feed NAME: counts the records of kmon_feed in the log, and the numbers that are
# missing between them
check_feed()
{
	kmon check /tmp/$1 > /tmp/checked || fail "$1: $(cat /tmp/checked)"
	read -r fed gaps < /tmp/checked
}

test_modes()
{
	eq "mode of the device" "$(stat -c %a /dev/kmon)" 600
	eq "mode of the tags" "$(stat -c %a $TAGS)" 400
	for p in ring_size flush_hz; do
		eq "mode of $p" "$(stat -c %a $PARAMS/$p)" 600
	done
	su nobody -s /bin/sh -c 'cat /dev/kmon' 2> /dev/null && fail "user nobody may read"
}

test_parameters()
{
	eq ring_size "$(cat $PARAMS/ring_size)" 262144
	eq flush_hz "$(cat $PARAMS/flush_hz)" 100
	for junk in 0 -1 x 65536 131073 196608 128M 1G 18446744073709551616 "256k x" ""; do
		echo "$junk" > $PARAMS/ring_size && fail "ring_size takes '$junk'"
	done 2> /dev/null
	for junk in 0 -1 x 1001 4294967297 ""; do
		echo "$junk" > $PARAMS/flush_hz && fail "flush_hz takes '$junk'"
	done 2> /dev/null
	eq ring_size "$(cat $PARAMS/ring_size)" 262144
	eq flush_hz "$(cat $PARAMS/flush_hz)" 100
	echo 1M > $PARAMS/ring_size || fail "1M"
	eq ring_size "$(cat $PARAMS/ring_size)" 1048576
	echo 256K > $PARAMS/ring_size || fail "256K"
}

test_bounds()
{
	kmon bounds || fail "see above"
}

# A record, byte by byte: CPU, time, size, blob
test_header()
{
	start_log a --sources none
	before=$(awk '{ printf "%d", $1 * 1000 }' /proc/uptime)
	feed nr=1 size=300
	after=$(awk '{ printf "%d", $1 * 1000 }' /proc/uptime)
	end_log a
	eq written $written "$(nproc)"
	eq "bytes" "$(stat -c %s /tmp/a)" $((written * 311))
	check_feed a
	at=0
	while [ $at -lt $written ]; do
		set -- $(dd if=/tmp/a bs=311 skip=$at count=1 2> /dev/null | od -A n -t u1 -v | xargs)
		cpu=$1
		ms=$((($2 + $3 * 256 + $4 * 65536 + ($5 << 24) + ($6 << 32) + ($7 << 40) + ($8 << 48) + ($9 << 56)) / 1000000))
		shift 9
		eq "size" $(($1 + $2 * 256)) 300
		eq "type" $3 200
		# uptime is in hundredths
		[ $ms -ge $((before - 10)) ] && [ $ms -le $((after + 10)) ] ||
			fail "time $ms ms, between $before and $after"
		echo $cpu
		at=$((at + 1))
	done > /tmp/cpus || fail "$(cat /tmp/cpus)"
	eq "CPUs" "$(sort -n /tmp/cpus | xargs)" "$(seq 0 $(($(nproc) - 1)) | xargs)"
}

test_sizes()
{
	start_log a --sources none
	feed nr=2 size=65535
	eq "of the largest: written" $written $((2 * $(nproc)))
	eq "of the largest: refused" $refused 0
	feed nr=3 size=65536
	eq "of a larger one: written" $written 0
	eq "of a larger one: refused" $refused $((3 * $(nproc)))
	end_log a
	eq "records" $read $((2 * $(nproc)))
	eq "bytes" "$(stat -c %s /tmp/a)" $((read * 65546))
	grep -q "$((3 * $(nproc))) refused" /tmp/a.said || fail "$(cat /tmp/a.said)"
	# no instance is open
	feed nr=5
	eq "while it is closed" "$written $dropped" "0 0"
}

# Rings with room for the longest time that the host may stop a CPU
roomy()
{
	echo 16M > $PARAMS/ring_size || fail ring_size
	trap 'echo 256K > $PARAMS/ring_size; kill -KILL $LOGS 2> /dev/null' EXIT
}

# said_losses NAME: exit code and advice fit the log: with losses or without
said_losses()
{
	advised=$(grep -c '^kmonlog: a larger buffer loses less' /tmp/$1.said)
	if [ "$lost" -gt 0 ]; then
		eq "$1: exit code, advice after $lost lost" "$code $advised" "2 1"
	else
		eq "$1: exit code, advice without losses" "$code $advised" "0 0"
	fi
}

# conserved_by NAME: records read and lost add up to those written
conserved_by()
{
	end_log $1 0 2
	said_losses $1
	check_feed $1
	note "$1: $read read, $lost lost, of which $dropped in the rings"
	eq "$1: records" "$fed" "$read"
	eq "$1: read and lost" $((read + lost)) $((written + dropped))
	[ "$gaps" -le "$lost" ] || fail "$1: $gaps missing, $lost lost"
}

test_a_million_a_cpu()
{
	for try in 1 2; do
		start_log a --sources none
		feed nr=$((1000000 / PART))
		eq "refused" $refused 0
		eq "fed" $((written + dropped)) $((1000000 / PART * $(nproc)))
		conserved_by a
	done
}

test_three_instances()
{
	start_log a --sources none -b 4k
	start_log b --sources none
	start_log c --sources none -b 64M
	feed nr=$((1000000 / PART))
	for log in a b c; do
		conserved_by $log
	done
}

# Slow enough that no record is lost
test_nothing_is_lost()
{
	roomy
	start_log a --sources none -b 16M
	feed nr=$((50000 / PART)) pause=500
	end_log a
	check_feed a
	eq "lost" "$lost $dropped $gaps" "0 0 0"
	eq "read" $read $written
	eq "fed" $written $((50000 / PART * $(nproc)))
}

# Records from a task, a softirq, an interrupt and an NMI that interrupt each other
test_contexts()
{
	roomy
	start_log a --sources none -b 16M
	feed nr=$((40000 / PART)) pause=400 mix=1
	end_log a
	check_feed a
	eq "lost" "$lost $dropped $gaps" "0 0 0"
	eq "read" $read $written
	eq "of tasks" "$(kmonparse /tmp/a | grep -c 'type=200,size=10,data=00')" $((40000 / PART * $(nproc)))
	contexts="1 2 3"
	[ "$(uname -m)" = x86_64 ] || contexts="1 2"	# only x86 has NMIs here
	for context in $contexts; do
		n=$(kmonparse /tmp/a | grep -c "type=200,size=10,data=0$context")
		note "context $context: $n"
		[ "$n" -gt 10 ] || fail "context $context: $n"
	done
	# and at full speed
	echo 256K > $PARAMS/ring_size
	start_log a --sources none
	feed nr=$((200000 / PART)) mix=1
	conserved_by a
}

# rounds NAME A B N: checks the order of the records of N rounds, in which tasks A and B do
# nothing but wake each other
rounds()
{
	kmonparse --sort /tmp/$1 | awk -F, -v a="$2" -v b="$3" -v want="$4" '
	function op(s) { sub(/^cpu=[0-9]+,ts=-?[0-9]+,/, "", s); return s }
	{ s = op($0) }
	s == "op=WAK,from=" a ",to=" b { if (state == 0) { state = 1; next } }
	s == "op=QUE,pid=" b { if (state == 1) { state = 2; next } }
	s == "op=DEQ,pid=" a { if (state == 2) { state = 3; next } }
	s == "op=SWC,prev=" a ",next=" b { if (state == 3) { state = 4; next } }
	s == "op=WAK,from=" b ",to=" a { if (state == 4) { state = 5; next } }
	s == "op=QUE,pid=" a { if (state == 5) { state = 6; next } }
	s == "op=DEQ,pid=" b { if (state == 6) { state = 7; next } }
	s == "op=SWC,prev=" b ",next=" a { if (state == 7) { state = 0; n++; next } }
	# leave out the stopper, which preempts all, and other tasks that they may wake
	s ~ "=SWC," && !(s ~ "=" a "(,|$)" && s ~ "=" b "(,|$)") { away++; next }
	s ~ "=WAK,from=(" a "|" b ")," && s !~ "to=(" a "|" b ")$" { next }
	# leave out their start and end
	s ~ "=" a "(,|$)" || s ~ "=" b "(,|$)" { if (n && n < want - 1) { print "# round " n ", step " state ": " s; bad++ } }
	END { print "# " n " whole rounds, " away + 0 " switches to and from others"; exit bad || n < want - 1 || n > want }' ||
		fail "the records are not those of the rounds"
}

test_pingpong()
{
	roomy
	echo -1 > /proc/sys/kernel/sched_rt_runtime_us
	start_log a -b 16M
	set -- $(kmon pingpong $((5000 / PART)) 1)
	[ $# = 3 ] || fail "pingpong: $*"
	end_log a
	eq lost $lost 0
	rounds a $1 $2 $((5000 / PART))
	echo 950000 > /proc/sys/kernel/sched_rt_runtime_us
}

# A pid of more than two bytes
test_wide_pids()
{
	roomy
	echo 4194304 > /proc/sys/kernel/pid_max || fail pid_max
	echo -1 > /proc/sys/kernel/sched_rt_runtime_us
	start_log a -b 16M
	set -- $(kmon pingpong $((2000 / PART)) 1 4000000)
	eq "pid" "$2" 4000000
	end_log a
	eq lost $lost 0
	rounds a $1 $2 $((2000 / PART))
	# records of both widths
	od -A n -t x1 -v -w1 /tmp/a | awk '
	{ b[n++] = $1 }
	END { for (at = 0; at < n; at += 11 + hex(b[at + 9]) + 256 * hex(b[at + 10]))
		c[b[at + 11]]++
	      for (t = 1; t <= 8; t++)
		if (!c["0" t]) { print "# no record of type " t; bad++ }
	      exit bad }
	function hex(s) { return (index("0123456789abcdef", substr(s, 1, 1)) - 1) * 16 +
				 index("0123456789abcdef", substr(s, 2, 1)) - 1 }' ||
		fail "the records do not have both widths"
	grep -q '^4000000 ' /tmp/a.pids || fail "not in the pid file"
	echo 950000 > /proc/sys/kernel/sched_rt_runtime_us
}

# The run time of a task, by its records and by the scheduler: schedstat or, in a kernel
# without it, the task's clock, which is the same sum.  If the host stops a CPU in the
# middle of a switch, the two clocks charge that time to different tasks: then try again.
test_run_time()
{
	! slow_kernel || skip "a switch takes longer than the time to be measured"
	roomy
	if zcat /proc/config.gz | grep -qx CONFIG_SCHEDSTATS=y; then
		[ -e /proc/self/schedstat ] || fail "no schedstat, with CONFIG_SCHEDSTATS"
	fi
	for try in 1 2 3 4 5; do
		start_log a -b 16M --force
		kmon burn 3000 > /tmp/schedstat 2> /tmp/said || fail "burn: $(cat /tmp/schedstat)"
		note "the scheduler's figures are from $(cut -d ' ' -f 2- /tmp/said | sort -u)"
		end_log a
		eq lost $lost 0
		kmonparse --summary --json /tmp/a > /tmp/summary || fail "kmonparse"
		eq "tasks" "$(wc -l < /tmp/schedstat)" 5
		! times_agree || return 0
	done
	fail "more than 1 % in each of five tries"
}

times_agree()
{
	worst=0
	while read -r pid ran _; do
		ours=$(run_time $pid)
		[ -n "$ours" ] || fail "$pid is not in the summary"
		permille=$(((ours - ran) * 1000 / ran))
		note "$pid: ran $ran ns, by its records $ours, $permille thousandths more"
		[ ${permille#-} -le $worst ] || worst=${permille#-}
	done < /tmp/schedstat
	[ $worst -le 10 ]
}

run_time()
{
	sed -n "s/^{\"pid\":$1,.*\"run\":\([0-9]*\),.*/\1/p" /tmp/summary
}

test_allocations()
{
	roomy
	fresh
	start_log a --sources alloc -b 16M --sites /tmp/a.sites
	change kmalloc_100 200 150
	change kmalloc_16384 20 10
	change cache_bulk 30 20
	change alloc_pages_3 20 10
	change pages_bulk 30 20
	end_log a
	eq lost $lost 0
	kmonparse --sort /tmp/a > /tmp/a.text || fail kmonparse
	# on a debug kernel the size includes the metadata of an object
	object=$(cat /sys/kernel/slab/kmalloc-128/slab_size)
	recorded kmalloc_100 "$object" 200 150
	# the object and its pages, at one line and one address
	recorded kmalloc_16384 16384 40 20
	# bulk allocations of four objects each
	recorded cache_bulk 200 120 80
	recorded alloc_pages_3 32768 20 10
	recorded pages_bulk 4096 120 80
	mod_unload
}

# change SITE MORE FEWER
change()
{
	cmd alloc $1 $2
	cmd free $1 $3
}

# recorded SITE BYTES ALLOCATED FREED: /tmp/a.text has these numbers for the line of SITE
recorded()
{
	site=$(awk -v f="func:make_$1" '$NF == f { print $1 }' /tmp/a.sites)
	[ -n "$site" ] || fail "$1 is no line: $(wc -l < /tmp/a.sites)"
	got=$(awk -F, -v site="op=ALC,site=$site," -v bytes="bytes=$2" '
	index($0, site) { n++; if ($5 != bytes) bad++; split($6, p, "="); live[p[2]]++ }
	/op=FRE,/ { split($4, p, "="); if (live[p[2]] > 0) { freed++; live[p[2]]-- } }
	END { print n + 0, freed + 0, bad + 0 }' /tmp/a.text)
	eq "$1: allocated, freed, not of $2 bytes" "$got" "$3 $4 0"
}

# The allocations of a task lie between the switch to it and the next switch on that CPU
test_one_time_line()
{
	roomy
	fresh
	start_log a --sources sched,alloc -b 16M --sites /tmp/a.sites
	sh -c 'echo $$ > /tmp/pid; usleep 20000
	       for n in 1 2 3 4 5; do echo "alloc kmalloc_100 40 task"; usleep 20000; done > $0' $CTAG/cmd ||
		fail "ctag_test refused"
	end_log a
	eq lost $lost 0
	pid=$(cat /tmp/pid)
	site=$(awk '$NF == "func:make_kmalloc_100" { print $1 }' /tmp/a.sites)
	[ -n "$site" ] || fail "no such line"
	kmonparse --sort /tmp/a | awk -F, -v pid="$pid" -v site="op=ALC,site=$site," '
	/op=SWC,/ { split($5, next_, "="); runs[$1] = next_[2]; if (next_[2] == pid) came++ }
	index($0, site) { n++; if (runs[$1] != pid) elsewhere++ }
	END { print "# switches to it: " came + 0 ", " n + 0 " allocations, " elsewhere + 0 " while it did not run"
	      exit came < 5 || n != 200 || elsewhere > 0 }' || fail "not on one time line"
	grep -q "^$pid " /tmp/a.pids || fail "it has no name"
	mod_unload
}

# An interrupt wakes a task: the waker is not the task that it interrupted
test_woken_by_interrupt()
{
	roomy
	start_log a -b 16M
	set -- $(kmon woken 200 1)
	[ $# = 3 ] || fail "woken: $*"
	end_log a
	eq lost $lost 0
	kmonparse /tmp/a | awk -F, -v parent="$1" -v burner="$2" -v sleeper="$3" '
	/op=WAK,/ && $5 == "to=" sleeper { split($4, f, "="); from[f[2]]++ }
	/op=SWC,/ && $4 == "prev=" burner && $5 == "next=" sleeper { took_over++ }
	END { for (f in from) print "# woken " from[f] " times by " (f == parent ? "its parent" : f)
	      print "# " took_over + 0 " times in the middle of the other"
	      for (f in from) if (f != 0 && f != parent) bad++
	      exit bad || from[0] < 200 || took_over < 100 }' || fail "not by interrupts"
}

# reads_at HZ: sets $reads to the number of reads that returned records in three seconds,
# while records are added every few milliseconds
reads_at()
{
	echo "$1" > $PARAMS/flush_hz || fail "flush_hz $1"
	insmod /modules/kmon_feed.ko nr=4000 pause=1 &
	feeder=$!
	set -- "$1" $(kmon rate 3000)
	[ $# = 3 ] || fail "rate: $*"
	wait $feeder || fail insmod
	rmmod kmon_feed
	note "flush_hz $1: $2 reads of $3 records"
	reads=$2
	[ "$3" -gt $((500 / PART)) ] || fail "hardly any records"
}

test_flush_hz()
{
	trap 'echo 100 > $PARAMS/flush_hz' EXIT
	reads_at 2
	[ "$reads" -ge 4 ] || fail "twice a second: $reads in three seconds"
	[ "$reads" -le 12 ] || fail "twice a second: $reads in three seconds"
	reads_at 100
	[ "$reads" -ge 100 ] || fail "a hundred times a second: $reads in three seconds"
	[ "$reads" -le 420 ] || fail "a hundred times a second: $reads in three seconds"
}

# Several processes share one instance: each record goes to one of them, and the last
# close() ends the instance
test_shared_by_fork()
{
	settle
	kmon shared > /tmp/shared || fail "$(cat /tmp/shared)"
	settle
	eq "left" "$(sum_tags 'func:(make_ring|kmon_open|set_size)')" "0 0"
}

second_feeds()
{
	grep -qsx kmon_feed/1 /proc/[0-9]*/comm
}

# cpu1_blinks TIMES: CPU 1 goes offline and online while $feeder writes
cpu1_blinks()
{
	n=0
	under_load=0
	while [ $n -lt $1 ]; do
		echo 0 > /sys/devices/system/cpu/cpu1/online || fail offline
		usleep 200000
		echo 1 > /sys/devices/system/cpu/cpu1/online || fail online
		! kill -0 $feeder 2> /dev/null || under_load=$((under_load + 1))
		usleep 200000
		n=$((n + 1))
	done
}

# A CPU goes offline and online while other CPUs write
test_hotplug_under_load()
{
	start_log a --sources none
	dmesg -c > /dev/null
	insmod /modules/kmon_feed.ko nr=$((3000000 / PART)) &
	feeder=$!
	# it starts threads for the CPUs that are online at that time
	until_true 60 second_feeds || fail "no thread"
	cpu1_blinks 5
	wait $feeder || fail insmod
	fed_up
	note "$under_load times while it wrote"
	[ $under_load -ge 1 ] || fail "it had ended before"
	eq "refused" $refused 0
	eq "fed" $((written + dropped)) $((3000000 / PART * $(nproc)))
	end_log a 0 2
	said_losses a
	note "$read read, $lost lost, of which $dropped in the rings"
	eq "read and lost" $((read + lost)) $((written + dropped))
	# a thread that must leave its CPU continues its numbers on another CPU
	kmon check /tmp/a moved > /tmp/checked || fail "$(cat /tmp/checked)"
	eq "in the log, of CPUs" "$(cat /tmp/checked)" "$read $(nproc)"
}

# The scheduler's records while a CPU goes offline and online, with a second instance open
# that requests no records
test_hotplug_of_tasks()
{
	start_log a --sources none
	start_log b
	insmod /modules/kmon_feed.ko nr=$((300000 / PART)) pause=500 &
	feeder=$!
	cpu1_blinks 3
	wait $feeder || fail insmod
	rmmod kmon_feed
	end_log b 0 2
	said_losses b
	switches=$(kmonparse /tmp/b | grep -c '^cpu=1,.*op=SWC,')
	note "$read records of all, $lost lost, $switches switches on CPU 1"
	[ "$switches" -gt 10 ] || fail "only $switches switches on CPU 1"
	end_log a 0 2
	said_losses a
}

# A CPU goes offline and online
test_hotplug()
{
	start_log a --sources none
	insmod /modules/kmon_feed.ko nr=1000 || fail insmod
	rmmod kmon_feed
	echo 0 > /sys/devices/system/cpu/cpu1/online || fail offline
	feed nr=$((300000 / PART))
	eq "on one CPU" $((written + dropped)) $((300000 / PART))
	total=$((written + dropped))
	echo 1 > /sys/devices/system/cpu/cpu1/online || fail online
	feed nr=$((300000 / PART))
	total=$((total + written + dropped))
	end_log a 0 2
	note "$read read, $lost lost"
	eq "read and lost" $((read + lost)) $((total + 1000 * $(nproc)))
	# a CPU that was offline when the device was opened
	echo 0 > /sys/devices/system/cpu/cpu1/online || fail offline
	start_log a --sources none
	echo 1 > /sys/devices/system/cpu/cpu1/online || fail online
	feed nr=1000
	end_log a
	eq "read" $read $((1000 * $(nproc)))
}

# One reader sleeps: its records are lost and counted; those of the other reader are not
test_a_reader_that_sleeps()
{
	roomy
	start_log a --sources none -b 4k
	start_log b --sources none -b 64M
	kill -STOP $LOG_a
	feed nr=$((100000 / PART)) pause=1000
	eq "dropped in the rings" $dropped 0
	kill -CONT $LOG_a
	conserved_by a
	[ $lost -gt $((written / 2)) ] || fail "a lost $lost"
	conserved_by b
	eq "b lost" $lost 0
}

# The device is opened and closed all the time while records are written
test_close_while_others_write()
{
	insmod /modules/kmon_feed.ko nr=$((5000000 / PART)) pause=1000 &
	feeder=$!
	n=0
	while kill -0 $feeder 2> /dev/null && [ $n -lt 200 ]; do
		kmonlog -o /tmp/x --force -p /tmp/x.pids -t 10 -q 2> /tmp/x.said
		code=$?
		[ $code = 0 ] || [ $code = 2 ] || fail "kmonlog: $code $(cat /tmp/x.said)"
		kmon hold 3 10 > /dev/null || fail hold
		n=$((n + 1))
	done
	note "$n times"
	wait $feeder
	rmmod kmon_feed
	rm -f /tmp/x
	[ $n -gt $((3 / PART)) ] || fail "only $n times"
}

# The last close frees the memory of rings and buffers
test_all_is_given_back()
{
	settle
	set -- $(sum_tags 'func:(make_ring|kmon_open|set_size)')
	eq "before" "$*" "0 0"
	kmon hold 2 $((3000 * PART)) > /tmp/held &
	holder=$!
	until_true 20 grep -q ready /tmp/held || fail hold
	set -- $(sum_tags 'func:make_ring')
	eq "rings" "$1" $((262144 * $(nproc)))
	set -- $(sum_tags 'func:kmon_open')
	[ "$1" -ge $((1 << 20)) ] || fail "buffers: $1"
	wait $holder
	settle
	set -- $(sum_tags 'func:(make_ring|kmon_open|set_size)')
	eq "after" "$*" "0 0"
}

# Rings that do not fit are an error, and the OOM killer stays away
test_no_room()
{
	fresh
	dmesg -c > /dev/null
	echo 64M > $PARAMS/ring_size || fail ring_size
	mkdir -p /tmp/full
	mount -t tmpfs -o size=100% full /tmp/full || fail mount
	trap 'echo 256K > $PARAMS/ring_size; umount /tmp/full 2> /dev/null' EXIT
	available=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
	note "$((available / 1024)) MiB are available"
	dd if=/dev/zero of=/tmp/full/file bs=1M count=$((available / 1024 - 64 * $(nproc) + 32)) 2> /dev/null ||
		fail "cannot fill the memory"
	kmonlog -o /tmp/a -t 100 2> /tmp/a.said
	code=$?
	umount /tmp/full
	dmesg > /tmp/log
	[ $code -ne 0 ] || fail "kmonlog has its rings"
	grep -q 'Cannot allocate memory\|Out of memory' /tmp/a.said || fail "$(cat /tmp/a.said)"
	grep -q 'no memory for the ring of CPU' /tmp/log || fail "no message"
	grep -qi 'oom-kill\|killed process' /tmp/log && fail "$(grep -i kill /tmp/log)"
	settle
	eq "left" "$(sum_tags 'func:(make_ring|kmon_open|set_size)')" "0 0"
	kmonlog --force -o /tmp/a -t 100 2> /tmp/a.said || fail "with room: $(cat /tmp/a.said)"
}

test_fuzz()
{
	rounds=$(kmon fuzz 5 $(date +%s)) || fail "$rounds"
	note "$rounds rounds"
	[ "$rounds" -gt $((300 / PART)) ] || fail "hardly any"
	settle
	eq "left" "$(sum_tags 'func:(make_ring|kmon_open|set_size)')" "0 0"
}

run_tests
