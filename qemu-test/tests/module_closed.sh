# SPDX-License-Identifier: GPL-2.0-only
#
# A module that is not under the GPL is built and profiled.  It also calls the function
# kmem_cache_alloc() behind the macro, which charges the objects to a line of its own.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_closed

. /qt/lib.sh

# "bytes calls" of objects from the function
by_function()
{
	sum_tags 'mm/slab_common.c:[0-9]+ func:kmem_cache_alloc *$'
}

object_size()
{
	awk '$1 == "ctag_closed" { print $4 }' /proc/slabinfo
}

test_objects_are_on_their_lines()
{
	eq "before" "$(by_function)" "0 0"
	insmod /modules/ctag_closed.ko || fail "insmod"
	eq "of the macro" "$(sum_tags '\[ctag_closed\] func:closed_macro')" "$((32 * $(object_size))) 32"
	eq "of the function" "$(by_function)" "$((64 * $(object_size))) 64"
}

# Only the objects of the macro, and the cache; RCU frees the node of an xarray.
two_lines_hold_memory()
{
	tags | grep -F '[ctag_closed]' | awk '$1 || $2' > /tmp/held
	[ "$(wc -l < /tmp/held)" = 2 ]
}

test_nothing_else_stays()
{
	until_true 5 two_lines_hold_memory || { sed 's/^/# /' /tmp/held; fail "not the cache and its objects alone"; }
}

test_unload()
{
	rmmod ctag_closed || fail "rmmod"
	eq "after" "$(by_function)" "0 0"
	! tags | grep -F '[ctag_closed]' || fail "lines stay"
}

run_tests
