# SPDX-License-Identifier: GPL-2.0-only
#
# Gigantic pages of hugetlb that are set aside before there is a page allocator: no line holds
# them.  They are demoted and freed to it later, in the second boot with struct pages that
# hugetlb has to allocate first.
#
# append: sysctl.vm.mem_profiling=1 hugepagesz=1G hugepages=2
# append: sysctl.vm.mem_profiling=1 hugepagesz=1G hugepages=2 hugetlb_free_vmemmap=on
# memory: 5632M
# timeout: 180

. /qt/lib.sh

HUGE=/sys/kernel/mm/hugepages
GIB=$HUGE/hugepages-1048576kB
# of the struct pages of a GiB, 64 bytes each, all but one page
LESS=4095

# "bytes calls" of the pages of hugetlb
held()
{
	sum_tags 'mm/hugetlb[.]c.*func:(alloc|__alloc|hugetlb_cma|alloc_gigantic)'
}

without_struct_pages()
{
	grep -q hugetlb_free_vmemmap=on /proc/cmdline
}

# struct_pages GIBS: the pages of struct pages that hugetlb has allocated for pages that it freed
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

# The GiB can be one of the two, whose struct pages hugetlb has allocated and now frees, or
# another one, whose struct pages memblock has allocated.
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
