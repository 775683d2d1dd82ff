# SPDX-License-Identifier: GPL-2.0-only
#
# bcache shows the times of a cache set with lib/time_stats.c: in the same files and units
# as before, with -1 as the last time if there was none.  The statistics are freed with
# the set.
#
# append: sysctl.vm.mem_profiling=1
# disk: 128M
# programs: make-bcache

. /qt/lib.sh

BCACHE=/sys/fs/bcache

# figure NAME: prints a figure of the only cache set
figure()
{
	cat $BCACHE/*-*/internal/"$1" || fail "no $1"
}

# A set is still registered for a moment after it has left sysfs: retry.
attach()
{
	for dev in /dev/loop0 /dev/loop1; do
		until_true 20 eval "echo $dev > $BCACHE/register" 2> /dev/null ||
			fail "$dev cannot be registered"
	done
	for try in $(seq 100); do
		ls -d /sys/block/bcache*/bcache/cache > /tmp/device 2> /dev/null && return 0
		sleep 0.1
	done
	fail "no device with a cache"
}

# Both stop some time after the request
detach()
{
	echo 1 > "$(dirname "$(cat /tmp/device)")/stop"
	echo 1 > "$(echo $BCACHE/*-*)/stop"
	for try in $(seq 100); do
		[ -n "$(ls -d /sys/block/bcache* $BCACHE/*-* 2> /dev/null)" ] || return 0
		sleep 0.1
	done
	fail "the cache set does not stop"
}

test_registers()
{
	mount_disk
	truncate -s 64M /mnt/cache		# at least 1024 buckets
	truncate -s 48M /mnt/backing
	losetup /dev/loop0 /mnt/cache || fail losetup
	losetup /dev/loop1 /mnt/backing || fail losetup
	make-bcache -b 64k -C /dev/loop0 -B /dev/loop1 > /tmp/made 2>&1 || fail "$(cat /tmp/made)"
	attach
}

test_files()
{
	for what in btree_gc:sec:ms btree_split:sec:us btree_sort:ms:us btree_read:ms:us; do
		IFS=: read -r name seldom long <<-END
			$what
		END
		for file in average_frequency_$seldom average_duration_$long \
			max_duration_$long last_$seldom; do
			echo "${name}_$file"
		done
	done | sort > /tmp/wanted
	ls $BCACHE/*-*/internal | grep -E '_(average_frequency|average_duration|max_duration|last)_' |
		sort | diff - /tmp/wanted > /tmp/differ || fail "$(cat /tmp/differ)"
}

writes()
{
	dd if=/dev/urandom of="/dev/$(cut -d / -f 4 /tmp/device)" bs=4k count=500 \
		seek=$(($1 * 2000)) conv=fsync 2> /dev/null || fail "dd"
}

test_times()
{
	eq "no split yet" "$(figure btree_split_last_sec)" -1
	eq "no split yet" "$(figure btree_split_max_duration_us)" 0
	# each round adds a set of keys to a node; reading the node sorts them
	for round in 1 2 3; do
		writes $round
		detach
		attach
	done
	for round in 4 5; do
		writes $round
		echo 1 > "$(echo $BCACHE/*-*/internal)/trigger_gc"
		sleep 0.7
	done
	for name in btree_gc:sec:ms btree_sort:ms:us; do
		IFS=: read -r name seldom long <<-END
			$name
		END
		last=$(figure ${name}_last_$seldom)
		mean=$(figure ${name}_average_duration_$long)
		max=$(figure ${name}_max_duration_$long)
		often=$(figure ${name}_average_frequency_$seldom)
		note "$name: last $last $seldom ago, every $often $seldom, $mean $long, at most $max $long"
		[ "$last" -ge 0 ] && [ "$mean" -le "$max" ] && [ "$often" -ge 0 ] || fail "$name"
		[ "$seldom" = ms ] || [ "$last" -lt 60 ] || fail "$name: $last"
	done
	[ "$(figure btree_sort_max_duration_us)" -gt 0 ] || fail "no sort took any time"
	was=$(figure btree_sort_last_ms)
	sleep 1.2
	[ "$(figure btree_sort_last_ms)" -ge $((was + 1000)) ] || fail "the last time does not advance"
}

# The histograms are freed with the set, and the next set starts with new ones
test_comes_again()
{
	for round in 1 2 3 4 5; do
		detach
		attach
	done
	eq "split" "$(figure btree_split_last_sec)" -1
	[ "$(figure btree_read_last_ms)" -ge 0 ] || fail "no node was read"
	settle
	held=$(awk '/ func:give_histogram/ { print $2 }' /proc/allocinfo)
	note "$held histograms"
	[ "$held" -ge 1 ] && [ "$held" -le 4 ] || fail "$held histograms of one set"
	detach
	eq "histograms" "$(awk '/ func:give_histogram/ { print $2 }' /proc/allocinfo)" 0
}

run_tests
