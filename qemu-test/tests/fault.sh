# SPDX-License-Identifier: GPL-2.0-only
#
# Dynamic fault injection: each line that allocates can be made to fail, as often as
# requested and only where requested.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=0
# append@debug: sysctl.vm.mem_profiling=1
# append@arm64-debug: sysctl.vm.mem_profiling=1
# modules: ctag_uses ctag_test ctag_keep
# timeout: 300

. /qt/lib.sh

FAULTS=/sys/kernel/debug/dynamic_faults
USES=/sys/kernel/debug/ctag_uses
OURS='module ctag_uses class ctag'

# faults COMMAND
faults()
{
	echo "$1" > $FAULTS || fail "refused: $1"
}

refused()
{
	refused_by $FAULTS "$@"
}

uses()
{
	[ -d $USES ] || insmod /modules/ctag_uses.ko || fail insmod
	echo "$1" > $USES/cmd
}

# Disables all points that the last case has left enabled
clean()
{
	echo disable > $FAULTS
}

# state: the state of the point of class ctag
state()
{
	sed -n 's/.* module:ctag_uses func:points class:ctag \(.*\) "$/\1/p' $FAULTS
}

# fired N: class ctag has fired N times since "points", class other never
fired()
{
	eq "fired" "$(awk '$1 == "ctag" { print $2 }' $USES/table)" "$1"
	eq "others" "$(awk '$1 == "other" { print $2 }' $USES/table)" 0
}

test_list()
{
	clean
	uses "points 0"
	eq "$FAULTS" "$(stat -c '%a %u' $FAULTS)" "600 0"
	# a kernel with KUnit has points of its test, too
	grep -v '^lib/dynamic_fault_kunit' $FAULTS > /tmp/list
	awk '!/^[^ ]+:[0-9]+ module:[^ ]+ func:[^ ]+ class:[^ ]+ disabled "$/ { print "# " $0; bad++ }
	     END { print "# " NR " points"; exit bad || NR < 2000 }' /tmp/list || fail "lines have a wrong form"
	grep -qE '^fs/ext4/super\.c:[0-9]+ module:ext4 func:ext4_alloc_sbi class:memory disabled "$' /tmp/list ||
		fail "no ext4_alloc_sbi"
	eq "of ctag_uses" "$(grep -c 'module:ctag_uses .*class:\(ctag\|other\) ' /tmp/list)" 2
	# every tag, and our own points
	tags=$(sed 1,2d $INFO | wc -l)
	[ "$tags" = 0 ] || [ $(($(wc -l < /tmp/list) - 2 - tags)) -le 1 ] ||
		fail "$(wc -l < /tmp/list) points, $tags lines of $INFO"
}

test_how_often()
{
	clean
	uses "points 20"
	fired 0
	faults "$OURS enable"
	uses "points 20"
	fired 20
	eq state "$(state)" "enabled evaluated:20 fired:20"
	faults "$OURS oneshot"
	eq state "$(state)" "oneshot evaluated:0 fired:0"
	uses "points 20"
	fired 1
	eq state "$(state)" "disabled evaluated:1 fired:1"
	faults "$OURS frequency 3"
	uses "points 20"
	fired 6
	eq state "$(state)" "enabled frequency:3 evaluated:20 fired:6"
	faults "$OURS times 7"
	uses "points 5"
	fired 5
	eq state "$(state)" "enabled times:2 evaluated:5 fired:5"
	uses "points 5"
	fired 2
	eq state "$(state)" "disabled evaluated:7 fired:7"
	faults "$OURS frequency 2 times 3"
	uses "points 20"
	fired 3
	faults "$OURS probability 0"
	uses "points 20"
	fired 0
	eq state "$(state)" "enabled probability:0 evaluated:20 fired:0"
	faults "$OURS probability 25"
	uses "points 4000"
	n=$(awk '$1 == "ctag" { print $2 }' $USES/table)
	note "25 % of 4000: $n"
	# five times the standard deviation, which is 27
	[ "$n" -gt 863 ] && [ "$n" -lt 1137 ] || fail "25 % of 4000 fired $n times"
	faults "$OURS disable"
	eq state "$(state)" "disabled"
	uses "points 20"
	fired 0
}

