# SPDX-License-Identifier: GPL-2.0-only
#
# kmemtrace from boot on: the events that are recorded, their call sites, and that every
# loss is counted.  kmemtraced, kmemtrace_check and kmemtrace-report on a trace of this
# kernel.  The live bytes at the end are those of /proc/allocinfo, line by line.
#
# append: sysctl.vm.mem_profiling=1 kmemtrace.subbufs=160 kmemleak=off
# append@slab: sysctl.vm.mem_profiling=1 kmemtrace.subbufs=160
# modules: ctag_test ctag_keep alloc_rate
# programs: kmemtraced kmemtrace_check kmemtrace-report
# memory: 1G
# disk: 512M
# timeout: 300

. /qt/lib.sh

KT=/sys/kernel/debug/kmemtrace
SAY=--quiet

# count COLUMN: the sum of a column of stats over all CPUs
count()
{
	awk -v c="$1" '!/^#/ { n += $c } END { print n + 0 }' $KT/stats
}

enabled()
{
	echo "$1" > $KT/enabled || fail "cannot write $1 to enabled"
}

recording()
{
	[ "$(cat $KT/enabled)" = "$1" ]
}

# record DIR ARGUMENTS...: runs kmemtraced in the background, until ended(); its messages
# are in /tmp/said
record()
{
	DIR=$1
	shift
	kmemtraced $SAY --output "$DIR" "$@" 2> /tmp/said &
	DAEMON=$!
	until_true 20 [ -e "$DIR/header" ] || fail "kmemtraced: $(cat /tmp/said)"
	until_true 20 recording 1 || fail "kmemtraced does not record: $(cat /tmp/said)"
}

# checked DIR [CODE]: kmemtrace_check exits with CODE.  4 means a part of a recording, where
# missing numbers prove nothing.  If kmemtraced switched the recording on, the header has
# "begins 0", and a number may be missing only if its event was counted as lost.
checked()
{
	kmemtrace_check --all "$1" > /tmp/check
	code=$?
	[ $code = "${2:-0}" ] || fail "kmemtrace_check: $code $(tail -3 /tmp/check)"
}

# ended [CODE]: stops kmemtraced, waits for it, and checks its trace, see checked
ended()
{
	kill -INT $DAEMON
	wait $DAEMON || fail "kmemtraced ended with $?: $(cat /tmp/said $KT/stats)"
	checked "$DIR" "$1"
}

test_files_are_for_root()
{
	for f in abi_version total_overruns stats tags cpu0 cpu1; do
		eq "$f" "$(stat -c %a $KT/$f)" 400
	done
	for f in enabled features subbufs; do
		eq "$f" "$(stat -c %a $KT/$f)" 600
	done
	eq abi_version "$(cat $KT/abi_version)" 2
	eq subbufs "$(cat $KT/subbufs)" 160
	eq features "$(cat $KT/features)" "[time] [pid] [tag]"
}

# The trace has the events from before the first file system, and nothing is lost.
test_from_boot_on()
{
	recording 1 || fail "it is off"
	record /tmp/boot
	sleep 1
	# the recording continues for other readers
	ended 4
	recording 1 || fail "kmemtraced switched off what boot had switched on"
	eq total_overruns "$(cat $KT/total_overruns)" 0
	kmemtrace-report --csv --top 0 /tmp/boot > /tmp/boot.csv || fail "report: $?"
	# only the start itself has a number before the first record
	grep -q '/cpu0.out: [0-9]* records, numbers 2 to ' /tmp/check ||
		fail "not from the first number on: $(grep cpu0 /tmp/check)"
	! grep -q '^begins' /tmp/boot/header || fail "it says how often recording began"
	# from before there were buffers: the first object of the cache of vmalloc_init()
	grep -q ',vmap_init_free_space,.*,mm/vmalloc.c,' /tmp/boot.csv ||
		fail "no line of vmalloc_init()"
	# called from mm_init(), start_kernel() and the first initcalls
	grep -q ',init/main.c,' /tmp/boot.csv || fail "no line of init/main.c"
	grep -q ',lib/radix-tree.c,' /tmp/boot.csv || fail "no line of radix-tree.c"
	note "$(head -20 /tmp/check | tail -1)"
	enabled 0
}

test_off_is_off()
{
	recording 0 || fail "it is on"
	was=$(count 2)
	ls -R /proc/self > /dev/null
	eq "events while off" "$(count 2)" "$was"
}

