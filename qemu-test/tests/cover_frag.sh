# SPDX-License-Identifier: GPL-2.0-only
#
# A page that is cut into fragments is charged to the line for which the cache of
# fragments took it, pages of a pool to the line that created the pool.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slub_debug=FZPU slab_nomerge
# append@alloc-debug: sysctl.vm.mem_profiling=1
# modules: ctag_cover_frag
# timeout: 240

. /qt/lib.sh
COVER=ctag_cover_frag
. /qt/bin/cover

# The rest is in the kernel's per-CPU caches, one for interrupts and one for other
# contexts: a block of 32 KiB in each.
test_each_fragment()
{
	cover_fresh
	for n in 1 20 5 64 0 40 0; do
		cover_want $n
	done
	rmmod "$COVER" || fail "rmmod $COVER"
	tags | grep -F "[$COVER]" | awk -v most=$((2 * $(nproc))) '
		!/func:other_frag / || $2 > most || $1 != $2 * 32768 { print "# " $0; bad = 1 }
		END { exit bad }' || fail "left of $COVER"
}

test_pools_of_pages()
{
	zcat /proc/config.gz | grep -qx CONFIG_PAGE_POOL=y || skip "no page_pool"
	eq "lines that make pools" "$(grep -c 'page_pool' /tmp/table)" 2
}

run_tests
