# SPDX-License-Identifier: GPL-2.0-only
#
# After vm.mem_profiling=never, alloctop and allocinfo say so.  On mainline, too; 6.12 complains
# that a sysctl of the command line cannot be written.
#
# append: sysctl.vm.mem_profiling=never
# expect-console@peer: Failed to set sysctl parameter 'vm.mem_profiling=never'
# programs: allocinfo alloctop

. /qt/lib.sh

test_never_is_explained()
{
	for command in "alloctop -1" "allocinfo report" "allocinfo check"; do
		# shellcheck disable=SC2086 # several words
		explains 1 "was booted with profiling disabled" $command
	done
}

run_tests