test_bad_writes()
{
	for what in 3 -1 x ''; do
		! echo "$what" > $KT/enabled 2>/dev/null || fail "enabled took '$what'"
	done
	for what in 0 -1 junk 99999999999999999999 4294967295; do
		! echo "$what" > $KT/subbufs 2>/dev/null || fail "subbufs took '$what'"
	done
	for what in times "time bytes" "$(printf '%070d' 0)"; do
		! echo "$what" > $KT/features 2>/dev/null || fail "features took '$what'"
	done
	eq features "$(cat $KT/features)" "[time] [pid] [tag]"
	eq subbufs "$(cat $KT/subbufs)" 160
	echo "pid,time" > $KT/features
	eq features "$(cat $KT/features)" "[time] [pid] tag"
	enabled 1
	! echo none > $KT/features 2>/dev/null || fail "features changed while recording"
	! echo 8 > $KT/subbufs 2>/dev/null || fail "subbufs changed while recording"
	enabled 0
	echo all > $KT/features
}

# Bytes at each line of the test module, from the trace and from the counters.  The trace
# sees the percpu allocator as the pages that it takes.
test_live_bytes_by_line()
{
	fresh
	record /tmp/live
	cmd alloc all 60
	cmd free all 25
	cmd churn 20
	cmd alloc all 5
	cmd free all 13 softirq 1
	ended
	recording 0 || fail "it is still on"
	check_table || fail "allocinfo"
	kmemtrace-report --csv --by tag --top 0 /tmp/live > /tmp/live.csv ||
		fail "report: $?"
	site_lines | grep -v percpu > /tmp/sites
	awk '
	FILENAME == "/tmp/live.csv" {
		split($0, f, ",")
		if (FNR == 1)
			for (i in f) col[f[i]] = i
		else {
			where = f[col["file"]] ":" f[col["line"]] " func:" f[col["function"]]
			if (f[col["type"]] == "pages")
				pages[where] += f[col["live_allocated"]]
			else
				objects[where] += f[col["live_allocated"]]
		}
		next
	}
	{
		n++
		where = $3 " " $5
		# a large kmalloc() is recorded as its pages
		live = pages[where] == objects[where] ? pages[where] : pages[where] + objects[where]
		if (live != $1) {
			print "# " $0 ": the trace has " live
			bad++
		}
	}
	END { print "# " n + 0 " lines"; exit bad || n < 20 }
	' /tmp/live.csv /tmp/sites || fail "not what is live"
}

PAIRS=100000

# produce: a module makes $PAIRS pairs of kmalloc() and kfree() on each CPU, and stays loaded
produce()
{
	BEGAN=$(cut -d . -f 1 /proc/uptime)
	insmod /modules/alloc_rate.ko rate=1000000000 pairs=$PAIRS || fail insmod
}

# all_of_them MORE FEW: MORE is the number of events beyond the module's, which come from
# other tasks.  It may be at most FEW, plus a thousand for each second.
all_of_them()
{
	seconds=$(($(cut -d . -f 1 /proc/uptime) - BEGAN))
	note "$1 events beyond the module's in $seconds seconds"
	[ "$1" -ge 0 ] && [ "$1" -lt $(($2 + 1000 * seconds)) ] || fail "the events do not add up"
}

# Buffers with room for all events: the trace has every one, on the right line.
test_a_known_number()
{
	echo 160 > $KT/subbufs || fail subbufs
	record /tmp/known
	produce
	# its line has a name only while the module is loaded
	ended
	rmmod alloc_rate
	grep -qx 'begins 0' /tmp/known/header || fail "begins: $(grep begins /tmp/known/header)"
	eq "lost" "$(awk '$1 == "lost" { n += $3 } END { print n + 0 }' /tmp/known/header)" 0
	kmemtrace-report --csv --by tag --top 0 /tmp/known > /tmp/known.csv || fail "report: $?"
	awk -F, -v want=$((PAIRS * $(nproc))) '
	NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	$c["file"] ~ /alloc_rate/ { allocs += $c["allocs"]; frees += $c["frees"]; live += $c["live"] }
	END { print "# " allocs " allocations, " live " live"; exit allocs != want || live }' \
		/tmp/known.csv || fail "want $((PAIRS * $(nproc))) and 0"
	echo 16 > $KT/subbufs
	rm -rf /tmp/known
}

