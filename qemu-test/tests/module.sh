# SPDX-License-Identifier: GPL-2.0-only
#
# Modules are loaded and unloaded, some of them before their memory is freed.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_keep ctag_names ctag_uses
# timeout: 360

. /qt/lib.sh

gone()
{
	mod_lines > /tmp/left
	[ ! -s /tmp/left ] && return
	head -2 /tmp/left | sed 's/^/# /'
	return 1
}

test_unload()
{
	mod_load
	cmd alloc all 20
	tags | grep -qF '[ctag_test]' || fail "no lines"
	mod_unload
	gone || fail "lines left"
}

# The memory of an unloaded module: its line keeps counters, names and line numbers.
test_r01_unload_with_live_memory()
{
	mod_load
	cmd alloc all 20
	cmd free cache_alloc 20
	cmd free cache_zalloc 20
	cmd free cache_node 20
	cmd free cache_bulk 20
	awk '$4' $CTAG/table > /tmp/live
	cmd keep all
	mod_unload
	# reuse the address range of the module
	mod_load
	mod_unload
	settle
	check_table /tmp/live || fail "with the module gone"
	n=$(tags | grep -cF '[ctag_test]')
	note "$n lines remain"
	echo 1 > $KEEP/free
	gone || fail "lines left after the free"
}

test_r01_loaded_again_beside_its_remains()
{
	mod_load
	cmd alloc kmalloc_1024 10
	cmd alloc alloc_page 10
	cmd keep all
	mod_unload
	mod_load
	cmd alloc kmalloc_1024 5
	cmd alloc alloc_page 5
	sed -e 's/^\(kmalloc_1024 .*\) 5 5 /\1 15 15 /' \
	    -e 's/^\(alloc_page .*\) 5 20480 /\1 15 61440 /' \
		$CTAG/table > /tmp/both
	check_table /tmp/both || fail "sum of old and new"
	echo 1 > $KEEP/free
	check_table || fail "the new alone"
	mod_unload
	gone || fail "lines left"
}

# load_fails PARAMETER: the load with PARAMETER fails and leaves nothing, and a later one succeeds
load_fails()
{
	for i in 1 2 3; do
		insmod /modules/ctag_test.ko "$1" 2>/dev/null && fail "loaded"
		gone || fail "lines left"
	done
	mod_load
	cmd alloc all 5
	check_table || fail "loaded after a failure"
	mod_unload
}

test_r02_init_fails()
{
	load_fails fail=1
}

test_r02_init_fails_with_live_memory()
{
	insmod /modules/ctag_test.ko fail=2 2>/dev/null && fail "loaded"
	[ "$(cat $KEEP/count)" -gt 100 ] || fail "nothing kept"
	[ -n "$(site_lines)" ] || fail "no lines for what is kept"
	# busybox tries a second system call after the first has failed, so 10 or 20
	set -- $(sum_tags 'ctag_test.c:[0-9]+ .ctag_test. func:make_alloc_page ')
	[ "$2" = 10 ] || [ "$2" = 20 ] || fail "$2 calls of alloc_page()"
	eq "bytes" "$1" "$(($2 * 4096))"
	mod_load
	mod_unload
	echo 1 > $KEEP/free
	gone || fail "lines left"
}

# The loader adds the tags before it reads the parameters.
test_r02_wrong_parameter()
{
	load_fails fail=x
}

# lists: the files that have a line of ctag_uses
lists()
{
	grep -lF ctag_uses $INFO /sys/kernel/debug/dynamic_faults /sys/kernel/debug/time_stats /proc/modules
}

# ctag_uses has tags of several types. Each allocation that adds them fails, once for each type.
test_r03_no_memory_for_tags()
{
	faults=/sys/kernel/debug/dynamic_faults
	[ -e $faults ] || skip "no fault injection"
	insmod /modules/ctag_uses.ko || fail insmod
	lists > /tmp/want
	rmmod ctag_uses
	[ "$(wc -l < /tmp/want)" -gt 2 ] || fail "only in $(cat /tmp/want)"
	sed -n 's/^\([^ ]*\):\([0-9]*\) .*func:codetag_load_range class:memory .*/\1 \2/p' $faults > /tmp/points
	eq "points" "$(wc -l < /tmp/points)" 2
	while read -r file line; do
		n=1
		echo "file $file line $line frequency $n task insmod" > $faults
		while ! insmod /modules/ctag_uses.ko 2> /tmp/err; do
			grep -q 'out of memory\|Cannot allocate' /tmp/err || fail "$(cat /tmp/err)"
			eq "after evaluation $n of $file:$line failed" "$(lists)" ""
			n=$((n + 1))
			[ $n -lt 20 ] || fail "$file:$line: it never loads"
			echo "file $file line $line frequency $n task insmod" > $faults
		done
		echo disable > $faults
		lists | cmp - /tmp/want || fail "loaded after $file:$line had failed"
		rmmod ctag_uses
		note "$file:$line failed for $((n - 1)) types"
		[ $n -gt 2 ] || fail "$file:$line failed $((n - 1)) times"
	done < /tmp/points
	eq "without the module" "$(lists)" ""
}

