# SPDX-License-Identifier: GPL-2.0-only
#
# No matter which points are enabled, "echo disable" works, in the shell that enabled them
# and in an older one; so does SysRq-F.  Everything else may fail meanwhile, and no
# process dies.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=0
# timeout: 300
# expect-console: sysrq: Disable all fault points

. /qt/lib.sh

FAULTS=/sys/kernel/debug/dynamic_faults

[ -e $FAULTS ] || SKIP_ALL="no dynamic fault injection"

# After "enable" a shell has only its built-in commands, because it cannot fork.  Code here
# may open only the file for commands, /proc/sysrq-trigger, and the file whose open shall
# fail.

# refused N: tries N times to open another file; sets $refused to the number of failures
refused()
{
	refused=0
	i=0
	while [ $i -lt "$1" ]; do
		echo x > /tmp/probe || refused=$((refused + 1))
		i=$((i + 1))
	done
}

# lock_out COMMAND: writes it, tries to open other files, then disables all; sets $ok
lock_out()
{
	ok="not enabled"
	echo "$1" > $FAULTS || return
	ok="the list cannot be read"
	read -r first < $FAULTS && ok="cannot disable"
	refused 100
	# the shell has memory of its own already
	grown=xxxxxxxx
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
		grown=$grown$grown
	done
	[ "$ok" != "cannot disable" ] || ! echo disable > $FAULTS || ok=yes
}

# check COMMAND N: 100 files are opened and N of them fail; N is a number, "some" or "any"
check()
{
	lock_out "$1" 2> /tmp/errors
	eq "$1" "$ok" yes
	case $2 in
	any) ;;
	some) [ "$refused" -gt 0 ] || fail "$1: no open failed" ;;
	*) eq "$1: opens that failed" "$refused" "$2" ;;
	esac
	eq "$1: memory" ${#grown} 524288
	case $first in
	*:[0-9]*' module:'*' class:memory '*) ;;
	*) fail "$1: the list begins with $first" ;;
	esac
	kill -0 1 || fail "no init"
	eq "points left" "$(grep -c evaluated: $FAULTS)" 0
	echo x > /tmp/probe || fail "$1: opening still fails after disable"
	[ "$(ls / | wc -l)" -gt 5 ] || fail "ls"
}

test_everything()
{
	for command in enable "class memory enable" "file * enable" "module * enable" \
		"frequency 1" "probability 100" "times 2000000000"; do
		check "$command" 100
	done
}

test_by_name_of_the_task()
{
	check "task * enable" 100
	check "task sh enable" 100
	read -r self _ < /proc/self/stat
	check "task $self enable" 100
}

test_what_opening_takes()
{
	check "func __alloc_file enable" 100
	check "func getname_flags enable" 100
	check "file fs/* enable" 100
	check "file fs/* frequency 2" some
	check "probability 50" some
}

# The shell's own memory, and the allocations of a page fault
test_memory_of_the_shell()
{
	check "file mm/* enable" any
	check "file mm/mmap.c enable" 0
	check "file kernel/fork.c enable" 0
	check "file mm/memory.c enable" 0
}

# A point with a task: the shell enables it for itself, and it fails in the shell
test_in_the_same_shell()
{
	{ echo "func __alloc_file oneshot" > $FAULTS; refused 10; echo disable > $FAULTS; } 2> /tmp/errors
	eq "opens that failed" $refused 1
}

# An unrelated process fails all the time.
test_bystander()
{
	rm -f /tmp/n
	(
		n=0
		until [ -e /tmp/enough ]; do
			echo x > /tmp/probe.2 || n=$((n + 1))
		done
		until echo $n > /tmp/n; do :; done
	) 2> /tmp/errors.2 &
	bystander=$!
	usleep 300000
	{
		echo enable > $FAULTS
		refused 3000
		echo disable > $FAULTS
	} 2> /tmp/errors
	eq "opens that failed" $refused 3000
	kill -0 $bystander || fail "the bystander is dead"
	touch /tmp/enough
	wait $bystander
	rm /tmp/enough
	read -r n < /tmp/n
	note "a bystander could not open a file $n times"
	[ "$n" -gt 0 ] || fail "a bystander did not fail"
}

# A process that waits and then disables all points with one write.
test_by_another()
{
	[ -p /tmp/never ] || mkfifo /tmp/never
	rm -f /tmp/tries
	(
		exec 3<> /tmp/never
		read -r -t 3 _ <&3
		tries=1
		until echo disable > $FAULTS || [ $tries -ge 100 ]; do
			tries=$((tries + 1))
		done
		echo $tries > /tmp/tries
	) 2> /tmp/errors.2 &
	other=$!
	usleep 500000
	{
		echo enable > $FAULTS
		before=
		echo x > /tmp/probe || before=fails
		wait $other
		after=
		echo x > /tmp/probe || after=fails
		echo disable > $FAULTS
	} 2> /tmp/errors
	eq "before and after" "$before,$after" "fails,"
	eq tries "$(cat /tmp/tries)" 1
}

# The other way to disable all, which needs no file in debugfs
test_sysrq()
{
	{
		echo "task * enable" > $FAULTS
		before=
		echo x > /tmp/probe || before=fails
		opened=
		echo F > /proc/sysrq-trigger || opened=fails
		tries=0
		until echo x > /tmp/probe || [ $tries -ge 100000 ]; do
			tries=$((tries + 1))
		done
		[ -z "$opened" ] || echo disable > $FAULTS
	} 2> /tmp/errors
	eq "opening sysrq-trigger" "$opened" ""
	eq before "$before" fails
	note "works after $tries tries"
	[ $tries -lt 100000 ] || fail "still fails"
	until_true 20 eval '! grep -q evaluated: $FAULTS' ||
		fail "points are left"
	# and points can be enabled again
	{ echo "func __alloc_file oneshot" > $FAULTS; refused 10; echo disable > $FAULTS; } 2> /tmp/errors
	eq "opens that failed" $refused 1
}

run_tests