# Buffers with room for few events: written and lost events add up to all events, which
# are the module's and those of other tasks.
test_loss_is_exact()
{
	echo 2 > $KT/subbufs || fail subbufs
	echo none > $KT/features
	written=$(count 2)
	lost=$(count 4)
	bytes=$(count 5)
	enabled 1
	produce
	enabled 0
	rmmod alloc_rate
	written=$(($(count 2) - written))
	lost=$(($(count 4) - lost))
	bytes=$(($(count 5) - bytes))
	more=$((written + lost - 2 * PAIRS * $(nproc)))
	note "$written events written, $lost lost; $bytes bytes lost"
	[ $lost -gt $PAIRS ] || fail "only $lost events lost"
	all_of_them $more $((PAIRS / 10))
	[ $bytes -ge $((lost * 24)) ] && [ $bytes -le $((lost * 48)) ] ||
		fail "$lost lost events are $bytes bytes"
	eq total_overruns "$(cat $KT/total_overruns)" "$(count 5)"
	echo 16 > $KT/subbufs
	echo all > $KT/features
}

# A reader that is stopped for a while: the events in the trace and its losses add up to
# all events, and the numbers of the records agree.
test_losses_add_up()
{
	echo 2 > $KT/subbufs || fail subbufs
	written=$(count 2)
	lost=$(count 4)
	record /tmp/halted
	kill -STOP $DAEMON
	produce
	kill -CONT $DAEMON
	rmmod alloc_rate
	kill -INT $DAEMON
	wait $DAEMON
	eq "exit code of kmemtraced" $? 2
	checked /tmp/halted
	written=$(($(count 2) - written))
	lost=$(($(count 4) - lost))
	eq "records" "$(awk '{
		for (i = 2; i <= NF; i++)
			if ($i ~ /^(allocations|frees)/)
				n += $(i - 1)
	} END { print n + 0 }' /tmp/check)" $written
	eq "lost" "$(awk '$1 == "lost" { n += $3 } END { print n + 0 }' /tmp/halted/header)" $lost
	more=$((written + lost - 2 * PAIRS * $(nproc)))
	note "$written events in the trace, $lost lost"
	[ $lost -gt $PAIRS ] || fail "only $lost events lost"
	all_of_them $more $((PAIRS / 4))
	rm -rf /tmp/halted
	echo 16 > $KT/subbufs
}

# A reader that starts late: the gaps in the numbers are the losses.
test_losses_are_told()
{
	echo 2 > $KT/subbufs || fail subbufs
	enabled 1
	ls -lR /sys/kernel > /dev/null
	rm -rf /tmp/lossy
	kmemtraced --quiet --output /tmp/lossy --seconds 2 2> /tmp/said &
	DAEMON=$!
	sleep 1
	ls -lR /sys/kernel > /dev/null
	wait $DAEMON
	eq "exit code of kmemtraced" $? 2
	enabled 0
	checked /tmp/lossy 4
	grep -i lost /tmp/check | head -3 | sed 's/^/# /'
	[ "$(count 4)" -gt 1000 ] || fail "nothing was lost"
	echo 16 > $KT/subbufs
}

# kmemtraced finds the rest of a recording that was made by hand, and reports it if it was
# not requested.
test_rest()
{
	echo 16 > $KT/subbufs
	enabled 1
	ls -lR /proc/self > /dev/null
	enabled 0
	kmemtraced --quiet --rest --output /tmp/rest 2> /tmp/said || fail "--rest: $(cat /tmp/said)"
	recording 0 || fail "--rest has switched the recording on"
	checked /tmp/rest 4
	[ "$(cat /tmp/rest/cpu*.out | wc -c)" -gt 1000 ] || fail "there was nothing"
	enabled 1
	enabled 0
	kmemtraced --seconds 1 --output /tmp/rest2 2> /tmp/said || fail "$(cat /tmp/said)"
	grep -q 'thrown away' /tmp/said || fail "it does not say what it throws away"
}

# The files must contain all that the kernel wrote.
test_what_lacks_is_noticed()
{
	record /tmp/lack
	ls -lR /proc/self > /dev/null
	ended
	: > /tmp/lack/cpu0.out
	! kmemtrace_check --all /tmp/lack > /tmp/check || fail "missing records of a CPU are not detected"
}

