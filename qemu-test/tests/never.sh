# SPDX-License-Identifier: GPL-2.0-only
#
# Profiling is "never": by the parameter, and by default without a parameter.
#
# append: sysctl.vm.mem_profiling=never
# append: sysctl.vm.mem_profiling=never,compressed
# append: qt.no_parameter
# modules: ctag_test ctag_keep

. /qt/lib.sh

test_r22_sysctl_read_only()
{
	eq mode "$(stat -c %a $MP)" 444
	eq value "$(cat $MP)" 0
	for v in 0 1 2; do
		echo $v 2>/dev/null > $MP && fail "took $v"
		eq value "$(cat $MP)" 0
	done
	:
}

test_nothing_accounted()
{
	eq "first line" "$(sed -n 1p $INFO)" "allocinfo - version: 2.0"
	eq "second line" "$(sed -n 2p $INFO)" "#     <size>  <calls> <tag info>"
	eq "bytes and calls" "$(sum_tags .)" "0 0"
}

# make bench measures this kernel, too
test_reads_can_be_measured()
{
	[ -x /qt/bin/allocinfo_cost ] || skip "no allocinfo_cost here"
	/qt/bin/allocinfo_cost > /tmp/cost || fail "allocinfo_cost fails"
	eq "tables by node" "$(grep nodes /tmp/cost)" "read: nodes n/a"
}

test_memory_is_given_back()
{
	[ "$(uname -m)" != aarch64 ] || skip "only x86 frees a part of its image"
	# 512K, or 256K on 32 bit
	dmesg | grep -Eq "Freeing unused kernel image \(allocation tags\) memory: (512|256)K" ||
		fail "the array of counters stays"
	# use all free memory, that of the array, too
	dd if=/dev/zero of=/tmp/fill bs=1M count=$(($(kilobytes MemFree) / 1024 - 40)) 2>/dev/null
	[ "$(tr -d '\0' < /tmp/fill | wc -c)" = 0 ] || fail "other bytes in memory"
	rm /tmp/fill
}

# A command to alloc_tags.ctx fails with EOPNOTSUPP, as codetag-lockdown.rst says.  nodes.sh and
# never_debug.sh test the other files of that list.
test_what_needs_profiling_is_not_supported()
{
	grep -q "mem_profiling=never" /proc/cmdline || skip "one boot is enough"
	for f in /proc/alloc_tags.ctx /sys/kernel/debug/alloc_tags.ctx; do
		[ -e $f ] || skip "no $f"
		! (echo "func __alloc_file enable" > $f) 2> /tmp/err || fail "$f took a command"
		grep -q "not supported" /tmp/err || fail "$f: $(cat /tmp/err)"
	done
}

test_no_records()
{
	for how in "" --compat; do
		# shellcheck disable=SC2086
		/qt/bin/allocinfo $how empty || fail "allocinfo $how empty"
	done
	/qt/bin/allocinfo32 > /tmp/raw || fail "allocinfo32: $?"
	[ ! -s /tmp/raw ] || fail "a record"
}

test_r23_modules()
{
	mod_load
	cmd alloc all 20
	cmd alloc all 20 softirq 1
	cmd alloc all 20 hardirq 0
	eq "bytes and calls" "$(sum_tags .)" "0 0"
	cmd free all 20
	cmd churn 100
	cmd keep all
	# objects of the module's caches are not kept: the caches are destroyed with it
	mod_unload
	echo 1 > $KEEP/free
	insmod /modules/ctag_test.ko fail=1 2>/dev/null && fail "loaded"
	mod_load
	mod_unload
	eq "bytes and calls" "$(sum_tags .)" "0 0"
}

run_tests
