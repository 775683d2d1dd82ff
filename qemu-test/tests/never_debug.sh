# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel with CONFIG_MEM_ALLOC_PROFILING_DEBUG boots with profiling at "never": a read of its reports
# fails with EOPNOTSUPP.
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
