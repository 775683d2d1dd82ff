# SPDX-License-Identifier: GPL-2.0-only
#
# Pages move, split and break while profiling is "never" and there is no memory for
# references: all of that works, without a warning, and no line is shown.
#
# append: sysctl.vm.mem_profiling=never cma=192M movablecore=256M
# memory: 768M
# disk: 256M
# timeout: 240
# expect-console: Memory failure: 0x[0-9a-f]+: recovery action

. /qt/lib.sh
. /qt/bin/moved

test_split()
{
	moved split 64
}

test_collapse()
{
	moved collapse 32
}

test_migrate()
{
	moved compact 448
}

test_contiguous_area()
{
	[ -w /sys/kernel/debug/cma/reserved/alloc ] || skip "no contiguous area"
	# The helper moves fills memory until some of its pages are in the contiguous area, and then
	# allocates half of that area, 96 MiB.  So 130 MiB stay free: the 96 MiB and 34 MiB to spare.
	free=$(($(kilobytes MemFree) / 1024))
	note "$free MiB free"
	moved cma $((free - 130))
}

test_swap_out_and_in()
{
	moved_by_swap 64
}

test_fork()
{
	moved fork 32
}

test_soft_offline()
{
	moved offline 16
}

test_poison()
{
	moved poison 32
}

# Memory that goes online gets no references, and what goes offline has none.
test_offline_and_online()
{
	[ -d $BLOCKS ] || skip "no memory hotplug"
	[ "$(uname -m)" != aarch64 ] || skip "arm64 refuses to take memory of boot time offline"
	total=$(kilobytes MemTotal)
	for i in 1 2 3; do
		block=$(take_one)
		[ -n "$block" ] || fail "no block goes offline"
		[ "$(kilobytes MemTotal)" -lt "$total" ] || fail "MemTotal did not shrink"
		echo online > "$block/state" || fail "$block does not come back"
		eq MemTotal "$(kilobytes MemTotal)" "$total"
		moved fork 32
	done
}

test_nothing_shown()
{
	eq lines "$(wc -l < $INFO)" 2
	eq "bytes and calls" "$(sum_tags .)" "0 0"
	dmesg | grep -E 'alloc_tag:|WARNING|Bad page' && fail "a warning"
	:
}

run_tests