# Each Nth evaluation fires, on whichever CPU it happens.
test_frequency_on_all_cpus()
{
	clean
	uses "points 0"
	cpus=$(grep -c ^processor /proc/cpuinfo)
	for n in 2 7 1000; do
		faults "module ctag_uses func make_object frequency $n"
		uses "hammer 20000"
		all=$((cpus * 20000))
		eq "frequency $n" \
			"$(grep -o 'func:make_object .* evaluated:[0-9]* fired:[0-9]*' $FAULTS |
			   sed 's/.* evaluated/evaluated/')" \
			"evaluated:$all fired:$((all / n))"
	done
	faults disable
	rmmod ctag_uses		# resets its count of failures
	uses "points 0"
}

test_which_task()
{
	clean
	read -r self _ < /proc/self/stat
	faults "$OURS task $self"
	uses "points 5"
	fired 5
	eq state "$(state)" "enabled task:$self evaluated:5 fired:5"
	faults "$OURS task 1"
	uses "points 5"
	fired 0
	eq state "$(state)" "enabled task:1 evaluated:0 fired:0"
	for name in sh 's?' '*'; do
		faults "$OURS task $name times 3"
		uses "points 5"
		fired 3
	done
	faults "$OURS task nobody"
	uses "points 5"
	fired 0
	faults "$OURS disable"
}

# Does fail-nth also count copies of user memory?  Then each write() and each path that is opened
# counts as one, so a case opens its files before it sets fail-nth.
copies_count()
{
	zcat /proc/config.gz | grep -qx CONFIG_FAULT_INJECTION_USERCOPY=y
}

test_fail_nth()
{
	clean
	uses "points 0"
	exec 6> /proc/self/fail-nth 7> $USES/cmd
	faults "$OURS probability 0"
	{ echo 5 >&6 && echo "points 10" >&7; } || fail "fail-nth"
	read -r nth < /proc/self/fail-nth
	eq "fail-nth" "$nth" 0
	fired 1
	eq state "$(state)" "enabled probability:0 evaluated:10 fired:1"
	faults "$OURS disable"
	{ echo 5 >&6 && echo "points 10" >&7 && echo 0 >&6; } || fail "fail-nth, disabled"
	fired 0
}

# A point reads the path that a system call opens.  fail-nth must not count that copy.
test_looking_is_not_counted()
{
	clean
	echo x > /tmp/probe
	read -r self _ < /proc/self/stat
	exec 6> /proc/self/fail-nth
	counted disabled
	eq "evaluated, disabled" "$evaluated" 0
	without=$count
	faults "func __alloc_file probability 0 task $self"
	counted enabled
	note "$without without a point, $count with one that was evaluated $evaluated times"
	if copies_count; then
		[ "$without" -ge 1 ] || fail "the path was not counted"
	else
		eq "counted without a point" "$without" 0
	fi
	[ "$evaluated" -ge 1 ] || fail "the point was not evaluated"
	eq "counted" "$count" $((without + evaluated))
}

# counted WHEN: opens a file; sets $count to the evaluations that fail-nth counted, and
# $evaluated to those of a point at __alloc_file.  Other processes read both while the
# shell waits.
counted()
{
	echo 1000 >&6
	echo x > /tmp/probe
	(
		usleep 200000
		cat "/proc/$self/fail-nth" > /tmp/nth
		awk '/ func:__alloc_file / && match($0, /evaluated:[0-9]+/) {
				n += substr($0, RSTART + 10, RLENGTH - 10)
		     }
		     END { print n + 0 }' $FAULTS > /tmp/evaluated
		echo 0 >&6
	)
	read -r nth < /tmp/nth
	read -r evaluated < /tmp/evaluated
	count=$((1000 - nth))
	[ "$count" -lt 1000 ] || fail "$1: fail-nth ran out"
}