# A paused recording is detected.
test_a_pause_is_noticed()
{
	record /tmp/pause
	ls -lR /proc/self > /dev/null
	enabled 0
	enabled 1
	ls -lR /proc/self > /dev/null
	ended 2
	grep -q ' 1 numbers are missing; 0 events were lost, and there were 0 begins' /tmp/check ||
		fail "$(tail -1 /tmp/check)"
}

bound()
{
	grep -h Cpus_allowed_list: /proc/$DAEMON/task/*/status > /tmp/allowed
	for cpu in 0 1; do
		grep -qx "Cpus_allowed_list:[[:space:]]*$cpu" /tmp/allowed || return 1
	done
}

# relay requires that a reader is bound to its CPU
test_each_reader_is_bound_to_its_cpu()
{
	record /tmp/bound
	until_true 20 bound || fail "not bound: $(cat /tmp/allowed)"
	ended
}

# Without the table of tags the address names the caller.  For vmalloc() and kvmalloc()
# that is the allocator itself, and not the module.
test_call_sites()
{
	fresh
	record /tmp/addresses
	cmd alloc all 3
	for site in kmemdup kmemdup_nul kstrdup kstrndup; do
		cmd alloc $site 1
	done
	cat $CTAG/table > /tmp/called
	# its symbols exist only while the module is loaded
	ended
	sed -i '/^section tags$/,/^section modules$/{/^section /!d;}' /tmp/addresses/header
	kmemtrace-report --csv --top 0 /tmp/addresses > /tmp/addresses.csv || fail "report: $?"
	! grep -q '\.c,[0-9]' /tmp/addresses.csv || fail "there are tags"
	awk '
	FILENAME == "/tmp/addresses.csv" {
		split($0, f, ",")
		if (FNR == 1)
			for (i in f) col[f[i]] = i
		else if (f[col["module"]] == "ctag_test") {
			name = f[col["function"]]
			sub(/\..*/, "", name)
			allocs[name] += f[col["allocs"]]
		}
		next
	}
	$1 ~ /^(vmalloc|vzalloc|kvmalloc)/ { next }
	{
		n++
		if (!allocs[$3]) {
			print "# no row of " $3
			bad++
		}
	}
	END { print "# " n + 0 " functions"; exit bad || n < 30 }
	' /tmp/addresses.csv /tmp/called || fail "not who called"
}

test_one_at_a_time()
{
	record /tmp/one
	if kmemtraced --quiet --seconds 1 --output /tmp/two 2> /tmp/second; then
		fail "a second one runs"
	fi
	note "$(cat /tmp/second)"
	ended
	if kmemtraced --quiet --seconds 1 --output /tmp/one 2> /tmp/second; then
		fail "kmemtraced has overwritten a trace"
	fi
	note "$(cat /tmp/second)"
	kmemtraced --quiet --seconds 1 --force --output /tmp/one 2> /tmp/second ||
		fail "--force: $(cat /tmp/second)"
}

# The commands of kmemtrace's guide, as printed, in a folder that only root can write to
test_guide()
{
	mkdir -m 700 /tmp/guide
	cd /tmp/guide || fail cd
	kmemtraced --quiet 2> /tmp/said &
	DAEMON=$!
	until_true 20 recording 1 || fail "kmemtraced does not record: $(cat /tmp/said)"
	ls -lR /proc/self > /dev/null
	kill -INT $DAEMON
	wait $DAEMON || fail "kmemtraced: $? $(cat /tmp/said)"
	for file in cpu[0-9]*.out; do
		kmemtrace_check $file > /tmp/check || fail "kmemtrace_check $file: $?"
	done
	kmemtrace-report > /tmp/report || fail "report: $?"
	[ "$(wc -l < /tmp/report)" -gt 20 ] || fail "the report is too short: $(cat /tmp/report)"
	cd /
	rm -r /tmp/guide
}

# If kmemtraced is killed, the recording ends, unless it was on before kmemtraced started.
test_killed_it_records_no_more()
{
	record /tmp/killed
	kill -KILL $DAEMON
	wait $DAEMON
	until_true 20 recording 0 || fail "recording goes on without kmemtraced"
	was=$(count 2)
	ls -lR /proc/self > /dev/null
	eq "events after that" "$(count 2)" "$was"
	kmemtrace_check --all /tmp/killed > /tmp/check
	grep -q 'not complete' /tmp/check || fail "$(tail -3 /tmp/check)"
	rm -r /tmp/killed
	enabled 1
	record /tmp/killed
	kill -KILL $DAEMON
	wait $DAEMON
	usleep 500000
	recording 1 || fail "kmemtraced took what was on before with it"
	rm -r /tmp/killed
	enabled 0
}

