# SPDX-License-Identifier: GPL-2.0-only
#
# kmonlog with the real device: every way in which it ends, its messages, and the files with
# names that it leaves.  tools/kmon/test-log.sh has the tests that need no device.
#
# append: sysctl.vm.mem_profiling=1 rcupdate.rcu_cpu_stall_timeout=150 kmon.ring_size=16M
# modules: kmon_feed
# programs: kmonlog kmonparse
# memory: 1G
# timeout: 120

. /qt/lib.sh

RECORD=21	# bytes of a record of kmon_feed

# begin NAME OPTION...: runs kmonlog in the background; $log is its pid, /tmp/NAME.said has
# its messages, and its standard output is that of begin.
begin()
{
	name=$1
	shift
	rm -f "/tmp/$name.said"
	kmonlog -p "/tmp/$name.pids" --sites "/tmp/$name.sites" "$@" 2> "/tmp/$name.said" &
	log=$!
	LOGS="$LOGS $log"
	trap 'kill -KILL $LOGS 2> /dev/null' EXIT
	until_true 20 has_begun || fail "kmonlog does not begin: $(cat "/tmp/$name.said")"
}

has_begun()
{
	grep -q '^kmonlog: started' "/tmp/$name.said"
}

gone()
{
	! grep -qE '^State:[[:space:]]+[^Z[:space:]]' "/proc/$1/status" 2> /dev/null
}

# ends PID CODE: the process ends by itself, with CODE
ends()
{
	until_true 60 gone "$1" || fail "kmonlog does not end"
	wait "$1"
	code=$?
	[ $code = "$2" ] || fail "kmonlog ended with $code, not with $2: $(cat "/tmp/$name.said")"
}

# said PATTERN: the messages of the last kmonlog contain PATTERN
said()
{
	grep -qE "$1" "/tmp/$name.said" || fail "no '$1' in: $(cat "/tmp/$name.said")"
}

# number_of SED: prints the part in \( \) of the line that begins with SED
number_of()
{
	sed -n "s/^kmonlog: $1.*/\\1/p" "/tmp/$name.said"
}

feed()
{
	insmod /modules/kmon_feed.ko "$@" || fail "insmod kmon_feed"
	rmmod kmon_feed
}

uptime_ms()
{
	awk '{ printf "%d", $1 * 1000 }' /proc/uptime
}

test_time()
{
	began=$(uptime_ms)
	begin a -o /tmp/a -f -t 700
	ends $log 0
	took=$(($(uptime_ms) - began))
	note "$took ms"
	[ $took -ge 690 ] || fail "it did not take its time"
	[ -s /tmp/a ] || fail "an empty log"
	said '^kmonlog: [1-9][0-9]* records, [1-9][0-9]* bytes; 0 records lost, 0 refused$'
	kmonparse /tmp/a > /tmp/text || fail "kmonparse: $?"
	eq "lines" "$(wc -l < /tmp/text)" "$(number_of '\([0-9]*\) records, ')"
}

# The limit does not cut a record
test_max()
{
	for max in 5000 5010 5019 5040; do
		begin a -o /tmp/a -f -s none -m $max
		feed nr=2000
		ends $log 0
		eq "-m $max" "$(stat -c %s /tmp/a)" $((max / RECORD * RECORD))
		said "^kmonlog: -m $max is reached; [1-9][0-9]* records more are left out$"
		eq "of kmon_feed" "$(kmon check /tmp/a | cut -d ' ' -f 1)" $((max / RECORD))
	done
}

test_signals()
{
	for signal in INT TERM HUP; do
		begin a -o /tmp/a -f -s none
		feed nr=100
		kill -$signal $log
		ends $log 0
		eq "SIG$signal" "$(number_of '\([0-9]*\) records, ')" $((100 * $(nproc)))
		eq "its log" "$(stat -c %s /tmp/a)" $((100 * $(nproc) * RECORD))
	done
}

test_pipe()
{
	rm -f /tmp/fifo
	mkfifo /tmp/fifo
	cat /tmp/fifo > /tmp/piped &
	reader=$!
	begin a -s none > /tmp/fifo
	feed nr=20000 pause=500
	kill -INT $log
	ends $log 0
	wait $reader
	eq "through the pipe" "$(stat -c %s /tmp/piped)" $((20000 * $(nproc) * RECORD))
	eq "records, and gaps" "$(kmon check /tmp/piped)" "$((20000 * $(nproc))) 0"
}

