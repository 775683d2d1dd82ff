# SPDX-License-Identifier: GPL-2.0-only
#
# The report of show_mem() ends with the ten lines that hold the most memory, or states
# that profiling is off.  The reports of two CPUs do not mix.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=never
# memory: 256M
# timeout: 180
# expect-console: Mem-Info
# expect-console: alloc_tag:

. /qt/lib.sh

never()
{
	grep -q never /proc/cmdline
}

# Empties the log, so that it has only new messages.
report()
{
	dmesg -c > /dev/null
	echo m > /proc/sysrq-trigger
	dmesg -c | sed 's/^\[[^]]*\] //' > /tmp/report
}

# The lines after the heading
rows()
{
	awk '/^alloc_tag: bytes/ { on = 1; next } on && /^alloc_tag:/' "${1:-/tmp/report}"
}

test_report_names_the_largest()
{
	! never || skip "never"
	tags | sort -k 1,1nr | head -n 9 > /tmp/before
	report
	tags | sort -k 1,1nr | head -n 9 > /tmp/after
	rows > /tmp/rows
	eq "number of lines" "$(wc -l < /tmp/rows)" 10
	awk 'NR > 1 && $2 > had { bad = 1 } { had = $2 } END { exit bad }' /tmp/rows ||
		fail "not the largest first"
	grep -q '^alloc_tag: bytes, calls and places of the 10 lines' /tmp/report || fail "no heading"
	# The report has the first nine of the file.  A command that runs holds memory, too: so
	# compare only lines with nearly the same bytes before the report and after it.
	awk 'NR == FNR { had[$3] = $1; next } $3 in had && $1 > had[$3] * 0.9 && $1 < had[$3] * 1.1' \
		/tmp/before /tmp/after > /tmp/same
	[ "$(wc -l < /tmp/same)" -ge 5 ] || fail "only $(wc -l < /tmp/same) lines keep their bytes"
	while read -r bytes _ where rest; do
		awk -v w="$where" -v b="$bytes" '$4 == w && $2 > b * 0.8 && $2 < b * 1.25 { ok = 1 }
			END { exit !ok }' /tmp/rows || fail "$bytes $where $rest is not there"
	done < /tmp/same
}

test_reports_of_two_cpus_do_not_mix()
{
	! never || skip "never"
	dmesg -c > /dev/null
	# many reports in a row, so that the two CPUs sometimes report at the same time
	reports='for i in 1 2 3 4 5 6; do echo m > /proc/sysrq-trigger; done'
	for i in 1 2 3 4; do
		taskset 1 sh -c "$reports" &
		taskset 2 sh -c "$reports" &
		wait
		dmesg -c
	done | sed 's/^\[[^]]*\] //' | grep '^alloc_tag:' > /tmp/all
	# a CPU whose report comes during another one prints a message instead
	grep -v 'another report on call sites is under way$' /tmp/all > /tmp/rows
	left=$(($(wc -l < /tmp/all) - $(wc -l < /tmp/rows)))
	note "$left of 48 reports were left out"
	eq "lines" "$(wc -l < /tmp/rows)" $(((48 - left) * 11))
	awk 'NR % 11 == 1 && !/bytes, calls/ { bad = 1 } NR % 11 != 1 && /bytes, calls/ { bad = 1 }
		END { exit bad }' /tmp/rows || fail "mixed"
}

test_off_is_said()
{
	never || profiling 0
	report
	eq "number of lines" "$(rows | wc -l)" 0
	grep -q '^alloc_tag: memory allocation profiling is off$' /tmp/report || fail "not said"
	never || profiling 1
}

run_tests
