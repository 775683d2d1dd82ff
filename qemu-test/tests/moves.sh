# SPDX-License-Identifier: GPL-2.0-only
#
# Anonymous memory is split, merged, moved, swapped and copied: at every step its lines hold
# exactly the bytes and calls in use.
#
# append: sysctl.vm.mem_profiling=1
# memory: 768M
# disk: 256M
# timeout: 240

. /qt/lib.sh
. /qt/bin/moved

test_r07_huge_pages_split_exactly()
{
	moved split 64
}

test_huge_pages_collapsed_exactly()
{
	moved collapse 32
}

test_r08_compaction_exactly()
{
	moved compact 448
}

test_swap_exactly()
{
	moved_by_swap 64
}

test_fork_exactly()
{
	moved fork 32
}

run_tests