# A reader that does not read: only the second signal ends kmonlog
test_second_signal()
{
	rm -f /tmp/fifo
	mkfifo /tmp/fifo
	exec 7<> /tmp/fifo
	begin a -s none > /tmp/fifo
	feed nr=20000 pause=500
	kill -INT $log
	usleep 1500000
	! gone $log || fail "it ended by itself: $(cat /tmp/a.said)"
	kill -INT $log
	ends $log 3
	exec 7<&-
	said '^kmonlog: standard output takes nothing, the rest is dropped$'
	said '^kmonlog: [1-9][0-9]* records were not fetched$'
	# records in kmonlog's own memory are neither written nor lost nor left to fetch
	written=$(number_of '\([0-9]*\) records, ')
	left=$(number_of '\([0-9]*\) records were not fetched')
	lost=$(number_of '.*; \([0-9]*\) records lost')
	note "$written written, $left not fetched, $lost lost"
	[ "$written" -gt 0 ] || fail "nothing is in the pipe"
	[ $((written + left + lost)) -le $((20000 * $(nproc))) ] || fail "more than there were"
	# the next process can use the device
	begin a -o /tmp/a -f -s none
	feed nr=10
	kill -INT $log
	ends $log 0
	eq "afterwards" "$(number_of '\([0-9]*\) records, ')" $((10 * $(nproc)))
}

# An instance that requests nothing gets the records that others requested, and names for
# them
test_none_beside_another()
{
	rm -f /tmp/a.pids /tmp/b.pids
	begin b -o /tmp/b -f -s sched
	other=$log
	begin a -o /tmp/a -f -s none
	usleep 300000
	kill -INT $log
	ends $log 0
	kmonparse /tmp/a | grep -q 'op=SWC' || fail "nothing of the scheduler"
	[ -s /tmp/a.pids ] || fail "no names of what it has"
	name=b
	kill -INT $other
	ends $other 0
	# alone it gets nothing, and leaves no names
	rm -f /tmp/a.pids
	begin a -o /tmp/a -f -s none
	usleep 300000
	kill -INT $log
	ends $log 0
	eq "alone" "$(stat -c %s /tmp/a)" 0
	[ ! -e /tmp/a.pids ] || fail "names without records: $(head -3 /tmp/a.pids | xargs)"
}

# Writing records causes records.  On an idle machine these must not keep kmonlog busy.
test_idle()
{
	! slow_kernel || skip "kmonlog is always busy on a slow kernel"
	for sources in alloc sched,alloc; do
		begin a -o /tmp/a -f -s $sources
		usleep 3000000
		ticks=$(awk '{ print $14 + $15 }' /proc/$log/stat)
		kill -INT $log
		ends $log 0
		note "$sources: $ticks hundredths of a second in 3 s, $(number_of '\([0-9]*\) records, ') records"
		[ "$ticks" -le 100 ] || fail "$sources: its own records keep it busy"
	done
}

# The file has a line for each pid of the log, in order, and no other line
test_pid_file()
{
	echo "1 of old" > /tmp/a.pids
	begin a -o /tmp/a -f
	kmon woken 1500 1 > /dev/null &
	task=$!
	usleep 1000000
	kill -INT $log
	ends $log 0
	wait $task || fail "woken"
	kmonparse /tmp/a | tr , '\n' | sed -n 's/^\(pid\|prev\|next\|from\|to\)=//p' | sort -nu > /tmp/wanted
	cut -d ' ' -f 1 /tmp/a.pids > /tmp/got
	[ "$(wc -l < /tmp/got)" -gt 3 ] || fail "hardly a name"
	cmp -s /tmp/wanted /tmp/got || fail "not the pids of the log: $(xargs < /tmp/wanted) but $(xargs < /tmp/got)"
	grep -qx '0 \[IDLE\]' /tmp/a.pids || fail "$(head -1 /tmp/a.pids)"
	grep -qx "$task kmon;woken;1500;1;" /tmp/a.pids || fail "$(grep "^$task " /tmp/a.pids)"
	grep -qE '^[0-9]+ \[(kworker/|rcu|ksoftirqd/|migration/).*\]$' /tmp/a.pids ||
		fail "no thread of the kernel"
	! grep -q ' of old$' /tmp/a.pids || fail "what was there is left"
	eq "temporary files" "$(ls /tmp/a.pids*)" /tmp/a.pids
}

# with_links: a directory for all users, where another user has put links to root's files
with_links()
{
	rm -rf /tmp/all /tmp/root.*
	mkdir -m 1777 /tmp/all
	mkdir -m 700 /tmp/root.ctf
	for what in log pids sites text; do
		echo "of root" > /tmp/root.$what
		chmod 600 /tmp/root.$what
	done
	su nobody -s /bin/sh -c 'for what in log pids sites text ctf; do
		ln -s /tmp/root.$what /tmp/all/$what || exit; done' || fail "user nobody cannot do that"
}

# untouched: the targets of the links have not changed
untouched()
{
	for what in log pids sites text; do
		eq "protected_symlinks=$protected: target of $what" \
			"$(stat -c %u,%a /tmp/root.$what) $(cat /tmp/root.$what)" "0,600 of root"
	done
	eq "protected_symlinks=$protected: target of ctf" "$(ls /tmp/root.ctf)" ""
}

# replaced LINK...: it is now a file of root, readable only by root
replaced()
{
	for what; do
		eq "protected_symlinks=$protected: $what" \
			"$(stat -c %F,%u,%a /tmp/all/$what)" "regular file,0,600"
	done
}

