# SPDX-License-Identifier: GPL-2.0-only
#
# The boot parameter of fault points: code that runs at boot fails, and so does code of a
# module each time it is loaded, until "disable".  A wrong command is reported, and the
# other commands apply.
#
# append: sysctl.vm.mem_profiling=1 dynamic_faults="module dummy func dummy_init_one index 0 oneshot; func x enabel" dynamic_faults="module ctag_uses class ctag frequency 2; module ctag_keep func ctag_keep_init oneshot; nonsense; module 'no;where' enable"
# append: sysctl.vm.mem_profiling=0 dynamic_faults="module dummy func dummy_init_one index 0 oneshot; func x enabel; module ctag_uses class ctag frequency 2; module ctag_keep func ctag_keep_init oneshot; nonsense;"
# modules: ctag_uses ctag_keep
# expect-console: dynamic_faults: boot parameter: column 9, "enabel": no such command
# expect-console: dynamic_faults: boot parameter: ignored:  func x enabel
# expect-console: dynamic_faults: boot parameter: column 2, "nonsense": no such command
# expect-console: !dynamic_faults: .*where

. /qt/lib.sh

FAULTS=/sys/kernel/debug/dynamic_faults
USES=/sys/kernel/debug/ctag_uses

[ -e $FAULTS ] || SKIP_ALL="no dynamic fault injection"

# state: the state of the point of class ctag
state()
{
	sed -n 's/.* module:ctag_uses func:points class:ctag \(.*\) "$/\1/p' $FAULTS
}

# fired: the number of 20 evaluations of class ctag that fired
fired()
{
	echo "points 20" > $USES/cmd
	awk '$1 == "ctag" { print $2 }' $USES/table
}

test_init_code()
{
	[ ! -e /sys/class/net/dummy0 ] || fail "dummy0 is there"
	eq "fired" "$(grep -c 'module:dummy func:dummy_init_one .* disabled evaluated:1 fired:1 "$' $FAULTS)" 1
	eq "points" "$(grep -c evaluated: $FAULTS)" 1
}

test_module()
{
	for i in 1 2 3; do
		insmod /modules/ctag_uses.ko || fail insmod
		eq state "$(state)" "enabled frequency:2 evaluated:0 fired:0"
		eq fired "$(fired)" 10
		eq state "$(state)" "enabled frequency:2 evaluated:20 fired:10"
		rmmod ctag_uses
		eq "points" "$(grep -c evaluated: $FAULTS)" 1
	done
}

test_init_of_a_module()
{
	for i in 1 2; do
		! insmod /modules/ctag_keep.ko 2> /tmp/error || fail "loaded"
		grep -qi memory /tmp/error || fail "$(cat /tmp/error)"
	done
}

# A later command of the user overrides the boot parameter for these points.
test_some_disabled()
{
	insmod /modules/ctag_uses.ko || fail insmod
	echo "module ctag_uses disable" > $FAULTS
	eq fired "$(fired)" 0
	rmmod ctag_uses
	insmod /modules/ctag_uses.ko || fail insmod
	eq fired "$(fired)" 10
	rmmod ctag_uses
}

test_all_disabled()
{
	echo disable > $FAULTS
	eq "points" "$(grep -c evaluated: $FAULTS)" 0
	insmod /modules/ctag_uses.ko || fail insmod
	eq state "$(state)" disabled
	eq fired "$(fired)" 0
	insmod /modules/ctag_keep.ko || fail "insmod ctag_keep"
	rmmod ctag_keep ctag_uses
}

run_tests
