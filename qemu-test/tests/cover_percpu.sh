# SPDX-License-Identifier: GPL-2.0-only
#
# Per-CPU memory, mempools, bios, hash tables and allocations of helpers are charged to
# the line of the caller, to the byte, and nothing is left at the end.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_cover_percpu

COVER=ctag_cover_percpu
. /qt/lib.sh
. /qt/bin/cover

check_lines()
{
	check_rows $COVER $DIR/table '
	{
		k = "ctag_cover_percpu.c:" $2 " func:" $3
		if (!seen[k])
			wrong("no line for " k)
		else if (calls[k] != $4 || (bytes[k] != $5 &&
			 !($6 == "atleast" && bytes[k] > $5 && bytes[k] < 2 * $5 + 2048)))
			differs(k, $5, $4 " " $6)
	}'
}

# steps NAME ...: does each step and compares after it
steps()
{
	for s in "$@"; do
		cover "$s"
		check_lines || fail "after $s"
	done
}

cpus()
{
	n=0
	IFS=,-
	set -- $(cat /sys/devices/system/cpu/possible)
	unset IFS
	echo $(($# > 1 ? $2 - $1 + 1 : 1))
}

test_percpu()
{
	cover_fresh
	steps percpu_get percpu_put percpu_get percpu_put
}

test_percpu_many_chunks()
{
	cover_fresh
	chunks=$(sum_tags 'func:pcpu_create_chunk|func:pcpu_alloc_chunk|func:pcpu_tag_init_chunk')
	steps crowd_get crowd_half
	note "chunk metadata before, after: $chunks," \
	     "$(sum_tags 'func:pcpu_create_chunk|func:pcpu_alloc_chunk|func:pcpu_tag_init_chunk')"
	[ "$chunks" != "$(sum_tags 'func:pcpu_create_chunk|func:pcpu_alloc_chunk|func:pcpu_tag_init_chunk')" ] ||
		fail "no new chunk: this tests nothing"
	steps crowd_put crowd_get crowd_half crowd_put
}

# Allocated while it is on, freed while it is off, and the other way round.
test_r28_percpu_toggled()
{
	cover_fresh
	steps percpu_get
	profiling 0
	steps percpu_put
	cover percpu_get
	profiling 1
	cover percpu_put
	steps percpu_get percpu_put
}

# The static per-CPU variables of a module are charged to the module loader.
test_percpu_of_modules()
{
	[ ! -d $DIR ] || rmmod $COVER
	before=$(sum_tags 'func:percpu_modalloc')
	cover_fresh
	now=$(sum_tags 'func:percpu_modalloc')
	eq "with the module" "$now" "$((${before% *} + 52 * $(cpus))) $((${before#* } + 1))"
	rmmod $COVER
	eq "without" "$(sum_tags 'func:percpu_modalloc')" "$before"
}

# Accounting starts with the first allocation: per-CPU data of slab caches, made at boot.
test_percpu_early()
{
	have=$(sum_tags 'func:alloc_kmem_cache_cpus')
	caches=0
	for c in /sys/kernel/slab/*; do
		[ -L "$c" ] || caches=$((caches + 1))
	done
	[ "${have#* }" -ge $caches ] || fail "${have#* } calls for $caches caches"
	eq "bytes a cache" $((${have% *} % (${have#* } * $(cpus)))) 0
}

# The per-CPU parts of a counter are charged to a line of their own, without recursion.
test_lazy_counter()
{
	have=$(sum_tags 'func:give_parts')
	note "parts of counters: $have"
	[ "${have#* }" -gt 0 ] || fail "no counter was hot"
	eq "bytes" "${have% *}" $((${have#* } * 16 * $(cpus)))
}

test_r27_helpers()
{
	cover_fresh
	steps helpers_get helpers_put helpers_get helpers_put
}

test_mempool()
{
	cover_fresh
	steps pool_create pool_use pool_starve pool_refill pool_free \
		pool_grow pool_destroy pool_create pool_destroy
}

test_bio()
{
	cover_fresh
	steps bio_get bio_put bio_get bio_put
}

test_rhashtable()
{
	cover_fresh
	steps hash_init hash_grow hash_shrink hash_destroy
	steps hash_init hash_grow hash_destroy
}

# A table that is created while profiling is off is accounted when it grows.
test_rhashtable_recorded_while_off()
{
	cover_fresh
	profiling 0
	cover hash_init_off
	profiling 1
	check_lines || fail "after hash_init_off"
	steps hash_grow hash_destroy
}

# Helpers and headers have no lines.
test_r27_no_helper_is_named()
{
	lines=$(tags | grep -E ' (mm/mempool|lib/(rhashtable|percpu_counter|percpu-refcount|sbitmap|flex_proportions)|kernel/locking/percpu-rwsem)\.c:| (\./)?include/(linux/(percpu|mempool|bio|sbitmap|bpf)|net/dst_ops)[^ ]*\.h:')
	[ -z "$lines" ] || fail "lines of helpers: $lines"
}

run_tests
