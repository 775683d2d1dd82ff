# SPDX-License-Identifier: GPL-2.0-only
#
# Slabs of a smaller order than usual, which SLUB makes if memory is short or fragmented: each
# line has the exact bytes and calls of objects in usual slabs, in small ones, and in both, on
# both CPUs, and while profiling is switched.  Without small slabs the address of an object
# gives the place of its reference, and with one it does not.
#
# A fault point makes the slabs small: SLUB tries the usual order first and then the smallest,
# and each try evaluates the point of alloc_slab_page().  With slub_min_order=2 all caches of
# the module can have small slabs.
#
# append: sysctl.vm.mem_profiling=1 slab_nomerge
# append: sysctl.vm.mem_profiling=1 slab_nomerge slub_min_order=2
# modules: ctag_cover_slab
# timeout: 240

COVER=ctag_cover_slab
. /qt/lib.sh
. /qt/bin/cover

CACHES=/sys/kernel/slab

[ -e $FAULTS ] || SKIP_ALL="no dynamic fault injection"

# small_slabs N: of the slabs that this shell allocates from now on, all but the first are small
# if N is 2, and each second one if N is 3.  The second try never fails.
small_slabs()
{
	read -r self _ < /proc/self/stat
	echo "func alloc_slab_page frequency $1 task $self" > $FAULTS || fail "refused"
}

usual_slabs()
{
	echo disable > $FAULTS || fail "cannot disable"
}

# The caches whose usual order is larger than the smallest: "NAME OBJECTS", with the number of
# objects in a usual slab
can_be_small()
{
	for dir in $CACHES/cover_*; do
		order=$(cat "$dir/order")
		[ "$order" -gt 0 ] || continue
		[ $((4096 << (order - 1))) -lt "$(cat "$dir/slab_size")" ] ||
			echo "${dir##*/} $(cat "$dir/objs_per_slab")"
	done
}

# no_slabs: loads the module anew; sets $caches to the number of caches that can have small slabs
no_slabs()
{
	usual_slabs
	cover_fresh
	can_be_small > /tmp/can
	caches=$(wc -l < /tmp/can)
	want=8
	! grep -q slub_min_order /proc/cmdline || want=19
	[ "$caches" -ge $want ] || fail "only $caches caches can have small slabs"
}

# as_the_module_sees usual|small|mixed: checks which live objects are in small slabs: none; all
# but those of one slab; or some in each cache.  A cache whose references are in its slabs must
# take the slow path if one of its slabs is small, and the fast path if none is.
as_the_module_sees()
{
	awk -v how="$1" '
	function wrong(c, what)
	{
		print "# " c ": " what ": " small[c] " of " calls[c] " objects are in small slabs, " path[c]
		bad++
	}
	FILENAME == "/tmp/can" { can[$1] = $2; next }
	{ calls[$1] += $5; small[$1] += $7; path[$1] = $8; inside[$1] = $2 == "slub" }
	END {
		for (c in calls) {
			is_small = how != "usual" && c in can
			if (inside[c] && path[c] != (is_small ? "slow" : "fast"))
				wrong(c, "wrong path")
			if (is_small ? !small[c] : small[c])
				wrong(c, "wrong slabs")
			if (is_small && how == "small" && calls[c] - small[c] > can[c])
				wrong(c, "usual slabs")
			if (is_small && how == "mixed" && small[c] == calls[c])
				wrong(c, "no usual slab")
		}
		exit bad > 0
	}' /tmp/can $DIR/table
}

# as_sysfs_sees usual|small|mixed: checks the same from the number of slabs and of objects in
# them.  The files begin with the sum of all nodes; the number of each node follows.
as_sysfs_sees()
{
	while read -r cache objects; do
		read -r slabs _ < "$CACHES/$cache/slabs"
		read -r total _ < "$CACHES/$cache/total_objects"
		less=$((slabs * objects - total))
		echo "$cache $slabs slabs, $less objects less than in usual ones" >> /tmp/seen
		if [ "$1" = usual ]; then
			[ $less = 0 ] || fail "$cache has small slabs: $slabs slabs of $objects, $total objects"
		else
			[ $less -gt 0 ] || fail "$cache has no small slab: $slabs slabs of $objects, $total objects"
		fi
	done < /tmp/can
}

# slabs_are usual|small|mixed WHEN
slabs_are()
{
	as_the_module_sees "$1" || fail "$2: not $1"
	: > /tmp/seen
	as_sysfs_sees "$1"
}

# shrunk WHEN: after the empty slabs are freed, some of them by RCU, no small one is left
shrunk()
{
	for cache in $CACHES/cover_*; do
		echo 1 > "$cache/shrink" || fail "cannot shrink $cache"
	done
	until_true 20 eval 'as_the_module_sees usual > /tmp/differences' ||
		{ cat /tmp/differences; fail "$1: slabs are not usual again"; }
	slabs_are usual "$1"
}

