# SPDX-License-Identifier: GPL-2.0-only
#
# Wrong values of the boot parameter: a warning, and the default applies.
#
# append: sysctl.vm.mem_profiling=maybe
# append: sysctl.vm.mem_profiling=1,junk
# append: sysctl.vm.mem_profiling=1,
# append: sysctl.vm.mem_profiling=2
# append: sysctl.vm.mem_profiling=
# append: sysctl.vm.mem_profiling
# append: sysctl.vm.mem_profiling=nevermind
# expect-console: mem_profiling.* is not .*never

. /qt/lib.sh

needs_switch

test_default()
{
	eq value "$(cat $MP)" 0
	eq mode "$(stat -c %a $MP)" 444
	eq "bytes and calls" "$(sum_tags .)" "0 0"
}

run_tests
