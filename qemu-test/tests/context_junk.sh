# SPDX-License-Identifier: GPL-2.0-only
#
# Wrong values of alloc_tag.ctx_mem=: a message, and the default applies.
#
# append: sysctl.vm.mem_profiling=1 alloc_tag.ctx_mem=junk
# append: sysctl.vm.mem_profiling=1 alloc_tag.ctx_mem=900M
# append: sysctl.vm.mem_profiling=1 alloc_tag.ctx_mem=99999999999999999999
# expect-console: alloc_tags\.ctx: alloc_tag\.ctx_mem=.* is not a size from 64K to half of the memory

. /qt/lib.sh

test_default()
{
	max=$(awk '{ print $3 }' /sys/kernel/debug/alloc_tags.ctx_mem)
	# the kernel itself can use only low memory
	total=$(kilobytes LowTotal)
	percent=$((${total:-$(kilobytes MemTotal)} * 1024 / 100))
	# the figure has grown by the memory that init code has freed
	[ "$max" -gt $((percent * 9 / 10)) ] && [ "$max" -le "$percent" ] ||
		fail "the cap is $max bytes, 1 % of memory is $percent"
	echo "func pte_alloc_one enable" > /sys/kernel/debug/alloc_tags.ctx || fail enable
	ls / > /dev/null
	cat /sys/kernel/debug/alloc_tags.ctx | grep -q "pid:" ||
		fail "nothing captured"
	echo disable > /sys/kernel/debug/alloc_tags.ctx
}

run_tests