# root writes into a directory of others: it replaces their links and does not follow them
test_pipe_of_another_user()
{
	rm -rf /tmp/all
	mkdir -m 1777 /tmp/all
	su nobody -s /bin/sh -c 'mkfifo -m 666 /tmp/all/pids.dat' || fail "user nobody cannot do that"
	timeout 20 kmonlog -t 10000 -o /tmp/all/log 2> /tmp/said
	eq "a pipe for the names" $? 3
	! grep -q started /tmp/said || fail "kmonlog began: $(cat /tmp/said)"
}

test_names_beside_the_log()
{
	rm -rf /tmp/all
	mkdir /tmp/all
	(cd / && kmonlog -q -t 300 -o /tmp/all/log) || fail "kmonlog: $?"
	kmonparse -n /tmp/all/log > /tmp/text || fail "kmonparse: $?"
	grep -q 'name="' /tmp/text || fail "no names: $(head -2 /tmp/text)"
}

# With a device as output, the names go to the current directory
test_names_of_a_log_to_a_device()
{
	rm -rf /tmp/here
	mkdir /tmp/here
	(cd /tmp/here && kmonlog -q -t 300 -s sched,alloc -f -o /dev/null) || fail "kmonlog: $?"
	[ -s /tmp/here/pids.dat ] && [ -s /tmp/here/sites.dat ] || fail "no names: $(ls /tmp/here)"
	[ ! -e /dev/pids.dat ] && [ ! -e /dev/sites.dat ] || fail "names in /dev"
}

# While root logs to a directory of another user, that user replaces it by a link
test_directory_of_another_user()
{
	rm -rf /tmp/home /tmp/target
	mkdir -p /tmp/home/log
	mkdir -m 700 /tmp/target
	echo "of root" > /tmp/target/pids.dat
	echo "of root" > /tmp/target/sites.dat
	chown -R nobody /tmp/home
	rm -f /tmp/a.said
	kmonlog -s sched,alloc -o /tmp/home/log/a 2> /tmp/a.said &
	log=$!
	name=a
	LOGS="$LOGS $log"
	trap 'kill -KILL $LOGS 2> /dev/null' EXIT
	until_true 20 has_begun || fail "kmonlog does not begin: $(cat /tmp/a.said)"
	su nobody -s /bin/sh -c 'mv /tmp/home/log /tmp/home/x && ln -s /tmp/target /tmp/home/log' ||
		fail "user nobody cannot do that"
	usleep 300000
	kill -INT $log
	ends $log 0
	eq "files of root" "$(cat /tmp/target/*)" "$(printf 'of root\nof root')"
	[ -s /tmp/home/x/pids.dat ] && [ -s /tmp/home/x/sites.dat ] ||
		fail "no names beside the log: $(ls -A /tmp/home/x)"
	eq "temporary files" "$(ls -A /tmp/home/x /tmp/target | grep -c codetag)" 0
}

test_links_of_another_user()
{
	before=$(cat /proc/sys/fs/protected_symlinks)
	trap 'echo $before > /proc/sys/fs/protected_symlinks' EXIT
	for protected in 0 1; do
		echo $protected > /proc/sys/fs/protected_symlinks || fail protected_symlinks
		with_links
		set -- -q -t 300 -s sched,alloc -o /tmp/all/log -p /tmp/all/pids --sites /tmp/all/sites
		kmonlog "$@" 2> /tmp/said
		eq "a link as output" $? 3
		untouched
		kmonlog --force "$@" 2> /tmp/said || fail "kmonlog: $? $(cat /tmp/said)"
		untouched
		replaced log pids sites
		kmonparse -o /tmp/all/text /tmp/all/log 2> /tmp/said
		eq "a link as output of kmonparse" $? 3
		kmonparse --ctf /tmp/all/ctf /tmp/all/log 2> /tmp/said
		eq "a link as directory" $? 3
		kmonparse --force -o /tmp/all/text /tmp/all/log || fail "kmonparse: $?"
		untouched
		replaced text
		[ -s /tmp/all/text ] && [ -s /tmp/all/pids ] && [ -s /tmp/all/sites ] || fail "nothing is written"
	done
}

# A quiet kmonlog reports only losses
test_quiet()
{
	for size in 65535 65536; do
		rm -f /tmp/a
		kmonlog -q -s none -o /tmp/a -p /tmp/a.pids 2> /tmp/a.said &
		log=$!
		name=a
		until_true 20 [ -e /tmp/a ] || fail "it does not begin"
		usleep 500000
		feed nr=3 size=$size
		kill -INT $log
		ends $log 0
		if [ $size = 65535 ]; then
			eq "quiet" "$(cat /tmp/a.said)" ""
			eq "its log" "$(stat -c %s /tmp/a)" $((3 * $(nproc) * 65546))
		else
			eq "refused" "$(cat /tmp/a.said)" \
				"kmonlog: 0 records, 0 bytes; 0 records lost, $((3 * $(nproc))) refused"
		fi
	done
}

run_tests
