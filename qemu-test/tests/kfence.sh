# SPDX-License-Identifier: GPL-2.0-only
#
# KFENCE keeps some objects in its own pool, where the reference has another place.  Each
# line is still exact to the byte.
#
# append: sysctl.vm.mem_profiling=1 kfence.sample_interval=1
# append: sysctl.vm.mem_profiling=1 kfence.sample_interval=1 slub_debug=FZPU
# modules: ctag_test ctag_life ctag_keep
# timeout: 240

. /qt/lib.sh

STATS=/sys/kernel/debug/kfence/stats

guarded()
{
	sed -n 's/^total allocations: *//p' $STATS
}

test_exact()
{
	[ -r $STATS ] || fail "no KFENCE"
	fresh
	had=$(guarded)
	for i in 1 2 3 4 5 6 7 8; do
		cmd alloc all 40
		check_table || fail "round $i, allocated"
		# wait for the next samples
		usleep 20000
		cmd free all 30 softirq 1
		check_table || fail "round $i, freed in part"
		cmd free all 40
		check_table || fail "round $i, freed"
	done
	even || fail "in the end"
	note "$(($(guarded) - had)) objects were in the pool"
	[ $(($(guarded) - had)) -gt 20 ] || fail "hardly any object was in the pool"
}

# Some of the samples are objects of a bulk allocation.
test_in_a_bulk()
{
	fresh
	had=$(guarded)
	for i in $(seq 30); do
		cmd alloc cache_bulk 500
		check_table || fail "round $i, allocated"
		cmd free cache_bulk 500
		check_table || fail "round $i, freed"
	done
	note "$(($(guarded) - had)) objects were in the pool"
	[ $(($(guarded) - had)) -gt 20 ] || fail "hardly any object was in the pool"
}

test_caches_and_rcu()
{
	life_load
	for i in 1 2 3 4; do
		life caches 400
		check_life || fail "round $i"
		usleep 20000
		life uncache
		check_life || fail "round $i, freed"
		life rcu 200
		life barrier
		until_true 30 check_life > /tmp/differences ||
			fail "round $i: $(cat /tmp/differences)"
	done
	life_unload
}

# A module leaks an object of the pool and destroys its cache: the line keeps the object, and
# the files that look for it do without its size.
test_outlives_its_cache()
{
	life_load
	life outlive
	for f in pages slabs conservation; do
		cat /sys/kernel/debug/alloc_tag/$f > /tmp/$f || fail $f
	done
	grep -q 'ctag_life.c.* func:outlive' /tmp/conservation || fail "$(cat /tmp/conservation)"
	if [ -e /proc/allocinfo.nodes ]; then
		cat /proc/allocinfo.nodes > /tmp/nodes || fail nodes
	fi
	life_unload
	set -- $(sum_tags 'ctag_life.*func:outlive')
	eq "objects on the line" "$2" 1
}

test_no_warnings()
{
	dmesg | grep -E 'alloc_tag:|WARNING|KFENCE:' && fail "a warning"
	:
}

run_tests
