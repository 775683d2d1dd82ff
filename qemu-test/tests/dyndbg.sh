# SPDX-License-Identifier: GPL-2.0-only
#
# Dynamic debug is one of several users of code tags.  Its call sites come and go with
# their module while commands and readers use them, and no locks are taken in the wrong
# order.  qemu-test/compare/dyndbg compares its output with the base.
#
# modules: dd_sites ctag_uses slow_module
# timeout: 300

. /qt/lib.sh

CONTROL=/proc/dynamic_debug/control
FAULTS=/sys/kernel/debug/dynamic_faults
SAY=/sys/module/dd_sites/parameters/say
CLASSES=/sys/module/dd_sites/parameters/classes

control()
{
	echo "$1" > $CONTROL || fail "refused: $1"
}

sites()
{
	grep -F '[dd_sites]' $CONTROL
}

# said: the number of its messages in the log since the last call
said()
{
	dmesg -c > /tmp/log
	echo 1 > $SAY
	dmesg -c | grep -c 'dd_sites: .* \(of 10\|the last\)'
}

test_a_hundred_sites()
{
	insmod /modules/dd_sites.ko || fail insmod
	eq sites "$(sites | wc -l)" 100
	eq "in a class" "$(sites | grep -c 'class:DD_\(ONE\|TWO\)$')" 10
	eq "said" "$(said)" 0
	control "module dd_sites +p"
	eq "said" "$(said)" 90
	echo 1 > $CLASSES
	eq "said" "$(said)" 95
	control "module dd_sites func dd_say_f* -p"
	eq "said" "$(said)" 77
	control "module dd_sites class DD_TWO +p; module dd_sites -p"
	eq "said" "$(said)" 10
	rmmod dd_sites
	eq sites "$(sites | wc -l)" 0
}

# A module that is loaded again comes after those that stayed.
test_order()
{
	insmod /modules/dd_sites.ko || fail insmod
	insmod /modules/ctag_uses.ko || fail insmod
	sites > /tmp/first
	rmmod dd_sites
	insmod /modules/dd_sites.ko || fail insmod
	sites | cmp - /tmp/first || fail "the order differs the second time"
	tail -n 100 $CONTROL | cmp - /tmp/first || fail "dd_sites is not the last module"
	rmmod dd_sites
	rmmod ctag_uses
}

test_load_fails()
{
	! insmod /modules/dd_sites.ko classes=no dyndbg=+p 2> /dev/null ||
		fail "loaded"
	eq sites "$(sites | wc -l)" 0
	insmod /modules/dd_sites.ko dyndbg=+p || fail insmod
	eq "on" "$(sites | grep -c ' =p ')" 90
	rmmod dd_sites
}

# in_state STATE: a command runs while dd_sites is being loaded or unloaded
in_state()
{
	until_true 20 grep -q "^dd_sites .* $1 " /proc/modules || fail "dd_sites was never $1"
	control "module dd_sites +p"
	control "module dd_sites -p"
	control "module dd_sites +p"
	grep -q "^dd_sites .* $1 " /proc/modules || fail "dd_sites is no longer $1"
}

# A command may come before jump labels know a module, and after they have dropped it.
test_comes_and_goes_slowly()
{
	insmod /modules/slow_module.ko name=dd_sites ms=3000 || fail insmod
	insmod /modules/dd_sites.ko &
	in_state Loading
	wait $! || fail insmod
	eq "on" "$(sites | grep -c ' =p ')" 90
	eq "said" "$(said)" 90
	control "module dd_sites -p"
	eq "said" "$(said)" 0
	rmmod dd_sites &
	in_state Unloading
	wait $! || fail rmmod
	rmmod slow_module
	eq sites "$(sites | wc -l)" 0
}

# All users of the locks at the same time: commands, readers, CPUs going offline, the
# other users of code tags, modules.
test_all_at_once()
{
	rm -f /tmp/enough
	(while [ ! -e /tmp/enough ]; do
		control "module dd_sites +p; func dd_say_* -p; class DD_ONE =pm"
	done) &
	pids=$!
	(while [ ! -e /tmp/enough ]; do
		cat $CONTROL > /dev/null
		dd if=$CONTROL bs=100 count=50 of=/dev/null 2> /dev/null
	done) &
	pids="$pids $!"
	(while [ ! -e /tmp/enough ]; do
		cat "$INFO" "$CONSERVATION" $FAULTS > /dev/null
		# refused while the module is not loaded
		echo "module dd_sites disable" > $FAULTS || :
	done 2> /dev/null) &
	pids="$pids $!"
	for i in $(seq 15); do
		insmod /modules/dd_sites.ko dyndbg=+p || fail "insmod, round $i"
		echo 0 > /sys/devices/system/cpu/cpu1/online
		echo 1 > $SAY
		rmmod dd_sites || fail "rmmod, round $i"
		echo 1 > /sys/devices/system/cpu/cpu1/online
	done
	touch /tmp/enough
	for pid in $pids; do
		wait "$pid" || fail "a command was refused"
	done
	eq sites "$(sites | wc -l)" 0
	control "=_"
}

run_tests
