# SPDX-License-Identifier: GPL-2.0-only
#
# Memory that is plugged in, used, emptied and unplugged, and memory that a balloon
# returns to the host.  The guest sends commands to qemu's monitor.
#
# append: sysctl.vm.mem_profiling=1
# memory: 512M,slots=4,maxmem=2G
# qemu: -device virtio-balloon-pci
# monitor: yes
# modules: ctag_test ctag_life ctag_keep
# timeout: 480

. /qt/lib.sh

BLOCKS=/sys/devices/system/memory

blocks()
{
	ls -d $BLOCKS/memory[0-9]* | sort
}

more_blocks()
{
	blocks > /tmp/blocks.now
	[ "$(wc -l < /tmp/blocks.now)" -gt "$(wc -l < /tmp/blocks)" ]
}

as_before()
{
	blocks > /tmp/blocks.now
	cmp -s /tmp/blocks /tmp/blocks.now
}

added()
{
	grep -v -x -F -f /tmp/blocks /tmp/blocks.now
}

# plug N: plugs in a module of 128 MiB; sets $added to its blocks
plug()
{
	blocks > /tmp/blocks
	monitor "object_add memory-backend-ram,id=mem$1,size=128M"
	monitor "device_add pc-dimm,id=dimm$1,memdev=mem$1"
	until_true 60 more_blocks || fail "no memory was added"
}

unplug()
{
	for device in /sys/bus/acpi/devices/PNP0C80:*; do
		[ "$(cat "$device/status")" != 0 ] || continue
		echo 1 > "$device/eject" || fail "cannot eject $device"
	done
	until_true 60 as_before || fail "the memory is still there"
	monitor "object_del mem$1"
}

to_state()
{
	for block in $(added); do
		[ "$(cat "$block/state")" = "${1%_movable}" ] && continue
		tries=0
		until echo "$1" > "$block/state" 2>/dev/null; do
			tries=$((tries + 1))
			[ $tries -lt 10 ] || fail "$block does not become $1"
			sleep 1
		done
	done
}

test_r13_add_online_offline_remove()
{
	[ -d $BLOCKS ] || fail "no memory hotplug"
	fresh
	life_load
	for i in 1 2 3; do
		had=$(kilobytes MemTotal)
		plug $i
		to_state online_movable
		eq "kB more" $(($(kilobytes MemTotal) - had)) 131072
		# more than fits without the new memory, so a part of it is there
		load anon 420
		cmd alloc all 20
		life inflate 16
		check_table || fail "round $i: with more memory"
		check_life || fail "round $i: with more memory"
		unload
		to_state offline
		check_table || fail "round $i: offline"
		check_life || fail "round $i: offline"
		cmd free all 20
		life deflate
		unplug $i
		eq "MemTotal" "$(kilobytes MemTotal)" "$had"
		even || fail "round $i: not even"
		check_life || fail "round $i: not even"
	done
}

ballooned()
{
	set -- $(sum_tags 'func:fill_balloon') "$1"
	[ "$1" = "$3" ]
}

# balloon_moved N: compacts memory; succeeds once balloon_migrate in /proc/vmstat is N + 100
balloon_moved()
{
	echo 1 > /proc/sys/vm/compact_memory
	[ "$(vmstat balloon_migrate)" -ge $(($1 + 100)) ]
}

# This case comes before the one that adds memory for good: qemu counts that memory.
test_r08_balloon_of_the_host()
{
	[ -d /sys/bus/virtio/drivers/virtio_balloon ] || fail "no balloon"
	total=$(($(kilobytes MemTotal)))
	monitor "balloon 384"
	until_true 30 ballooned $((128 << 20)) ||
		fail "$(sum_tags 'func:fill_balloon') for 128 MiB"
	eq "line" "$(sum_tags 'func:fill_balloon')" "$((128 << 20)) 32768"
	note "MemTotal $total kB, then $(kilobytes MemTotal) kB"
	# pages of a balloon can be moved, and stay charged to its line
	had=$(vmstat balloon_migrate)
	load holes 64
	until_true 30 balloon_moved "$had" ||
		fail "compaction moved $(($(vmstat balloon_migrate) - had)) pages of the balloon"
	note "$(($(vmstat balloon_migrate) - had)) pages of the balloon moved"
	eq "compacted" "$(sum_tags 'func:fill_balloon')" "$((128 << 20)) 32768"
	unload
	monitor "balloon 448"
	until_true 30 ballooned $((64 << 20)) || fail "not half deflated"
	monitor "balloon 512"
	until_true 30 ballooned 0 || fail "not deflated"
	eq "deflated" "$(sum_tags 'func:fill_balloon')" "0 0"
	eq "MemTotal" "$(kilobytes MemTotal)" "$total"
}

# The kernel uses the memory for unmovable allocations: it stays, and is counted right.
test_r13_add_as_kernel_memory()
{
	[ -d $BLOCKS ] || fail "no memory hotplug"
	plug 9
	to_state online_kernel
	life inflate 300
	check_life || fail "inflated"
	cmd alloc all 100
	check_table || fail "allocated"
	life deflate
	cmd free all 100
	check_life || fail "deflated"
	even || fail "not even"
}

test_no_warnings()
{
	dmesg | grep -E 'alloc_tag:|WARNING' && fail "a warning"
	:
}

run_tests