# After a write of 2 the recording lasts only while that file is open.  A later write of 1 by
# any process makes it last longer.
test_recording_as_long_as_a_file_is_open()
{
	exec 8> $KT/enabled
	echo 2 >&8 || fail "2 is refused"
	recording 1 || fail "it is off"
	! echo 2 > $KT/enabled 2> /dev/null || fail "a second file could take it, too"
	recording 1 || fail "the second one has ended it"
	exec 8>&-
	recording 0 || fail "it is on"
	exec 8> $KT/enabled
	echo 2 >&8
	enabled 1
	exec 8>&-
	recording 1 || fail "1 did not make it last"
	enabled 0
}

test_max()
{
	kmemtraced --max 100k --seconds 60 --output /tmp/max 2> /tmp/said &
	DAEMON=$!
	until_true 20 recording 1 || fail "kmemtraced does not record: $(cat /tmp/said)"
	for i in 1 2 3 4 5 6 7 8; do
		ls -lR /proc/self /sys/kernel > /dev/null
		recording 1 || break
	done
	recording 0 || fail "it goes on"
	wait $DAEMON
	code=$?
	[ $code = 0 ] || [ $code = 2 ] || fail "kmemtraced: $code $(cat /tmp/said)"
	grep -q -- '-m 102400 is reached' /tmp/said || fail "$(cat /tmp/said)"
	size=$(cat /tmp/max/cpu*.out | wc -c)
	note "$size bytes"
	[ $size -le 102400 ] && [ $size -gt 102200 ] || fail "$size bytes"
	checked /tmp/max 4
	rm -r /tmp/max
}

# refused DIR: kmemtraced refuses to record there
refused()
{
	for force in "" --force; do
		kmemtraced --quiet --seconds 1 --output "$1" $force 2> /tmp/said
		eq "protected_symlinks=$protected: $1 $force" $? 3
		recording 0 || fail "it is on"
	done
}

# root records only into a folder where no other user can write.  Links of other users do
# not change that.
test_folders_of_another_user()
{
	before=$(cat /proc/sys/fs/protected_symlinks)
	trap 'echo $before > /proc/sys/fs/protected_symlinks' EXIT
	for protected in 0 1; do
		echo $protected > /proc/sys/fs/protected_symlinks || fail protected_symlinks
		rm -rf /tmp/all /tmp/root
		mkdir -m 1777 /tmp/all
		mkdir -m 700 /tmp/root /tmp/root/trace
		echo "kmemtrace of root" > /tmp/root/trace/header
		echo "of root" > /tmp/root/trace/cpu0.out
		su nobody -s /bin/sh -c 'cd /tmp/all && mkdir own && ln -s /tmp/root/trace link &&
			ln -s /tmp/root way' || fail "nobody cannot"
		refused /tmp/all
		refused /tmp/all/own
		refused /tmp/all/link
		refused /tmp/all/way/trace
		refused /tmp/all/way/new
		eq "of nobody" "$(ls /tmp/all/own)" ""
		eq "of root" "$(ls /tmp/root /tmp/root/trace | xargs) $(cat /tmp/root/trace/* | xargs)" \
			"/tmp/root: trace /tmp/root/trace: cpu0.out header of root kmemtrace of root"
		umask 0
		kmemtraced --quiet --seconds 1 --output /tmp/all/new 2> /tmp/said ||
			fail "$? $(cat /tmp/said)"
		kmemtrace-report --ctf /tmp/all/new.ctf /tmp/all/new || fail "ctf: $?"
		umask 022
		eq "modes of folders" "$(stat -c %u,%a /tmp/all/new /tmp/all/new.ctf | xargs)" "0,700 0,700"
		eq "modes of files" "$(stat -c %u,%a /tmp/all/new/* /tmp/all/new.ctf/* | sort -u)" 0,600
		su nobody -s /bin/sh -c '! ls /tmp/all/new /tmp/all/new.ctf' 2> /dev/null ||
			fail "user nobody can read it"
	done
}

