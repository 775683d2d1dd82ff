# SPDX-License-Identifier: GPL-2.0-only
#
# Nodes of trees are charged to the line that stores an entry, the memory of a seq_file to
# the line that opens or creates the file: exact calls and bytes.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 slub_debug=FZPU
# modules: ctag_cover_trees

COVER=ctag_cover_trees
. /qt/lib.sh
. /qt/bin/cover

PROC=/proc/$COVER
# single_open() allocates a struct seq_operations; it consists of four pointers
OPS=kmalloc-cg-32
[ "$(uname -m)" != i686 ] || OPS=kmalloc-cg-16

# live: the module's functions hold what the rows "FUNCTION NUMBER CACHE ..." on stdin
# state, to the byte.  Differences become notes.
live()
{
	check_rows $COVER - '
	{
		k = "func:" $1
		b = c = 0
		for (i = 2; i < NF; i += 2) {
			cache = $(i + 1)
			# without kmem accounting these caches do not exist
			if (!(cache in size)) sub(/-cg-/, "-", cache)
			if (!(cache in size)) wrong("no cache " cache)
			b += $i * size[cache]; c += $i
		}
		if (!seen[k]) {
			wrong("no line")
		} else if ($NF == "any") {
			if (calls[k] < 100 || bytes[k] != calls[k] * size["maple_node"])
				differs(k, "nodes", "at least 100")
		} else if (bytes[k] != b || calls[k] != c) {
			differs(k, b, c)
		}
	}'
}

test_nodes_of_trees()
{
	cover_fresh
	live < $DIR/table || fail "before"
	for round in 1 2 3; do
		cover fill
		live < $DIR/table || fail "filled in round $round"
		cover drop
		live < $DIR/table || fail "dropped in round $round"
	done
}

test_nodes_outlive_off()
{
	cover_fresh
	cover fill
	profiling 0
	cover drop
	profiling 1
	live < $DIR/table || fail "dropped while off"
	cover fill
	live < $DIR/table || fail "filled"
	cover_unload
}

# The libraries hold only their caches and the preloaded nodes, 21 for each CPU at most.  Headers hold nothing.
test_r27_no_line_of_the_library()
{
	bad=$(tags | grep -E ' (lib/(xarray|idr|radix-tree|maple_tree)|fs/seq_file)\.c:' |
		grep -vE 'func:((radix_tree|maple_tree|seq_file)_init|__radix_tree_preload)( |$)')
	[ -z "$bad" ] || fail "$bad"
	had=$(sum_tags 'func:__radix_tree_preload( |$)')
	[ "${had#* }" -le $((21 * $(nproc))) ] || fail "$had preloaded"
	bad=$(tags | grep -E '/linux/(xarray|idr|radix-tree|maple_tree|seq_file|proc_fs)\.h:')
	[ -z "$bad" ] || fail "$bad"
}

# Entries that the kernel stores are charged to its lines.
test_users_in_the_kernel()
{
	dd if=/dev/zero of=/tmp/x bs=64k count=32 2>/dev/null
	for f in dup_mmap '(mmap_region|__vma_adjust|vma_link|do_brk_flags|do_mas_align_munmap)' '(shmem_add_to_page_cache|__filemap_add_folio)'; do
		had=$(sum_tags "func:$f( |\$)")
		[ "${had#* }" -gt 0 ] || fail "$f has no nodes"
	done
	rm /tmp/x
}

# file NAME PATH ROW: a file that is open and was read holds ROW, a closed one nothing
file()
{
	func=$1
	path=$2
	shift 2
	echo "$func" | live || fail "$func before"
	for i in 1 2 3; do
		exec 5< "$path" || fail "open $path"
		dd bs=1 count=1 <&5 > /dev/null 2>&1 || fail "read $path"
		echo "$func $*" | live || fail "$path open, round $i"
		exec 5<&-
		echo "$func" | live || fail "$path closed, round $i"
	done
}

test_files_of_proc()
{
	cover_fresh
	file make_seq $PROC/seq 1 seq_file 1 kmalloc-cg-4k
	file make_private $PROC/private 1 seq_file 1 kmalloc-cg-4k 1 kmalloc-cg-128
	file make_single $PROC/single 1 seq_file 1 kmalloc-cg-4k 1 $OPS
	file make_large $PROC/large 1 seq_file 1 kmalloc-cg-8k 1 $OPS
	file make_net /proc/net/$COVER 1 seq_file 1 kmalloc-cg-4k 1 $OPS
}

test_files_of_debugfs()
{
	cover_fresh
	file one_open $DIR/one 1 seq_file 1 kmalloc-cg-4k
	file shown_open $DIR/shown 1 seq_file 1 kmalloc-cg-4k 1 $OPS
	file sized_open $DIR/sized 1 seq_file 1 kmalloc-cg-8k 1 $OPS
}

# A file is created or opened while profiling is off: its buffers are charged to the right
# line once profiling is on.
test_files_made_and_opened_while_off()
{
	profiling 0
	cover_fresh
	exec 7< $PROC/seq
	exec 6< $DIR/one
	profiling 1
	file make_single $PROC/single 1 seq_file 1 kmalloc-cg-4k 1 $OPS
	dd bs=1 count=1 <&7 > /dev/null 2>&1 || fail "read seq"
	dd bs=1 count=1 <&6 > /dev/null 2>&1 || fail "read one"
	printf 'make_seq 1 kmalloc-cg-4k\none_open 1 kmalloc-cg-4k\n' | live ||
		fail "buffers"
	exec 7<&- 6<&-
	printf 'make_seq\none_open\n' | live || fail "closed"
}

# An open file of /proc does not pin the module, and is not readable after the unload.
test_file_outlives_module()
{
	cover_fresh
	exec 5< $PROC/seq 6< $PROC/large
	dd bs=1 count=1 <&5 > /dev/null 2>&1 || fail "read seq"
	cover_unload
	! dd bs=1 count=1 <&5 > /dev/null 2>&1 || fail "seq can still be read"
	! dd bs=1 count=1 <&6 > /dev/null 2>&1 || fail "large can still be read"
	exec 5<&- 6<&-
	cover_fresh
	printf 'make_seq\nmake_large\n' | live || fail "something is left"
}

run_tests
