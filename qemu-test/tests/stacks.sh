# SPDX-License-Identifier: GPL-2.0-only
#
# Stacks of threads are charged to the line that allocates them, in one piece or mapped page
# by page (CONFIG_VMAP_STACK).
#
# append: sysctl.vm.mem_profiling=1

. /qt/lib.sh

THREADS=200
STACK=16384
# cached stacks on each CPU, for the next thread
CACHED=$((2 * $(nproc) * STACK))
# kernel threads start and end meanwhile
SOME=$((8 * STACK))

stacks()
{
	sum_tags 'kernel/fork\.c:[0-9]+ func:alloc_thread_stack_node '
}

test_threads()
{
	load threads 8
	unload
	settle
	before=$(stacks)
	load threads $THREADS
	during=$(stacks)
	unload
	settle
	after=$(stacks)
	note "stacks, bytes and calls: $before, with $THREADS threads $during, after $after"
	zcat /proc/config.gz | grep -x CONFIG_VMAP_STACK=y && note "mapped page by page"
	more=$((${during% *} - ${before% *}))
	[ $more -ge $((THREADS * STACK - CACHED)) ] || fail "$THREADS threads are $more bytes"
	[ $more -le $((THREADS * STACK + STACK + SOME)) ] || fail "$THREADS threads are $more bytes"
	left=$((${after% *} - ${before% *}))
	[ $left -le $((CACHED + SOME)) ] || fail "$left bytes are left"
	# one call for each page of a stack, or one for the whole stack
	zcat /proc/config.gz | grep -qx CONFIG_VMAP_STACK=y && STACK=4096
	eq "bytes a call" $((${during% *} / ${during#* })) $STACK
	eq "bytes of no call" $((${during% *} % ${during#* })) 0
}

run_tests