test_usual_slabs()
{
	no_slabs
	note "$caches caches can have small slabs: $(xargs < /tmp/can)"
	cover alloc
	cover check
	as_table "allocated"
	slabs_are usual "allocated"
	cover free
	as_table "freed"
	shrunk "freed"
}

test_small_slabs()
{
	no_slabs
	for round in 1 2; do
		small_slabs 2
		cover alloc
		cover check
		as_table "round $round: allocated"
		slabs_are small "allocated"
		cover half
		cover check
		as_table "half of them freed"
		slabs_are small "half of them freed"
		cover bulk
		cover check
		as_table "allocated in bulk"
		slabs_are small "allocated in bulk"
		cover free
		as_table "freed"
		usual_slabs
		shrunk "freed"
	done
}

# Objects of usual and of small slabs side by side, freed in each order.
test_mixed_slabs()
{
	no_slabs
	small_slabs 3
	cover alloc
	usual_slabs
	cover check
	as_table "allocated"
	slabs_are mixed "allocated"
	note "$(head -n 2 /tmp/seen | tr '\n' ';')"
	cover half
	cover check
	as_table "half of them freed"
	cover bulk
	cover check
	as_table "allocated in bulk"
	cover free
	as_table "freed"
	# these take what is left of both kinds
	cover alloc
	cover check
	as_table "allocated again"
	cover free
	as_table "freed again"
	shrunk "freed again"
	# and these find the slabs usual
	cover alloc
	cover check
	as_table "allocated in usual slabs"
	slabs_are usual "allocated in usual slabs"
	cover free
	as_table "freed from usual slabs"
}

test_freed_on_another_cpu()
{
	no_slabs
	on_cpu 0
	small_slabs 3
	cover alloc
	on_cpu 1
	slabs_are mixed "allocated on CPU 0"
	cover half
	cover check
	as_table "half of them freed on CPU 1"
	cover bulk
	as_table "allocated in bulk on CPU 1"
	usual_slabs
	on_cpu 0
	cover check
	cover free
	as_table "freed on CPU 0"
	shrunk "freed on CPU 0"
	small_slabs 2
	cover alloc
	on_cpu 1
	usual_slabs
	slabs_are small "allocated on CPU 0 again"
	cover free
	as_table "freed on CPU 1"
	shrunk "freed on CPU 1"
}

# While profiling is off, references are released; small slabs come and go as well.
test_switched_meanwhile()
{
	[ "$(stat -c %a $MP)" != 444 ] || skip "$MP is read-only"
	no_slabs
	small_slabs 3
	cover alloc
	as_table "allocated"
	profiling 0
	as_table "switched off"
	slabs_are mixed "switched off"
	cover half
	cover check
	as_table "half of them freed while off"
	# these are charged to no line
	small_slabs 2
	cover bulk
	cover check
	profiling 1
	cover free
	as_table "freed after it was switched on"
	usual_slabs
	shrunk "freed after it was switched on"
	profiling 0
	small_slabs 3
	cover alloc
	slabs_are mixed "allocated while off"
	profiling 1
	cover half
	cover bulk
	cover check
	# what was allocated while off is charged to no line, the rest is
	check_rows $COVER $DIR/table '
	{
		k = "ctag_cover_slab.c:" $3 " func:" $4
		is_bulk = $4 ~ /^bulk_/
		if (bytes[k] + 0 != $6 * is_bulk || calls[k] + 0 != $5 * is_bulk)
			differs(k, $6 * is_bulk, $5 * is_bulk)
	}' || fail "half of them allocated while off"
	profiling 0
	cover free
	as_table "freed while off"
	usual_slabs
	shrunk "freed while off"
	profiling 1
	cover alloc
	cover check
	as_table "allocated again"
	slabs_are usual "allocated again"
	cover free
	as_table "freed again"
}

# Both CPUs allocate and free objects, and shrink the caches.  Every third attempt to make a slab
# fails, so small slabs come and go in caches that have objects in usual slabs.
test_come_and_go_on_both_cpus()
{
	no_slabs
	cover alloc
	slabs_are usual "before"
	echo "func alloc_slab_page frequency 3 task kworker*" > $FAULTS || fail "refused"
	cover race
	fired=$(sed -n 's/.* func:alloc_slab_page .* fired:\([0-9]*\) "$/\1/p' $FAULTS)
	usual_slabs
	note "$fired tries to make a slab failed"
	[ "$fired" -ge 100 ] || fail "only $fired tries to make a slab failed"
	cover check
	as_table "after"
	shrunk "after"
	cover free
	as_table "freed"
	shrunk "freed"
}

run_tests
