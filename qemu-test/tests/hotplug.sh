# SPDX-License-Identifier: GPL-2.0-only
#
# Memory blocks go offline and online, and pages are poisoned.
#
# append: sysctl.vm.mem_profiling=1 movablecore=320M
# memory: 768M
# modules: ctag_test ctag_life ctag_keep
# expect-console: Memory failure: 0x[0-9a-f]+: recovery action

. /qt/lib.sh
. /qt/bin/moved

test_r13_offline_and_online()
{
	[ -d $BLOCKS ] || fail "no memory hotplug"
	[ "$(uname -m)" != aarch64 ] || skip "arm64 refuses to take memory of boot time offline"
	mod_load
	load anon 64
	before=$(kilobytes MemTotal)
	rounds=0
	while [ $rounds -lt 5 ]; do
		block=$(take_one)
		[ -n "$block" ] || fail "no block goes offline"
		[ "$(kilobytes MemTotal)" -lt "$before" ] || fail "MemTotal did not shrink"
		cmd alloc all 5
		check_table || fail "with $block offline"
		echo online > "$block/state" || fail "$block does not come back"
		cmd alloc all 5
		check_table || fail "with $block back"
		cmd free all 10
		check_table || fail "freed"
		rounds=$((rounds + 1))
	done
	eq MemTotal "$(kilobytes MemTotal)" "$before"
	unload
	even || fail "not even"
}

test_r15_poison()
{
	inject=/sys/kernel/debug/hwpoison/corrupt-pfn
	[ -w $inject ] || fail "no hwpoison injector"
	set -- $(sum_tags 'func:do_anonymous_page')
	before=$2
	load anon 16
	set -- $(sum_tags 'func:do_anonymous_page')
	[ "$2" -gt "$((before + 2000))" ] || fail "16 MiB are $(($2 - before)) pages"
	pfn=$(/qt/bin/pfn $LOAD)
	[ -n "$pfn" ] || fail "no page frame of process $LOAD"
	echo "$pfn" > $inject || fail "cannot poison $pfn"
	kill -9 $LOAD 2>/dev/null
	wait $LOAD 2>/dev/null
	settle
	echo "$pfn" > /sys/kernel/debug/hwpoison/unpoison-pfn || fail "cannot restore $pfn"
	set -- $(sum_tags 'func:do_anonymous_page')
	[ "$2" -le "$((before + 200))" ] || fail "$(($2 - before)) pages are left"
}

# A page whose contents are moved away is freed while it is marked, and again when it is
# restored.
test_r15_soft_offline()
{
	offline=$BLOCKS/soft_offline_page
	[ -w $offline ] || fail "no memory failure"
	set -- $(sum_tags 'func:do_anonymous_page')
	before=$2
	load anon 16
	for i in 1 2 3 4; do
		pfn=$(/qt/bin/pfn $LOAD)
		[ -n "$pfn" ] || fail "no page frame of process $LOAD"
		echo $((pfn * 4096)) > $offline || fail "cannot take $pfn out"
		[ "$(/qt/bin/pfn $LOAD)" != "$pfn" ] || fail "$pfn is still in use"
		echo "$pfn" > /sys/kernel/debug/hwpoison/unpoison-pfn || fail "cannot restore $pfn"
	done
	dmesg | grep -E 'alloc_tag:|WARNING|Bad page' && fail "a warning"
	! debug_kernel || conserved "restored"
	unload
	settle
	set -- $(sum_tags 'func:do_anonymous_page')
	[ "$2" -le "$((before + 200))" ] || fail "$(($2 - before)) pages are left"
}

# Soft offline: the contents of a page move elsewhere, and no line holds the frame.
test_r15_soft_offline_exactly()
{
	moved offline 16
}

# A part of a huge page: the page is split, and the rest stays in use.
test_r15_poison_of_huge_pages_exactly()
{
	moved poison 32
}

# A poisoned page leaves the table when its memory goes offline.
test_r15_poison_and_offline_exactly()
{
	[ "$(uname -m)" != aarch64 ] || skip "arm64 refuses to take memory of boot time offline"
	moved unplug 300	# enough to reach each block of ZONE_MOVABLE
}

# A page that the kernel holds is poisoned, freed and restored, and no counter falls below
# zero.
test_r15_poison_exactly()
{
	inject=/sys/kernel/debug/hwpoison
	[ -w $inject/corrupt-pfn ] || fail "no hwpoison injector"
	life_load
	for i in 1 2 3; do
		life page
		check_life || fail "round $i: allocated"
		pfn=$(cat $LIFE/pfn)
		# in use by the kernel, which cannot give it up: not recoverable
		echo "$pfn" > $inject/corrupt-pfn 2>/dev/null
		dmesg | grep -q "Memory failure: $pfn: recovery" || fail "$pfn is not poisoned"
		check_life || fail "round $i: poisoned"
		life unpage
		check_life || fail "round $i: given back"
		echo "$pfn" > $inject/unpoison-pfn || fail "cannot restore $pfn"
		check_life || fail "round $i: restored"
		life inflate 32
		check_life || fail "round $i: in use again"
		life deflate
	done
	dmesg | grep -E 'alloc_tag:|WARNING|Bad page' && fail "a warning"
	life_unload
}

run_tests