test_r04_reader_across_unload()
{
	mod_load
	cmd alloc all 5
	for skip in 1 20 200 100000; do
		# the reader sleeps in the middle of the file, which stays open
		{
			dd bs=512 count=$skip 2>/dev/null
			sleep 1
			cat
		} < $INFO > /tmp/text &
		usleep 300000
		mod_unload
		mod_load
		wait $! || fail "reader failed"
		sed -i 1,2d /tmp/text
		[ "$(wc -l < /tmp/text)" -gt 500 ] || fail "$skip: only $(wc -l < /tmp/text) lines"
		grep -vE "$LINE" /tmp/text | head -3 | sed 's/^/# /'
		grep -qvE "$LINE" /tmp/text && fail "$skip: lines have another form"
	done
	mod_unload
}

come_and_go()
{
	while :; do
		insmod /modules/ctag_test.ko
		echo "alloc all 2" > $CTAG/cmd
		rmmod ctag_test
	done
}

# All lines of the kernel itself are there once, in their order, for any size of read and
# while modules are loaded and unloaded.
test_r05_small_reads_while_modules_come_and_go()
{
	names='$4 !~ /^\[ctag_/ { $1 = $2 = ""; print }'
	tags | awk "$names" > /tmp/want
	echo 1 > $KEEP/free
	come_and_go 2>/dev/null &
	for size in 37 100 1000 4096; do
		for i in 1 2 3; do
			dd if=$INFO bs=$size 2>/dev/null | sed 1,2d |
				awk "$names" > /tmp/got
			cmp -s /tmp/want /tmp/got && continue
			kill $!
			fail "read by $size: $(wc -l < /tmp/want) lines before, $(wc -l < /tmp/got) now"
		done
	done
	# wait until no insmod is running
	kill $!
	wait $! 2>/dev/null
	sleep 1
	rmmod ctag_test 2>/dev/null
	gone || fail "lines left"
}

# A module is unloaded while a reader is in the middle of its lines. The reader then gets each line
# of the next module once. Of the unloaded module, it gets each line that holds memory once.
test_r05_unload_under_a_reader()
{
	names='{ $1 = $2 = ""; print }'
	for keep in no yes; do
		mod_load
		insmod /modules/ctag_names.ko || fail "insmod ctag_names"
		if [ $keep = yes ]; then
			cmd alloc all 5
			cmd keep all
		fi
		# the place of the 20th line of the module, in reads of 100 bytes
		reads=$(awk '/\[ctag_test\]/ && ++n == 20 { print int(b / 100); exit } { b += length() + 1 }' $INFO)
		exec 3< $INFO
		dd bs=100 count="$reads" <&3 > /tmp/part 2>/dev/null
		n=$(grep -cF '[ctag_test]' /tmp/part)
		[ "$n" -gt 0 ] && [ "$n" -lt 40 ] || fail "$n lines of the module were read"
		rmmod ctag_test || fail rmmod
		cat <&3 >> /tmp/part
		exec 3<&-
		sed 1,2d /tmp/part | awk "$names" > /tmp/got
		# all that is there now was there before
		tags | awk "$names" > /tmp/want
		each_as_often lines /tmp/got /tmp/want
		eq "lines of the module behind" "$(grep -cF '[ctag_names]' /tmp/got)" 3
		[ $keep = no ] || grep -qF '[ctag_test]' /tmp/want || fail "no memory was kept"
		rmmod ctag_names
		echo 1 > $KEEP/free
		gone || fail "lines left"
	done
}

# Free memory, including the per-CPU lists, which may hold megabytes
free_memory()
{
	lists=$(awk '$1 == "count:" { n += $2 } END { print n * 4 }' /proc/zoneinfo)
	echo $(($(kilobytes MemFree) + lists))
}

test_hundred_times()
{
	names='Slab SUnreclaim VmallocUsed Percpu KernelStack'
	once()
	{
		mod_load
		cmd alloc all 5
		[ $(($1 % 10)) = 0 ] && cmd keep all
		mod_unload
		[ $(($1 % 10)) = 0 ] && echo 1 > $KEEP/free
	}
	for i in 1 2 3 4 5 6 7 8 9 10; do
		once $i
	done
	settle 2
	# create both files in advance, so that their memory is in both snapshots
	for f in after before; do
		snapshot /tmp/$f
	done
	for n in $names; do
		kilobytes $n > /tmp/before.$n
	done
	free=$(free_memory)
	snapshot /tmp/before
	i=0
	while [ $i -lt 100 ]; do
		i=$((i + 1))
		once $i
	done
	gone || fail "lines left"
	settle 2
	snapshot /tmp/after
	for n in $names; do
		grown=$(($(kilobytes $n) - $(cat /tmp/before.$n)))
		note "$n grew by $grown kB"
		[ $grown -lt 256 ] || fail "$n grew by $grown kB in 100 loads"
	done
	grown=$((free - $(free_memory)))
	awk -F'\t' 'NR == FNR { b[$1] = $2; next } $2 - b[$1] >= 65536 {
		print "# " $1 " has " $2 - b[$1] " bytes more" }' /tmp/before /tmp/after
	[ $grown -lt 2048 ] || fail "$grown kB were lost in 100 loads"
	# no line may have grown with every load; debugobjects keeps its memory
	awk -F'\t' 'NR == FNR { c[$1] = $3; next }
		    $1 ~ /func:fill_pool$/ { next }
		    $3 - c[$1] >= 100 { print "# " $1 ": " c[$1] " -> " $3 " calls"; bad = 1 }
		    END { exit bad }' /tmp/before /tmp/after ||
		fail "a line grows with every load"
}

run_tests
