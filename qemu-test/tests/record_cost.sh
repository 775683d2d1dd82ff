# SPDX-License-Identifier: GPL-2.0-only
#
# What our programs need for a table of the kernel, with the kernel's part.  Time counts instructions, 10^9 a second, so
# other programs of the host have no influence.
#
# append: sysctl.vm.mem_profiling=1
# programs: allocinfo allocinfod
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
	note "reading the text takes $reading ms, parsing it $parsing ms" \
		"$(sed -n 's/^\(reading records\)  *\(.*\)/\1 \2/p' /tmp/check)"
	awk -v r="$reading" -v p="$parsing" 'BEGIN { exit !(p > 0 && r > 0 && p <= r) }' ||
		fail "$(cat /tmp/check)"
}

# A recorder that takes a snapshot a minute uses less than 0.1 % of a CPU: 60 ms for each.
test_recording_is_cheap()
{
	no_hung_tasks
	mount_disk
	time -f "%U %S" -o /tmp/time allocinfo record -o /mnt/cheap -i 1 -n 20 || fail "exit code $?"
	spent=$(awk '{ printf "%d\n", ($1 + $2) * 1000 }' /tmp/time)
	size=$(stat -c %s /mnt/cheap)
	note "20 snapshots: $spent ms of CPU time, $size bytes"
	[ "$spent" -gt 0 ] && [ $((spent / 20)) -lt 60 ] || fail "$spent ms for 20 snapshots"
}

# A server that answers each 15 seconds uses less than 0.5 % of a CPU: 75 ms for an answer.
test_serving_is_cheap()
{
	# allocinfod does not run without it
	grep -q ^Seccomp_filters /proc/self/status || skip "this kernel has no seccomp"
	loopback_up
	allocinfod 2> /tmp/err &
	pid=$!
	until wget -q -O /tmp/metrics http://127.0.0.1:9842/metrics 2> /dev/null; do
		[ -d /proc/$pid ] || fail "$(cat /tmp/err)"
		usleep 100000
	done
	ticks=$(awk '{ print $14 + $15 }' /proc/$pid/stat)
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		wget -q -O /tmp/metrics http://127.0.0.1:9842/metrics || fail "no answer: $(cat /tmp/err)"
		sleep 2
	done
	# of 10 ms, for 20 answers
	spent=$((($(awk '{ print $14 + $15 }' /proc/$pid/stat) - ticks) * 10))
	kill $pid
	wait $pid
	eq "exit code" $? 0
	grep -q "^linux_alloc_profiling{state=\"on\"} 1" /tmp/metrics || fail "$(head -n 20 /tmp/metrics)"
	note "20 answers: $spent ms of CPU time"
	[ $spent -gt 0 ] && [ $((spent / 20)) -lt 75 ] || fail "$spent ms for 20 answers"
}

run_tests
