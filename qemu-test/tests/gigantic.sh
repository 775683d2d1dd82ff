# SPDX-License-Identifier: GPL-2.0-only
#
# A gigantic page of hugetlb: as a whole, after it was demoted, and after some of the
# small pages were moved.  The first boot takes it from the buddy allocator, the second
# from CMA.  A gigantic page begins at a multiple of 1 GiB, but the area may begin anywhere,
# so the area has 2 GiB.  On x86, only the memory above 4 GiB has room for it: below, qemu puts the
# initial RAM file system into the middle.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 hugetlb_cma=2G
# memory: 5632M
# timeout: 180

. /qt/lib.sh

HUGE=/sys/kernel/mm/hugepages

from_cma()
{
	grep -q hugetlb_cma /proc/cmdline
}

held()
{
	sum_tags 'mm/hugetlb[.]c'
}

# Allocates a page of 1 GiB, or fails or skips; $before has the figures from before.
one_gib()
{
	[ -d $HUGE/hugepages-1048576kB ] || $1 "no pages of 1 GiB"
	! from_cma || [ "$(kilobytes CmaTotal)" -ge 2097152 ] || fail "no 2 GiB were reserved for CMA"
	before=$(held)
	echo 1 > $HUGE/hugepages-1048576kB/nr_hugepages
	[ "$(cat $HUGE/hugepages-1048576kB/nr_hugepages)" = 1 ] || $1 "no GiB in one piece"
}

# Demotes that page to pages of 2 MiB, which needs demote_size on arm64, where the next smaller size is
# 32 MiB.  If base pages have 16 KiB, hugetlb refuses to demote to less than 32 MiB.
demote()
{
	echo 2M > $HUGE/hugepages-1048576kB/demote_size || skip "hugetlb does not demote to 2 MiB here"
	echo 1 > $HUGE/hugepages-1048576kB/demote || fail "cannot demote"
}

test_r07_gigantic()
{
	one_gib fail
	set -- $(held)
	[ $(($1 - ${before% *})) -ge 1073741824 ] || fail "a GiB is $1 bytes"
	echo 0 > $HUGE/hugepages-1048576kB/nr_hugepages
	eq "given back" "$(held)" "$before"
}

# A page of hugetlb can be larger than what an entry of any level of the page table maps.
test_is_on_its_node()
{
	one_gib fail
	set -- $(awk '/mm\/hugetlb[.]c:/ { node += $2; unseen += $3 } END { print node + 0, unseen + 0 }' /proc/allocinfo.nodes)
	eq "unseen" "$2" 0
	[ "$1" -ge 1073741824 ] || fail "node 0 has $1 bytes of a GiB"
	echo 0 > $HUGE/hugepages-1048576kB/nr_hugepages
}

test_r07_demoted()
{
	one_gib fail
	demote
	eq "small ones" "$(cat $HUGE/hugepages-2048kB/nr_hugepages)" 512
	set -- $(held)
	# each page of CMA is freed on its own, so it keeps a reference of its own
	! from_cma && most=600 || most=$((512 * 512))
	[ $(($2 - ${before#* })) -le $most ] || fail "512 pages are $(($2 - ${before#* })) calls"
	[ $(($1 - ${before% *})) -ge 1073741824 ] || fail "a GiB is $(($1 - ${before% *})) bytes"
	echo 0 > $HUGE/hugepages-2048kB/nr_hugepages
	eq "given back" "$(held)" "$before"
}

# All pages are in use.  A page that is taken offline therefore moves to a page from
# elsewhere, which may have another number of references.
test_r08_moved()
{
	one_gib skip
	demote
	load hugetlb 512
	unload
	set -- $(held)
	[ $(($1 - ${before% *})) -ge $((508 << 21)) ] || fail "508 pages are $1 bytes"
	echo 0 > $HUGE/hugepages-2048kB/nr_hugepages
	eq "given back" "$(held)" "$before"
}

run_tests
