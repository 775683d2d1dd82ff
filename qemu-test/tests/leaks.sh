# SPDX-License-Identifier: GPL-2.0-only
#
# Our code leaks nothing when modules are unloaded, according to kmemleak.  The test also
# covers r18: kmemleak and profiling track the same allocations.
#
# append: sysctl.vm.mem_profiling=1 kmemleak=on
# modules: ctag_test ctag_keep
# memory: 1G

. /qt/lib.sh

LEAKS=/sys/kernel/debug/kmemleak

test_r18_module_lifetimes()
{
	[ -w $LEAKS ] || fail "no kmemleak"
	mod_load
	mod_unload
	echo scan > $LEAKS
	echo clear > $LEAKS
	for i in 1 2 3 4 5 6 7 8 9 10; do
		mod_load
		cmd alloc all 5
		cmd keep all
		mod_unload
		insmod /modules/ctag_test.ko fail=1 2>/dev/null
		echo 1 > $KEEP/free
	done
	rmmod ctag_keep
	# a pointer to freed memory may still be on a stack
	sleep 6
	echo scan > $LEAKS
	sleep 1
	echo scan > $LEAKS
	grep -E 'codetag|alloc_tag|lazy_percpu|ctag_|load_module' $LEAKS | head -5 |
		sed 's/^/# /'
	grep -qE 'codetag|alloc_tag|lazy_percpu|ctag_|load_module' $LEAKS &&
		fail "$(grep -c 'unreferenced object' $LEAKS) leaks"
	:
}

run_tests
