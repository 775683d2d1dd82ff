# SPDX-License-Identifier: GPL-2.0-only
#
# If KFENCE is switched on at run time, its pool comes from the page allocator.  The
# comparison of references with counters must not take its pages for slabs, and must not
# read a page that KFENCE protects.
#
# append: sysctl.vm.mem_profiling=1 kfence.sample_interval=0
# modules: ctag_test ctag_keep

. /qt/lib.sh

INTERVAL=/sys/module/kfence/parameters/sample_interval
STATS=/sys/kernel/debug/kfence/stats

stat_of()
{
	sed -n "s/^$1: *//p" $STATS
}

# conserved, and each object in use has a reference, except the first of kmem_cache_node.
# One good look of three is enough, see conservation.sh.
all_agree()
{
	conserved "$1"
	for look in 1 2 3; do
		awk '$3 != $2 - ($1 == "kmem_cache_node") { print "# " $0; bad++ } END { exit bad || NR < 20 }' \
			/sys/kernel/debug/alloc_tag/slabs > /tmp/differing && return
	done
	sed "s/\$/, look $look/" /tmp/differing
	fail "$1: objects without references"
}

test_pool_is_accounted_to_its_line()
{
	eq interval "$(cat $INTERVAL)" 0
	all_agree "before"
	echo 1 > $INTERVAL || fail "KFENCE cannot be switched on"
	[ -r $STATS ] || fail "KFENCE is not on"
	# (objects + 1) * 2 pages, each of which can be freed alone
	objects=$(zcat /proc/config.gz | sed -n 's/^CONFIG_KFENCE_NUM_OBJECTS=//p')
	pages=$(((objects + 1) * 2))
	eq pool "$(sum_tags 'func:kfence_init_late')" "$((pages * 4096)) $pages"
	all_agree "switched on"
}

# Pages of objects in use can be read, and have no references in them.
test_objects_in_the_pool()
{
	fresh
	had=$(stat_of 'total allocations')
	until_true 60 enough || fail "hardly any object was in the pool"
	note "$(stat_of 'currently allocated') objects are in the pool"
	check_table || fail "allocated"
	all_agree "allocated"
}

enough()
{
	cmd alloc all 10
	usleep 20000
	[ $(($(stat_of 'total allocations') - had)) -gt 20 ]
}

# Pages of freed objects cannot be read.
test_freed_objects_in_the_pool()
{
	mod_unload
	[ "$(stat_of 'total frees')" -gt 10 ] || fail "hardly any object was freed"
	all_agree "freed"
	echo 0 > $INTERVAL
	all_agree "switched off"
}

run_tests
