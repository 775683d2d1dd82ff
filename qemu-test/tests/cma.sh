# SPDX-License-Identifier: GPL-2.0-only
#
# A CMA area: movable pages use it, the area takes it back, and allocates it again (r13).
#
# append: sysctl.vm.mem_profiling=1 cma=64M
# memory: 256M

. /qt/lib.sh

CMA=/sys/kernel/debug/cma/reserved

# The function has a second line, for its record of an allocation.
line()
{
	tags | awk '/func:cma_alloc_mem / && $1 >= $2 * 4096 { b += $1; c += $2 } END { print b + 0, c + 0 }'
}

test_r13_first_use_of_the_area()
{
	[ -w $CMA/alloc ] || fail "no contiguous area"
	set -- $(line)
	eq "calls before" "$2" 0
	for n in 1 100 4096; do
		set -- $(line)
		had=$2
		echo $n > $CMA/alloc || fail "cannot allocate $n pages"
		set -- $(line)
		eq "calls for $n pages" $(($2 - had)) $n
		eq "bytes for $2 pages" "$1" $(($2 * 4096))
	done
	echo 4197 > $CMA/free
	eq "given back" "$(line)" "0 0"
}

test_r13_lent_and_taken_back()
{
	[ -w $CMA/alloc ] || fail "no contiguous area"
	for i in 1 2 3; do
		/qt/bin/moves cma 140 || fail "round $i"
	done
	eq "given back" "$(line)" "0 0"
}

test_no_warnings()
{
	dmesg | grep -E 'alloc_tag:|WARNING' && fail "a warning"
	:
}

run_tests
