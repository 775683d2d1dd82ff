# SPDX-License-Identifier: GPL-2.0-only
#
# When memory is exhausted, the report of the OOM killer names the lines that hold it.
#
# append: sysctl.vm.mem_profiling=1
# memory: 256M
# timeout: 180
# expect-console: invoked oom-killer
# expect-console: Call [Tt]race:
# expect-console: Out of memory: Killed process

. /qt/lib.sh

test_the_killer_names_the_line()
{
	dmesg -c > /dev/null
	# the program requests more than there is, and is the victim
	echo 1 > /proc/sys/vm/overcommit_memory
	echo 1000 > /proc/self/oom_score_adj
	free=$(kilobytes MemAvailable)
	twice=$(($(kilobytes MemTotal) / 512))		# in MiB
	/qt/bin/load anon "$twice" /tmp/.ready && fail "was not killed"
	[ ! -e /tmp/.ready ] || fail "the program got $twice MiB"
	dmesg | sed 's/^\[[^]]*\] //' > /tmp/report
	awk '/^Mem-Info/ { mem = 1 } mem && /^alloc_tag: bytes/ { on = 1; n = 0; next }
		on && /^alloc_tag:/ && !n++ { first = $0 } END { print first }' /tmp/report > /tmp/first
	grep -q 'func:do_anonymous_page$' /tmp/first || fail "largest: $(cat /tmp/first)"
	held=$(awk '{ print $2 }' /tmp/first)
	note "$held bytes of $free KiB that were free"
	[ "$held" -gt $((free * 512)) ] || fail "less than half of the memory that was free"
}

run_tests
