# SPDX-License-Identifier: GPL-2.0-only
#
# What our tools need for a table of the kernel.  Time counts instructions, 10^9 a second, so
# other programs of the host have no influence.
#
# append: sysctl.vm.mem_profiling=1
# programs: allocinfo
# disk: 64M
# icount: yes
# cpus: 1

. /qt/lib.sh

# cost_of WHAT: milliseconds that `allocinfo check` measured
cost_of()
{
	sed -n "s/^$1  *\([0-9.]*\) ms of CPU time.*/\1/p" /tmp/check
}

# The tools spend less time on the text than the kernel.
test_parsing_is_cheap()
{
	allocinfo check > /tmp/check || fail "exit code $?"
	reading=$(cost_of "reading text") parsing=$(cost_of "parsing text")
	note "reading the text takes $reading ms, parsing it $parsing ms"
	awk -v r="$reading" -v p="$parsing" 'BEGIN { exit !(p > 0 && r > 0 && p <= r) }' ||
		fail "$(cat /tmp/check)"
}

# A recorder that takes a snapshot a minute uses less than 0.1 % of a CPU: 60 ms for each.
test_recording_is_cheap()
{
	mount_disk
	time -f "%U %S" -o /tmp/time allocinfo record -o /mnt/cheap -i 1 -n 20 || fail "exit code $?"
	spent=$(awk '{ printf "%d\n", ($1 + $2) * 1000 }' /tmp/time)
	size=$(stat -c %s /mnt/cheap)
	note "20 snapshots: $spent ms of CPU time, $size bytes"
	[ "$spent" -gt 0 ] && [ $((spent / 20)) -lt 60 ] || fail "$spent ms for 20 snapshots"
}

run_tests
