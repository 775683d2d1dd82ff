# SPDX-License-Identifier: GPL-2.0-only
#
# The instructions of reading /proc/allocinfo.
#
# append: sysctl.vm.mem_profiling=1
# icount: yes
# cpus: 1

. /qt/lib.sh

figure()
{
	awk -v k="$1" '$1 == k { print $2 }' /tmp/cost
}

test_filtered_by_file()
{
	/qt/bin/allocinfo cost file=mm/slub.c > /tmp/cost || fail "$(cat /tmp/cost)"
	note "$(tr '\n' ' ' < /tmp/cost)"
	[ "$(figure found)" -gt 3 ] || fail "$(figure found) records"
	ratio=$(($(figure text) / $(figure filtered)))
	note "the text costs $ratio times as much"
	[ $ratio -ge 10 ] || fail "the text costs only $ratio times as much"
}

# A read() continues where the last one ended, without walking over earlier lines.
test_small_reads()
{
	first=$(figure first_fifth)
	last=$(figure last_fifth)
	[ "$last" -lt $((first * 3 / 2)) ] || fail "the last fifth costs $last, the first $first"
	per=$(($(figure all) / $(figure records)))
	note "$per instructions a record, $(($(figure text) / $(figure records))) a line"
}

run_tests