test_open_fails_once_by_fail_nth()
{
	clean
	echo x > /tmp/probe
	read -r self _ < /proc/self/stat
	exec 6> /proc/self/fail-nth
	faults "func __alloc_file probability 0 task $self"
	refused=
	nth=1
	! copies_count || nth=2		# the first is the copy of the path
	{
		echo $nth >&6
		for i in 1 2 3; do
			echo x > /tmp/probe || refused="$refused$i"
		done
	} 2> /tmp/errors
	eq "opens that failed" "$refused" 1
	eq "fired" "$(grep -c ' func:__alloc_file .* fired:1 "$' $FAULTS)" 1
	clean
}

# Each allocation fails at its line, once, as if out of memory; the line is not charged
# for it.
test_each_allocator()
{
	clean
	fresh
	for site in all kmemdup kstrdup kstrndup kmemdup_nul kvmalloc_small; do
		cmd alloc $site 1
		cmd free $site 1
	done
	cut -d' ' -f1,2,3 $CTAG/table | grep -v '_before ' > /tmp/sites
	n=0
	while read -r site line func; do
		faults "file ctag_test.c line $line func $func module ctag_test oneshot"
		if echo "alloc $site 1" > $CTAG/cmd 2> /tmp/error; then
			fail "$site did not fail: $(grep "ctag_test.c:$line " $FAULTS)"
		fi
		grep -q 'Cannot allocate memory\|Out of memory' /tmp/error ||
			fail "$site: $(cat /tmp/error)"
		grep -q "^ctag_test.c:$line module:ctag_test func:$func class:memory disabled evaluated:1 fired:1 \"" $FAULTS ||
			fail "$site: $(grep "ctag_test.c:$line " $FAULTS)"
		cmd alloc "$site" 1
		n=$((n + 1))
	done < /tmp/sites
	note "$n functions"
	[ $n -ge 30 ] || fail "only $n"
	[ "$(cat $MP)" = 0 ] || check_table || fail "after faults"
	faults "disable"
	mod_unload
}

# Allocations with __GFP_NOFAIL do not fail.
test_nofail()
{
	clean
	uses "nofail 0"
	faults "module ctag_uses func nofail enable"
	uses "nofail 50"
	eq "failed" "$(awk '$1 == "failed" { print $2 }' $USES/table)" 0
	kmalloc=$(grep 'ctag_uses func:nofail .* evaluated:0 fired:0 "$' $FAULTS | wc -l)
	[ "$kmalloc" -ge 1 ] || fail "$(grep 'func:nofail' $FAULTS)"
	clean
}

# The index tells several tags on one line apart.
test_index()
{
	clean
	uses "points 0"
	faults "module ctag_uses index 0 probability 0"
	eq "points" "$(grep -c evaluated: $FAULTS)" 1
	faults "module ctag_uses probability 0"
	all=$(grep -c evaluated: $FAULTS)
	[ "$all" -ge 4 ] || fail "$all points of ctag_uses"
	faults "module ctag_uses index 1- disable"
	eq "points left" "$(grep -c evaluated: $FAULTS)" 1
	faults "disable"
	eq "points left" "$(grep -c evaluated: $FAULTS)" 0
}

# A fault in a file system makes mount(2) fail.
test_a_known_place()
{
	clean
	mount -t tmpfs none /mnt || fail mount
	umount /mnt
	faults "file mm/shmem.c module shmem func shmem_fill_super index 0 oneshot"
	if mount -t tmpfs none /mnt 2> /tmp/error; then
		fail "mounted: $(grep shmem_fill_super $FAULTS)"
	fi
	grep -qi memory /tmp/error || fail "$(cat /tmp/error)"
	mount -t tmpfs none /mnt || fail "a second time"
	umount /mnt
	faults "disable"
}

