# SPDX-License-Identifier: GPL-2.0-only
#
# A thousand rounds of load and unload, with memory that outlives its module and loads that
# fail: no memory and no line is left.
#
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_life ctag_keep
# timeout: 1800

. /qt/lib.sh

ROUNDS=1000

round()
{
	mod_load
	cmd alloc all 5
	cmd churn 2
	[ $(($1 % 3)) != 0 ] || cmd keep all
	mod_unload
	if [ $(($1 % 7)) = 0 ]; then
		insmod /modules/ctag_test.ko fail=2 2>/dev/null && fail "loaded"
	fi
	if [ $(($1 % 10)) = 0 ]; then
		life_load
		life caches 20
		life rcu 20
		life_unload
	fi
	[ $(($1 % 5)) != 0 ] || echo 1 > $KEEP/free
}

# rounds FROM TO: does these rounds
rounds()
{
	i=$1
	while [ "$i" -le "$2" ]; do
		round $i
		[ $((i % 250)) != 0 ] ||
			note "round $i: $(tags | wc -l) lines, $(kilobytes MemAvailable) kB available"
		i=$((i + 1))
	done
	echo 1 > $KEEP/free
	# another load, after which the lines of the last round are checked
	insmod /modules/ctag_test.ko fail=1 2>/dev/null
	settle 6
}

# After the first half, the kernel has all memory that it allocates once and keeps.  In the
# second half no line may gain a call for every tenth round.
test_thousand_rounds()
{
	rounds 1 20
	lines=$(tags | wc -l)
	mem=$(kilobytes MemAvailable)
	rounds 21 $((ROUNDS / 2))
	# create both files in advance, so that their memory is in both snapshots
	for f in before after before; do
		snapshot /tmp/$f
	done
	rounds $((ROUNDS / 2 + 1)) $ROUNDS
	snapshot /tmp/after
	eq "lines" "$(tags | wc -l)" "$lines"
	lost=$((mem - $(kilobytes MemAvailable)))
	note "$lost kB fewer available than before"
	# MemAvailable does not count the per-CPU lists of free pages: up to a MiB each
	[ $lost -lt 3072 ] || fail "$lost kB are lost"
	awk -F'\t' -v n=$((ROUNDS / 20)) '
		NR == FNR { c[$1] = $3; next }
		$3 - c[$1] >= n { print "# " $1 ": " c[$1] " -> " $3 " calls"; bad = 1 }
		END { exit bad }' /tmp/before /tmp/after ||
		fail "a line grows with the rounds"
}

run_tests
