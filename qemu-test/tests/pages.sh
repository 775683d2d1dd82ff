# SPDX-License-Identifier: GPL-2.0-only
#
# Pages keep their line when they are moved, merged, split and handed over.
#
# append: sysctl.vm.mem_profiling=1
# memory: 768M
# disk: 64M
# timeout: 240

. /qt/lib.sh

# "bytes calls" of the lines with anonymous pages
anon()
{
	sum_tags '^ *[0-9]+ +[0-9]+ mm/(memory|huge_memory|mempolicy)\.c'
}

# same_within WHAT BEFORE AFTER LESS_THAN
same_within()
{
	if [ $(($2 - $3)) -ge "$4" ] || [ $(($3 - $2)) -ge "$4" ]; then
		fail "$1: $2, then $3"
	fi
}

test_r08_compaction_moves_the_line()
{
	load holes 128
	set -- $(anon)
	before=$1
	had=$(vmstat pgmigrate_success)
	# free pages lie at random: sometimes there is nothing to compact
	for attempt in 1 2 3; do
		echo 1 > /proc/sys/vm/compact_memory
		moved=$(($(vmstat pgmigrate_success) - had))
		note "$moved pages migrated"
		[ "$moved" -le 100 ] || break
		unload
		load holes $((128 + 16 * attempt))
		set -- $(anon)
		before=$1
	done
	[ "$moved" -gt 100 ] || fail "compaction moved only $moved pages"
	set -- $(anon)
	same_within "anonymous memory" "$before" "$1" 1048576
	set -- $(sum_tags 'mm/(compaction|migrate)\.c')
	[ "$1" -lt 65536 ] || fail "$1 bytes are charged to the migration"
	unload
	sleep 1
	set -- $(anon)
	[ "$1" -lt $((before / 4)) ] || fail "$1 of $before bytes left after exit"
}

test_r07_huge_pages_split()
{
	[ -d /sys/kernel/mm/transparent_hugepage ] || fail "no huge pages"
	echo madvise > /sys/kernel/mm/transparent_hugepage/enabled
	set -- $(anon)
	before=$1
	calls=$2
	had=$(vmstat thp_fault_alloc)
	load thp 64
	[ "$(vmstat thp_fault_alloc)" -gt "$had" ] || fail "no huge page"
	split=$(vmstat thp_split_page)
	echo 1 > /sys/kernel/debug/split_huge_pages
	note "$(($(vmstat thp_split_page) - split)) pages split"
	[ "$(vmstat thp_split_page)" -gt "$split" ] || fail "no split"
	set -- $(anon)
	same_within "anonymous memory" $(($1 - before)) $((32 << 20)) 4194304
	note "$(($2 - calls)) calls for 32 MiB"
	[ $(($2 - calls)) -gt 8000 ] || fail "parts of a split page are not counted"
	unload
	settle
	set -- $(anon)
	same_within bytes "$1" "$before" 1048576
	same_within calls "$2" "$calls" 256
}

test_r07_hugetlb()
{
	huge=/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
	[ -e $huge ] || fail "no hugetlbfs"
	set -- $(sum_tags 'mm/hugetlb\.c')
	before="$1 $2"
	echo 1 > /proc/sys/vm/compact_memory
	echo 16 > $huge
	n=$(cat $huge)
	[ "$n" -gt 4 ] || fail "only $n huge pages"
	set -- $(sum_tags 'mm/hugetlb\.c')
	[ $(($1 - ${before% *})) -ge $((n << 21)) ] || fail "$n pages are $1 bytes"
	[ $(($2 - ${before#* })) -le $((n * 2 + 16)) ] || fail "$n pages are $2 calls"
	echo 0 > $huge
	set -- $(sum_tags 'mm/hugetlb\.c')
	same_within bytes "$1" "${before% *}" 65536
	same_within calls "$2" "${before#* }" 32
}

test_page_cache()
{
	mount_disk
	set -- $(sum_tags 'mm/(filemap|readahead|folio-compat)\.c|fs/')
	before=$1
	dd if=/dev/zero of=/mnt/file bs=1M count=24 2>/dev/null
	set -- $(sum_tags 'mm/(filemap|readahead|folio-compat)\.c|fs/')
	[ $(($1 - before)) -gt 25000000 ] || fail "24 MiB of a file are $(($1 - before)) bytes"
	rm /mnt/file
	umount /mnt
	settle
	set -- $(sum_tags 'mm/(filemap|readahead|folio-compat)\.c|fs/')
	same_within "page cache" "$1" "$before" 1048576
}

# "bytes" of those lines and of pages that swap read ahead
swappable()
{
	sum_tags '^ *[0-9]+ +[0-9]+ mm/(memory|huge_memory|mempolicy|swap_state)\.c' | cut -d' ' -f1
}

# Pages go out by a request to the group, and come in when the swap device is removed.
test_swap()
{
	mkswap /dev/vda > /dev/null || fail mkswap
	swapon /dev/vda || fail swapon
	before=$(swappable)
	enter_cgroup
	load anon 32
	full=$(swappable)
	out=$(vmstat pswpout)
	echo 24M > /tmp/cg/a/memory.reclaim || fail "24 of 32 MiB cannot be reclaimed"
	out=$(($(vmstat pswpout) - out))
	note "$out pages swapped out"
	[ $out -ge 6000 ] || fail "only $out pages are written"
	# some pages are written but not free yet
	left=$(swappable)
	[ "$left" -le $((full - (16 << 20))) ] || fail "of $full bytes $left are left"
	swapoff /dev/vda || fail swapoff
	same_within "all of it again" "$(swappable)" "$full" 2097152
	unload
	echo "$self" > /tmp/cg/cgroup.procs
	rmdir /tmp/cg/a
	umount /tmp/cg
	settle
	same_within "anonymous memory" "$(swappable)" "$before" 1048576
}

run_tests