test_module_goes()
{
	clean
	for i in 1 2 3 4 5; do
		uses "points 0"
		faults "module ctag_uses func make_object enable"
		faults "$OURS enable"
		uses "points 3"
		fired 3
		rmmod ctag_uses
		! grep -q ctag_uses $FAULTS || fail "still listed"
	done
	uses "points 3"
	fired 0
	eq state "$(state)" "disabled"
	faults "disable"
}

test_under_load()
{
	clean
	uses "hammer 10"
	(
		while [ ! -e /tmp/enough ]; do
			echo "module ctag_uses func make_object frequency 5" > $FAULTS
			cat $FAULTS > /dev/null
			echo "module ctag_uses disable" > $FAULTS
		done
	) &
	toggler=$!
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		uses "hammer 20000"
		failed=$(awk '$1 == "failed" { print $2 }' $USES/table)
		[ $i -lt 3 ] || [ "$failed" = 0 ] || break
	done
	touch /tmp/enough
	wait $toggler
	rm /tmp/enough
	note "$failed allocations failed"
	[ "$failed" -gt 0 ] || fail "none failed"
	faults "module ctag_uses func make_object frequency 7"
	was=$failed
	uses "hammer 700"
	failed=$(awk '$1 == "failed" { print $2 }' $USES/table)
	told=$(sed -n 's/.*ctag_uses func:make_object .* fired:\([0-9]*\) "$/\1/p' $FAULTS)
	eq "fired, and failed" "$told" $((failed - was))
	faults "disable"
	rmmod ctag_uses
	[ -z "$(tags | grep -F '[ctag_uses]')" ] || fail "left of ctag_uses"
}

test_bad_commands()
{
	clean
	uses "points 0"
	faults "$OURS times 3"
	refused " " "a command is missing" "column 2,"
	refused "file x" "a command is missing" "column 7,"
	refused "file x enabel" "no such command" 'column 8, "enabel"'
	refused "module ctag_uses oneshot oneshot" "given twice" "column 26,"
	refused "module ctag_uses oneshot times 3" "contradicts" "column 26,"
	refused "module ctag_uses disable enable" "contradicts" "column 26,"
	refused "module ctag_uses enable disable" "contradicts" "column 25,"
	refused "module ctag_uses frequency" "a number is missing" "column 27,"
	refused "module ctag_uses frequency 0" "out of range" 'column 28, "0"'
	refused "module ctag_uses frequency x" "not a number" 'column 28, "x"'
	refused "module ctag_uses probability 101" "out of range" "column 30,"
	refused "module ctag_uses probability -1" "not a number" "column 30,"
	refused "module ctag_uses times 0" "out of range" "column 24,"
	refused "module ctag_uses times 4294967295" "out of range" "column 24,"
	refused "module ctag_uses task" "a task is missing" "column 22,"
	refused "module ctag_uses task 0" "out of range" "column 23,"
	refused "module ctag_uses task sixteenletters16" "longer than" "column 23,"
	refused "line 5-4 enable" "ends before" "column 6,"
	refused "class nosuch enable" "no such fault point"
	refused 'file "x enable' "no end" "column 6,"
	if head -c 5000 /dev/zero | tr '\0' x > $FAULTS 2>/dev/null; then
		fail "5000 bytes"
	fi
	eq state "$(state)" "enabled times:3 evaluated:0 fired:0"
	faults "disable"
}

test_nothing_is_left()
{
	! grep -q 'evaluated:\|enabled' $FAULTS || fail "$(grep evaluated: $FAULTS)"
	[ ! -d $USES ] || rmmod ctag_uses
	set -- $(sum_tags 'lib/dynamic_fault\.c')
	until_true 10 eval '[ "$(sum_tags "lib/dynamic_fault\\.c:[0-9]+ func:fault_new")" = "0 0" ]' ||
		fail "points hold $1 bytes"
}

run_tests
