# SPDX-License-Identifier: GPL-2.0-only
#
# CONFIG_MEM_ALLOC_PROFILING_DEBUG warns about an allocation that is charged to no line, and
# about its free, once for each place.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_life
# expect-console: WARNING: CPU: \d+ PID: \d+ at lib/alloc_tag\.c:\d+ alloc_tag_warn
# expect-console: Call [Tt]race:
# expect-console: alloc_tag: an allocation outside of any hook$
# expect-console: alloc_tag: a free of memory that is accounted to nobody$

. /qt/lib.sh

# warned WHEN N: so far N warnings of each of the two kinds, and no other warning
warned()
{
	for what in "an allocation outside of any hook" \
		    "a free of memory that is accounted to nobody"; do
		eq "$1: $what" "$(dmesg | grep -c "alloc_tag: $what\$")" "$2"
	done
	eq "$1: in all" "$(dmesg | grep -c WARNING:)" $((2 * $2))
}

test_once_for_each_place()
{
	life_load
	held=$(sum_tags '[[]ctag_life[]]')
	warned "before" 0
	life stray 2
	warned "twice in one place" 1
	life stray 10
	warned "in the same place again" 1
	life stray_block 2
	warned "in another place" 2
	eq "accounted" "$(sum_tags '[[]ctag_life[]]')" "$held"
}

# The warning names the place: its stack trace has the function to look for.
test_the_place_is_named()
{
	for func in stray_round stray_block_round; do
		eq "traces with $func" "$(dmesg | grep -c "^\[[^]]*\]  *$func+.*\[ctag_life\]")" 2
	done
}

run_tests
