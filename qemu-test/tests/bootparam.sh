# SPDX-License-Identifier: GPL-2.0-only
#
# The values that the boot parameter accepts.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1,compressed
# append: sysctl.vm.mem_profiling=0
# append: sysctl.vm.mem_profiling=0 sysctl.vm.mem_profiling=1

. /qt/lib.sh

needs_switch

test_value()
{
	want=$(sed 's/.*mem_profiling="\{0,1\}\([01]\).*/\1/' /proc/cmdline)
	eq value "$(cat $MP)" "$want"
	eq mode "$(stat -c %a $MP)" 644
}

test_accounted_since_boot()
{
	set -- $(sum_tags .)
	if [ "$(cat $MP)" = 1 ]; then
		[ "$1" -gt 4000000 ] || fail "only $1 bytes"
	else
		eq bytes "$1" 0
	fi
}

run_tests
