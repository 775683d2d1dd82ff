# SPDX-License-Identifier: GPL-2.0-only
#
# hugetlb takes two gigantic pages from memblock, before there is a page allocator.  No line holds
# them.  Later, the test frees them to the page allocator, one of them demoted.  In the second boot,
# hugetlb gives most of their struct pages away, and allocates new ones before it frees a page.
#
# append: sysctl.vm.mem_profiling=1 hugepagesz=1G hugepages=2
# append: sysctl.vm.mem_profiling=1 hugepagesz=1G hugepages=2 hugetlb_free_vmemmap=on
# memory: 5632M
# timeout: 180

. /qt/lib.sh

HUGE=/sys/kernel/mm/hugepages
GIB=$HUGE/hugepages-1048576kB
# The struct pages of a GiB take 4096 pages.  hugetlb keeps one and gives the others away.
LESS=4095

# "bytes calls" of the pages of hugetlb
held()
{
	sum_tags 'mm/hugetlb[.]c.*func:alloc_'
}

without_struct_pages()
{
	grep -q hugetlb_free_vmemmap=on /proc/cmdline
}

# struct_pages N: fails unless hugetlb has allocated the struct pages of N pages of a GiB
struct_pages()
{
	without_struct_pages || set -- 0
	eq "struct pages" "$(sum_tags 'func:alloc_vmemmap_page_list')" \
		"$(($1 * LESS * 4096)) $(($1 * LESS))"
}

test_set_aside_at_boot()
{
	eq "pages of a GiB" "$(cat $GIB/nr_hugepages)" 2
	eq "held" "$(held)" "0 0"
	struct_pages 0
}

test_demoted_and_freed()
{
	free=$(kilobytes MemFree)
	echo 2M > $GIB/demote_size
	echo 1 > $GIB/demote || fail "cannot demote"
	eq "small ones" "$(cat $HUGE/hugepages-2048kB/nr_hugepages)" 512
	eq "demoted" "$(held)" "0 0"
	echo 0 > $HUGE/hugepages-2048kB/nr_hugepages
	eq "freed" "$(held)" "0 0"
	struct_pages 1
	free=$(($(kilobytes MemFree) - free))
	[ $free -gt $((1048576 - 65536)) ] || fail "a GiB is $free kB of free memory"
}

test_freed_as_a_whole()
{
	free=$(kilobytes MemFree)
	echo 0 > $GIB/nr_hugepages
	eq "freed" "$(held)" "0 0"
	struct_pages 2
	free=$(($(kilobytes MemFree) - free))
	[ $free -gt $((1048576 - 65536)) ] || fail "a GiB is $free kB of free memory"
}

# hugetlb gives most struct pages of this GiB away, too.  If the GiB is one of those from boot, these are
# struct pages that hugetlb has allocated.  If it is another GiB, memblock has allocated them.  So the
# line of hugetlb can become smaller or not, but grows by LESS pages when the GiB is freed.
test_used_again()
{
	echo 1 > $GIB/nr_hugepages
	eq "pages of a GiB" "$(cat $GIB/nr_hugepages)" 1
	set -- $(held)
	[ "$1" -ge 1073741824 ] || fail "a GiB is $1 bytes"
	set -- $(sum_tags 'func:alloc_vmemmap_page_list')
	echo 0 > $GIB/nr_hugepages
	eq "given back" "$(held)" "0 0"
	! without_struct_pages || struct_pages $(($2 / LESS + 1))
}

test_no_warnings()
{
	dmesg | grep -E 'alloc_tag:|WARNING|Bad page' && fail "a warning"
	! debug_kernel || conserved "at the end"
}

run_tests
