# SPDX-License-Identifier: GPL-2.0-only
#
# The reports of CONFIG_MEM_ALLOC_PROFILING_DEBUG if profiling is "never"
#
# append: sysctl.vm.mem_profiling=never

. /qt/lib.sh

test_reports_are_not_supported()
{
	for f in pages slabs conservation; do
		! cat /sys/kernel/debug/alloc_tag/$f > /tmp/out 2> /tmp/err || fail "$f can be read"
		grep -q "not supported" /tmp/err || fail "$f: $(cat /tmp/err)"
	done
}

run_tests
