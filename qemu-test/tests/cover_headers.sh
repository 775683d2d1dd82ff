# SPDX-License-Identifier: GPL-2.0-only
#
# No line names a header, whether it holds memory or not: allocations of an inline
# function are charged to its caller (r27).  Where the caller is known, its line is
# checked as well.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_keep

. /qt/lib.sh

# Headers that are source code in fact; each is included by one other file:
#
# kernel/rcu/tasks.h		by kernel/rcu/update.c
# kernel/rcu/tree_nocb.h	by kernel/rcu/tree.c
# kernel/rcu/tree_plugin.h	by kernel/rcu/tree.c
# net/netfilter/ipset/ip_set_hash_gen.h	by each kind of set
SOURCE='(kernel/rcu/(tasks|tree_nocb|tree_plugin)|net/netfilter/ipset/ip_set_hash_gen)\.h:'

test_r27_no_header()
{
	tags > /tmp/all
	[ "$(wc -l < /tmp/all)" -gt 1000 ] || fail "only $(wc -l < /tmp/all) lines"
	awk '$3 ~ /\.h:/ { print $3, $NF }' /tmp/all | grep -vE "^$SOURCE" | sort | uniq -c > /tmp/headers
	sed 's/^/# /' /tmp/headers
	[ ! -s /tmp/headers ] || fail "$(wc -l < /tmp/headers) lines of headers"
}

# held FILE FUNCTION: that line exists and holds memory
held()
{
	tags | awk -v f="$1" -v g="func:$2" '
		index($3, f ":") == 1 && $4 == g { b += $1 }
		END { exit !b }' || fail "nothing on $1 $2"
}

test_page_tables()
{
	held arch/x86/mm/pgtable.c pte_alloc_one
	if [ "$(uname -m)" != i686 ]; then	# i686 has all pmds from the beginning, and no puds
		held mm/memory.c __pmd_alloc
		held mm/memory.c __pud_alloc
	fi
	held mm/memory.c __pte_alloc_kernel
	held arch/x86/mm/pgtable.c _pgd_alloc
}

test_page_cache()
{
	echo something > /tmp/file
	dd if=/dev/zero of=/tmp/file bs=4096 count=64 2>/dev/null
	held kernel/fork.c alloc_thread_stack_node
	tags | awk '$3 ~ /^mm\/(filemap|readahead)\.c:/ { n++ } END { exit n < 4 }' ||
		fail "the page cache has no lines of its own"
	if tags | grep -q 'func:filemap_alloc_folio'; then
		fail "filemap_alloc_folio() has a line"
	fi
}

# hash NAME FILE FUNCTION [TABLES]: that hash table, or so many tables of its size, are
# charged to a line of that function, with the pages that the kernel logged.
hash()
{
	bytes=$(dmesg | sed -n "s/.*\] $1 hash table entries: .*(order: [0-9]*, \([0-9]*\) bytes.*/\1/p")
	[ -n "$bytes" ] || fail "no table $1"
	pages=$(((bytes + 4095) / 4096 * ${4:-1}))
	tags | awk -v f="$2:" -v g="func:$3" -v pages=$pages '
		index($3, f) == 1 && $4 == g && $1 == pages * 4096 && $2 == pages { n++ }
		END { exit !n }' || fail "$1: no line of $3 with $pages pages"
}

# With one node, the tables of inodes and dentries are older than the page allocator.
test_large_hash_tables()
{
	hash "TCP established" net/ipv4/tcp.c tcp_init
	hash "TCP bind" net/ipv4/tcp.c tcp_init
	hash "tcp_listen_portaddr_hash" net/ipv4/inet_hashtables.c inet_hashinfo2_init
	hash "Table-perturb" net/ipv4/inet_hashtables.c inet_hashinfo2_init
	hash UDP net/ipv4/udp.c udp_table_init 2	# and UDP-Lite
	hash "IP idents" net/ipv4/route.c ip_rt_init
	hash Mount-cache fs/namespace.c mnt_init
	hash Mountpoint-cache fs/namespace.c mnt_init
	hash futex kernel/futex/core.c futex_init
	bad=$(tags | grep 'func:alloc_large_system_hash')
	[ -z "$bad" ] || fail "$bad"
}

test_code_of_modules()
{
	before=$(sum_tags 'kernel/module/main.c:[0-9]+ func:move_module')
	insmod /modules/ctag_keep.ko || fail insmod
	after=$(sum_tags 'kernel/module/main.c:[0-9]+ func:move_module')
	[ "${after% *}" -gt "${before% *}" ] || fail "loading a module added nothing: $before, $after"
	rmmod ctag_keep || fail rmmod
}

run_tests
