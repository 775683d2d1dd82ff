# SPDX-License-Identifier: GPL-2.0-only
#
# Recording from boot on: most memory is initialized long after the buffers are requested.
# A CPU that was online before, but is offline when the files are created, still has a file.
#
# append: kmemtrace.subbufs=500 nosmt
# memory: 1G
# qemu: -smp 2,sockets=1,cores=1,threads=2
# qemu: -cpu max,vendor=GenuineIntel

. /qt/lib.sh

KT=/sys/kernel/debug/kmemtrace
SMT=/sys/devices/system/cpu/smt

test_memory_that_comes_later()
{
	dmesg | grep -q 'deferred pages initialised' || fail "no memory came later"
	eq subbufs "$(cat $KT/subbufs)" 500
	eq enabled "$(cat $KT/enabled)" 1
}

# the number of events recorded and lost on cpu1
events()
{
	awk '$1 == 1 { print $2 + $4 }' $KT/stats
}

test_cpu_that_was_online_once()
{
	eq threads "$(cat $SMT/control)" off
	eq online "$(cat /sys/devices/system/cpu/online)" 0
	eq "file of a CPU that is offline" "$(stat -c %a $KT/cpu1)" 400
	was=$(events)
	echo on > $SMT/control || fail "the sibling stays offline"
	eq online "$(cat /sys/devices/system/cpu/online)" 0-1
	taskset 2 find /proc/self > /dev/null
	now=$(events)
	[ "$now" -gt "$was" ] || fail "events of cpu1: $was, then $now"
	echo 0 > $KT/enabled || fail "it cannot be switched off"
	read=$(dd if=$KT/cpu1 bs=256k 2> /dev/null | wc -c)
	[ "$read" -gt 0 ] || fail "nothing is read from cpu1"
	note "$(events) events on cpu1, $read bytes read"
	eq lost "$(cat $KT/total_overruns)" 0
}

run_tests
