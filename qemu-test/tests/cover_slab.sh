# SPDX-License-Identifier: GPL-2.0-only
#
# Slabs of every layout: references do not overwrite objects, nor objects references;
# bytes and calls balance; and freed pages of slabs are released from their line.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slab_nomerge
# append: sysctl.vm.mem_profiling=1 slub_debug=FZPU
# append: sysctl.vm.mem_profiling=1 slub_max_order=1
# append: sysctl.vm.mem_profiling=1 slub_min_order=2
# append@slab: sysctl.vm.mem_profiling=1
# append@slab: sysctl.vm.mem_profiling=1 slab_nomerge
# modules: ctag_cover_slab
# timeout: 240

COVER=ctag_cover_slab
. /qt/lib.sh
. /qt/bin/cover

# The bytes of all slabs, from the line that allocates slabs
slab_pages()
{
	sum_tags ' mm/sl[au]b[.]c:[0-9]+ func:(alloc_slab_page|kmem_getpages) ' |
		cut -d' ' -f1
}

test_every_layout_is_there()
{
	cover_fresh
	cut -d' ' -f2 $DIR/table | sort -u > /tmp/layouts
	note "$(tr '\n' ' ' < /tmp/layouts)"
	if grep -q slub /tmp/layouts; then
		want="slub slub+map"
	elif zcat /proc/config.gz | grep -q '^CONFIG_DEBUG_SLAB=y'; then
		skip "with red zones other sizes fill a slab"
	else
		want="on off object on+map off+map object+map"
	fi
	for layout in $want; do
		grep -qxF "$layout" /tmp/layouts || fail "no slab is $layout"
	done
}

# SLUB packs at least two objects into a slab if two or more fit into one of the largest
# order with at most a quarter of it left.  References must not change that.
test_slabs_are_shared()
{
	[ -d /sys/kernel/slab ] || skip "SLAB has no sysfs"
	largest=$(sed -n 's/.*slub_max_order=\([0-9]*\).*/\1/p' /proc/cmdline)
	page=$(awk '$1 == "KernelPageSize:" { print $2 * 1024; exit }' /proc/self/smaps)
	bytes=$((page << ${largest:-3}))
	cover_fresh
	many=0
	for dir in /sys/kernel/slab/*; do
		[ ! -L "$dir" ] || continue
		size=$(cat "$dir/slab_size")
		room=$size
		[ "$size" -ge "$page" ] || room=$((size + 2))
		n=$((bytes / room))
		[ $n -ge 2 ] && [ $(((bytes - n * size) * 4)) -le $bytes ] || continue
		many=$((many + 1))
		[ "$(cat "$dir/objs_per_slab")" -ge 2 ] ||
			fail "${dir##*/}: one object of $size bytes in a slab of order $(cat "$dir/order"), where $n fit into $bytes bytes"
	done
	note "$many caches"
	[ $many -ge 30 ] || fail "only $many caches"
}

test_patterns_and_references()
{
	cover_fresh
	for i in 1 2 3; do
		cover alloc
		cover check
		as_table "round $i: allocated"
		cover half
		cover check
		as_table "half of them freed"
		cover bulk
		cover check
		as_table "allocated in bulk"
		cover free
		as_table "freed"
	done
}

# Memory that was overwritten while no object was live would show now.
test_lines_owe_nothing()
{
	cover alloc
	cover check
	as_table "allocated"
	cover free
	as_table "freed"
}

# A bulk allocation gets some objects, fails because no slab can be allocated, and frees them.
# This shell stays on one CPU and the caches are not merged, so that nobody else allocates or
# frees their objects.  While the fault is enabled, the shell neither forks nor opens a file.
test_bulk_fails_halfway()
{
	[ -e $FAULTS ] || skip "no dynamic fault injection"
	grep -qE 'slab_nomerge|slub_debug' /proc/cmdline || skip "the caches have other users"
	f=alloc_slab_page
	grep -q " func:$f " $FAULTS || f=kmem_getpages
	on_cpu 0
	cover_fresh
	cover alloc
	cover half
	read -r self _ < /proc/self/stat
	exec 3> "$DIR/cmd" 4> $FAULTS
	echo "func $f enable task $self" >&4 || fail "refused"
	failed=
	echo shortage >&3 || failed=1
	echo disable >&4 || fail "cannot disable"
	exec 3>&- 4>&-
	[ -z "$failed" ] || fail "no bulk allocation failed halfway"
	cover check
	as_table "after it failed"
	cover bulk
	cover check
	as_table "allocated in bulk"
	cover free
	as_table "freed"
}

test_accounted_while_off()
{
	[ "$(stat -c %a $MP)" != 444 ] || skip "$MP is read-only"
	cover_fresh
	cover alloc
	profiling 0
	as_table "switched off"
	cover half
	as_table "half freed while off"
	# these are charged to no line
	cover bulk
	cover check
	profiling 1
	cover free
	cover alloc
	as_table "allocated again"
	cover free
	as_table "freed"
}

# Each round allocates and frees the slabs of all caches, some by RCU.
test_slab_pages_come_back()
{
	cover_fresh
	cover alloc
	cover destroy
	settle
	before=$(slab_pages)
	for i in 1 2 3 4; do
		cover_fresh
		cover alloc
		during=$(slab_pages)
		[ $((during - before)) -gt 3000000 ] ||
			fail "round $i: slabs are not accounted, $before $during"
		cover check
		cover destroy
	done
	settle 3
	after=$(slab_pages)
	note "slabs: $before bytes, with caches $during, after $after"
	# the slabs of one small cache, four times, are more; other caches come and go
	[ $((after - before)) -lt 700000 ] || fail "slabs stay accounted"
	[ $((before - after)) -lt 700000 ] || fail "slabs released twice"
}

run_tests
