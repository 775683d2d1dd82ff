# SPDX-License-Identifier: GPL-2.0-only
#
# More lines than indices (r26): profiling stays on, the lines without an index share a
# counter that is marked as such, and no byte is lost or charged to another line.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_keep
# expect-console: alloc_tag: out of indices, \d+ of \d+ lines are accounted together
# expect-console: ctag_keep: out of indices

. /qt/lib.sh

shared()
{
	tags | awk '/lines_without_index/ { print $'"$1"' }'
}

test_r26_profiling_is_on()
{
	eq sysctl "$(cat $MP)" 1
	lines=$(tags | wc -l)
	marked=$(tags | grep -c 'accurate:no')
	own=$((lines - marked))
	note "$lines lines, $marked of them share a counter"
	# one index belongs to the shared counter
	eq "lines of their own" $own 999
	[ "$(tags | awk '$1 > 0' | wc -l)" -gt 100 ] || fail "hardly a line has bytes"
}

test_r26_the_rest_is_one_line()
{
	eq "lines named so" "$(shared 1 | wc -l)" 1
	tags | grep lines_without_index | grep -q 'accurate:no' || fail "not marked"
	[ "$(shared 1)" -gt 65536 ] || fail "only $(shared 1) bytes"
	eq "bytes of lines that share" \
		"$(tags | grep accurate:no | grep -v lines_without_index |
		   awk '{ n += $1 + $2 } END { print n }')" 0
}

# Only this kernel has lines that inaccurate=1 finds.
test_records()
{
	AI=/qt/bin/allocinfo
	eq accurate "$($AI dump inaccurate=0 | wc -l)" "$(tags | grep -vc accurate:no)"
	eq inaccurate "$($AI dump inaccurate=1 | wc -l)" "$(tags | grep -c accurate:no)"
	$AI dump inaccurate=1 | grep -v accurate:no && fail "an accurate line is dumped"
	$AI filters || fail filters
	$AI positions || fail positions
}

# The first load of a module fills caches that stay.
test_r26_module_shares_too()
{
	mod_load
	mod_unload
	settle
	b0=$(shared 1) c0=$(shared 2)
	mod_load
	mod_lines | grep -v accurate:no && fail "a line of the module is not marked"
	eq "bytes of the module's lines" \
		"$(mod_lines | awk '{ n += $1 } END { print n }')" 0
	cmd alloc kmalloc_1024 200
	b1=$(shared 1)
	[ $((b1 - b0)) -ge 204800 ] || fail "$((b1 - b0)) bytes more for 200 KiB"
	cmd free kmalloc_1024 200
	mod_unload
	settle
	note "shared: $b0 bytes $c0 calls, now $(shared 1) bytes $(shared 2) calls"
	# other lines share the counter and change it
	d=$(($(shared 2) - c0))
	[ ${d#-} -lt 100 ] || fail "$d calls more than before"
	d=$(($(shared 1) - b0))
	[ ${d#-} -lt 65536 ] || fail "$d bytes more than before"
}

# A line without a counter of its own has no contexts.
test_no_contexts()
{
	CTX=/sys/kernel/debug/alloc_tags.ctx
	[ -e $CTX ] || skip "no contexts"
	mod_load
	for command in enable disable; do
		! echo "module ctag_test $command" 2> /tmp/err > $CTX || fail "$command succeeds"
		grep -q 'No such file' /tmp/err || fail "$command: $(cat /tmp/err)"
	done
	mod_unload
}

test_r22_off_and_on_again()
{
	profiling 0
	profiling 1
	eq sysctl "$(cat $MP)" 1
}

run_tests