test_full_disk()
{
	mkdir -p /tmp/small
	mount -t tmpfs -o size=6m none /tmp/small
	kmemtraced --quiet --output /tmp/small/t 2> /tmp/said &
	DAEMON=$!
	for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
		ls -lR /proc/self /sys/kernel > /dev/null
		kill -0 $DAEMON 2> /dev/null || break
	done
	kill -0 $DAEMON 2> /dev/null && fail "kmemtraced does not notice a full disk"
	wait $DAEMON
	eq "exit code" $? 3
	note "$(tail -1 /tmp/said)"
	recording 0 || fail "it is still recording"
	kmemtrace_check /tmp/small/t/cpu*.out > /tmp/check || fail "$(tail -3 /tmp/check)"
	kmemtrace-report --top 3 /tmp/small/t > /tmp/report || fail "report: $?"
	umount /tmp/small
}

# The trace goes to a file system whose own allocations are in it.
test_to_disk()
{
	mount_disk
	record /mnt/trace
	for i in 1 2 3; do
		dd if=/dev/zero of=/mnt/data bs=64k count=64 2>/dev/null
		ls -lR /proc/self > /dev/null
	done
	ended
	umount /mnt || fail umount
}

test_cpu_goes_and_comes()
{
	SAY=
	record /tmp/cpus
	echo 0 > /sys/devices/system/cpu/cpu1/online || fail "CPU 1 stays online"
	ls -lR /proc/self > /dev/null
	until_true 20 grep -q 'CPU 1 is offline' /tmp/said || fail "kmemtraced does not see it go: $(cat /tmp/said)"
	echo 1 > /sys/devices/system/cpu/cpu1/online || fail "CPU 1 does not come back"
	taskset 2 ls -lR /proc/self > /dev/null
	until_true 20 grep -q 'CPU 1 is online again' /tmp/said ||
		fail "kmemtraced does not see it come back: $(cat /tmp/said)"
	ended
	note "$(cat /tmp/said)"
	[ -s /tmp/cpus/cpu1.out ] || fail "no record from CPU 1"
}

# events CPU: prints how many events that CPU has recorded and lost, together
events()
{
	awk -v cpu="$1" '$1 == cpu { print $2 + $4 }' $KT/stats
}

# no_file N FILE TEXT: relay cannot create the Nth file from now on, so TEXT cannot be written to FILE
no_file()
{
	echo "func relay_create_buf_file frequency $1 oneshot" > $FAULTS
	! echo "$3" 2> /tmp/err > "$2" || fail "$2 takes $3 without a file for the buffer"
	grep -q 'Cannot allocate memory' /tmp/err || fail "$(cat /tmp/err)"
	echo disable > $FAULTS
}

test_file_cannot_be_created()
{
	FAULTS=/sys/kernel/debug/dynamic_faults
	ONLINE=/sys/devices/system/cpu/cpu1/online
	[ -e $FAULTS ] || skip "no fault injection"
	subbufs=$(cat $KT/subbufs)
	# If the file of CPU 1 cannot be created, recording does not start, and cpu0 is removed again.
	echo "$subbufs" > $KT/subbufs
	no_file 2 $KT/enabled 1
	[ ! -e $KT/cpu0 ] || fail "cpu0 stays"
	enabled 1
	enabled 0
	# If the file cannot be created, CPU 1 stays offline, and CPU 0 goes on recording.
	echo 0 > $ONLINE || fail "CPU 1 stays online"
	echo "$subbufs" > $KT/subbufs
	enabled 1
	[ ! -e $KT/cpu1 ] || fail "a CPU that is offline has a buffer"
	no_file 1 $ONLINE 1
	was=$(events 0)
	ls -lR /proc/self > /dev/null
	[ "$(events 0)" -gt "$was" ] || fail "no event on CPU 0"
	echo 1 > $ONLINE || fail "CPU 1 does not come back"
	taskset 2 ls -lR /proc/self > /dev/null
	enabled 0
	for cpu in 0 1; do
		read=$(dd if=$KT/cpu$cpu bs=256k 2> /dev/null | wc -c)
		note "CPU $cpu: $(events $cpu) events, $read bytes"
		[ "$read" -gt 1000 ] || fail "$read bytes of CPU $cpu"
	done
}

test_formats()
{
	for f in text json csv folded; do
		kmemtrace-report --$f /tmp/boot > /tmp/out.$f || fail "$f: $?"
		[ -s /tmp/out.$f ] || fail "$f is empty"
	done
	sed -n 1,25p /tmp/out.text | sed 's/^/# /'
}

run_tests
