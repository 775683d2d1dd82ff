# SPDX-License-Identifier: GPL-2.0-only
#
# Latency by line of code: each wait is counted once and at its line, with the mean, the
# maximum and the quantiles that the waiter measured itself.  No wait is lost, and a wait
# that began before timing was switched on does not count.
#
# append: sysctl.vm.mem_profiling=0
# append: sysctl.vm.mem_profiling=0 codetag_time_stats=1
# append: sysctl.vm.mem_profiling=0 codetag_time_stats=yes
# modules: ctag_sleep
# cpus: 2
# timeout: 300

. /qt/lib.sh

STATS=/sys/kernel/debug/time_stats
SLEEP=/sys/kernel/debug/ctag_sleep

# The time in nanoseconds that a busy host may add to a sleep.
SLACK=${SLACK:-1000000}

stats()
{
	echo "$1" > $STATS || fail "refused: $1"
}

refused()
{
	refuses $STATS "$@"
}

sleeper()
{
	[ -d $SLEEP ] || insmod /modules/ctag_sleep.ko || fail insmod
	[ -z "$1" ] || echo "$1" > $SLEEP/cmd || fail "ctag_sleep refused: $1"
}

# switches on, with nothing counted
fresh_stats()
{
	stats enable
	stats reset
}

# files of debugfs have size 0, so read it
nothing()
{
	! grep -q . $STATS || fail "$1: $(head -12 $STATS)"
}

# warm WHAT...: allocates their histograms, and resets the counts
warm()
{
	for what in "$@"; do
		sleeper "$what 1"
	done
	cat $STATS > /dev/null
	stats reset
}

# block FUNCTION: copies the block of that function of ctag_sleep to /tmp/block
block()
{
	awk -v f="func:$1" '
		$2 == "module:ctag_sleep" && $3 == f { on = 1 }
		on && NF == 0 { exit }
		on { print }' $STATS > /tmp/block
}

# count FUNCTION: the number of its events
count()
{
	block "$1"
	awk '$1 == "count:" { n = $2 } END { print n + 0 }' /tmp/block
}

# exact KEY: a figure from the line of exact figures of /tmp/block
exact()
{
	awk -v k="$1" '/^  exact \(ns\):/ { for (i = 3; i < NF; i++) if ($i == k) print $(i + 1) }' /tmp/block
}

# as_measured WHAT FUNCTION: does the block agree with what the module measured?
as_measured()
{
	block "$2"
	[ -s /tmp/block ] || fail "no block of $2"
	grep "^$1 " $SLEEP/table > /tmp/own
	awk -v slack="$SLACK" '
	function near(what, shown, own)
	{
		off = shown > own ? shown - own : own - shown
		if (off > own / 50 + slack) {
			printf "# %s: shown %.0f, measured %.0f\n", what, shown, own
			bad++
		}
		if (off / own > worst)
			worst = off / own
	}
	FILENAME == "/tmp/own" {
		count = $2; total = $3; max = $4
		for (k = 1; k <= 15; k++)
			own[k] = $(k + 4)
		next
	}
	$1 == "count:" && $2 != count {
		print "# count: shown " $2 ", measured " count; bad++
	}
	$1 == "unsorted:" && $2 != 0 { print "# unsorted: " $2; bad++ }
	$1 == "exact" {
		near("average", $4, total / count)
		near("maximum", $8, max)
		near("total", $10, total)
		if ($10 > total) { print "# more than the time there was"; bad++ }
		n++
	}
	/quantiles \(ns\)/ {
		for (k = 1; k <= 15; k++)
			near("quantile " k, $(k + 2), own[k])
		n += NF == 17
	}
	END {
		printf "# off by at most %.2f %%\n", worst * 100
		exit bad || n != 2
	}' /tmp/own /tmp/block || fail "$(cat /tmp/own): $(cat /tmp/block)"
}

test_boot()
{
	case $(cat /proc/cmdline) in
	*codetag_time_stats=1*)
		grep -q ' module:[a-z_0-9]* func:' $STATS || fail "nothing counted" ;;
	*codetag_time_stats=*)
		dmesg | grep -qF 'time_stats: codetag_time_stats=yes: neither 0 nor 1' ||
			fail "nothing said about it"
		nothing "counted" ;;
	*)
		nothing "counted" ;;
	esac
	stats disable
	stats reset
	sleep 1
	nothing "counted while off"
	eq "$STATS" "$(stat -c '%a %u' $STATS)" "600 0"
}

test_form()
{
	fresh_stats
	sleeper "short 20"
	sleep 1
	cat $STATS > /tmp/all
	awk '
	function want(re) { if ($0 !~ re) { print "# line " NR ": " $0; bad++ } }
	{ at++ }
	at == 1 { want("^  [^ :]+:[0-9]+ module:[A-Za-z0-9_]+ func:[A-Za-z0-9_.]+$") }
	at == 2 { want("^  count:          [0-9]+$") }
	at == 3 { want("^  rate:           [0-9]+/sec$") }
	at == 4 { want("^  frequency:    [0-9]+ (ns|us|ms|sec)$") }
	at == 5 { want("^  avg duration:   [0-9]+ (ns|us|ms|sec)$") }
	at == 6 { want("^  max duration:   [0-9]+ (ns|us|ms|sec)$") }
	at == 7 { want("^  quantiles \\(us\\):( [0-9]+| -)+$"); if (NF != 17) { print "# " NF " fields"; bad++ } }
	at == 8 { want("^  recent avg:     [0-9]+ (ns|us|ms|sec)$") }
	at == 9 { want("^  recent freq:    [0-9]+ (ns|us|ms|sec)$") }
	at == 10 { want("^  exact \\(ns\\):     avg [0-9]+ min [0-9]+ max [0-9]+ total [0-9]+$") }
	at == 11 { want("^  quantiles \\(ns\\):( [0-9]+| -)+$"); if (NF != 17) { print "# " NF " fields"; bad++ } }
	at == 12 { want("^  unsorted:       [0-9]+$") }
	at == 13 { want("^$"); at = 0; n++ }
	END { print "# " n " lines that sleep"; exit bad || at || n < 2 }' /tmp/all || fail "the form"
	block sleep_short
	grep -q '^  ctag_sleep.c:[0-9]* module:ctag_sleep func:sleep_short$' /tmp/block ||
		fail "$(head -1 /tmp/block)"
}

# in_some_try WHAT N FUNCTION: tries five times, because the host may stop the CPU between
# the two readings of the clock, which then differ.  latency_cost has no such noise.
in_some_try()
{
	for try in 1 2 3 4 5; do
		stats "module ctag_sleep func $3 reset"
		sleeper "$1 $2"
		! (as_measured "$1" "$3") || return 0
	done
	fail "$1: not as measured in each of five tries"
}

test_known_distributions()
{
	fresh_stats
	warm short mixed timeouts pieces
	in_some_try short 200 sleep_short
	in_some_try mixed 100 sleep_mixed
	in_some_try timeouts 30 sleep_timeout
	sleeper "pieces 5000"		# too short for a check against the module
	# min <= every quantile <= max, in order
	for f in sleep_short sleep_mixed sleep_timeout one_piece; do
		block $f
		awk '$1 == "exact" { min = $6; max = $8 }
		     /quantiles \(us\)/ { for (i = 3; i <= NF; i++) us[i] = $i * 1000 }
		     /quantiles \(ns\)/ { for (i = 3; i <= NF; i++) q[i] = $i }
		     END { for (i = 3; i <= 17; i++) {
				off = us[i] > q[i] ? us[i] - q[i] : q[i] - us[i]
				if (q[i] < min || q[i] > max || q[i] < q[i - 1] || off > 500)
					exit 1
			   } }' /tmp/block || fail "$(cat /tmp/block)"
	done
}

test_switch()
{
	fresh_stats
	sleeper "short 3"
	eq "on" "$(count sleep_short)" 3
	stats disable
	sleeper "short 3"
	eq "off, and still known" "$(count sleep_short)" 3
	stats enable
	sleeper "short 2"
	eq "on again" "$(count sleep_short)" 5
	stats disable
	stats disable
	stats enable
	stats enable
	sleeper "short 1"
	eq "twice each" "$(count sleep_short)" 6
}

# Waits that began before timing was last switched on
test_old_start()
{
	[ ! -d $SLEEP ] || rmmod ctag_sleep
	stats disable
	sleeper old
	stats enable
	stats reset
	sleeper old
	sleeper old
	eq "old pieces" "$(count old_piece)" 0
	sleeper "short 1"
	eq "others" "$(count sleep_short)" 1
	! awk '/^  exact/ && $8 > 600000000000 { bad = 1 } END { exit !bad }' $STATS ||
		fail "a wait is longer than the uptime"
}

test_reset()
{
	fresh_stats
	sleeper "short 4"
	sleeper "mixed 2"
	stats "func sleep_short reset"
	eq "reset" "$(count sleep_short)" 0
	eq "not meant" "$(count sleep_mixed)" 2
	stats "module ctag_sleep file ctag_sleep.c reset"
	eq "by module" "$(count sleep_mixed)" 0
	sleeper "short 2"
	eq "after it" "$(count sleep_short)" 2
	stats reset
	! grep -q ctag_sleep $STATS || fail "left: $(grep ctag_sleep $STATS)"
}

test_sort()
{
	fresh_stats
	sleeper "mixed 20"
	sleeper "short 20"
	sleeper "pieces 10"
	stats disable
	stats "sort time"
	awk '/^  exact/ { print $10 }' $STATS > /tmp/totals
	sort -n -r /tmp/totals | cmp - /tmp/totals || fail "not sorted by time"
	awk '/ module:ctag_sleep / { print $3 }' $STATS | xargs > /tmp/order
	eq "by time" "$(cat /tmp/order)" "func:sleep_mixed func:sleep_short func:one_piece"
	stats "sort place"
	awk '/ module:ctag_sleep / { sub(/.*:/, "", $1); print $1 }' $STATS > /tmp/lines
	sort -n /tmp/lines | cmp - /tmp/lines || fail "not sorted by place: $(xargs < /tmp/lines)"
}

# Threads, softirqs and interrupts of both CPUs at one line, while the file is read and reset
test_nothing_is_lost()
{
	# On both CPUs at once, in a call that cannot be interrupted.
	each=100000
	! slow_kernel || each=10000
	all=$((each * 5 * $(nproc)))
	fresh_stats
	warm hammer
	before=$(awk '$1 == "hammered" { print $2 }' $SLEEP/table)
	(
		while [ ! -e /tmp/enough ]; do
			cat $STATS > /dev/null
		done
	) &
	reader=$!
	for i in 1 2 3 4 5; do
		sleeper "hammer $each"
		after=$(awk '$1 == "hammered" { print $2 }' $SLEEP/table)
		[ "$(count hammer_piece)" = $((after - before)) ] || {
			touch /tmp/enough
			wait $reader
			fail "counted $(count hammer_piece) of $((after - before))"
		}
	done
	touch /tmp/enough
	wait $reader
	rm /tmp/enough
	block hammer_piece
	eq "unsorted" "$(awk '$1 == "unsorted:" { print $2 }' /tmp/block)" 0
	note "$((after - before)) events, $((after - before - all)) of them in interrupts"
	[ $((after - before)) -gt $all ] || fail "no interrupt came"
}

test_module_goes()
{
	fresh_stats
	for i in 1 2 3 4 5; do
		sleeper "short 3"
		sleeper "pieces 50"
		eq "counted" "$(count sleep_short)" 3
		[ "$(grep -c ' module:ctag_sleep ' $STATS)" -ge 2 ] || fail "not two lines"
		# the reader has read the earlier blocks, and buffers at most one
		exec 5< $STATS
		dd bs=1 count=10 <&5 > /dev/null 2>&1
		rmmod ctag_sleep || fail rmmod
		! grep -q ctag_sleep $STATS || fail "still listed"
		cat <&5 > /tmp/rest || fail "the reader: $?"
		exec 5<&-
		[ "$(grep -c ' module:ctag_sleep ' /tmp/rest)" -le 1 ] ||
			fail "a reader finds a line of an unloaded module"
	done
	# loaded while off, then switched on
	stats disable
	sleeper "short 1"
	stats enable
	eq "off" "$(count sleep_short)" 0
	sleeper "short 2"
	eq "on" "$(count sleep_short)" 2
}

# Modules are loaded and unloaded under readers
test_readers_and_modules()
{
	fresh_stats
	for n in 1 2; do
		(
			while [ ! -e /tmp/enough ]; do
				cat $STATS > /tmp/read.$n
				echo "module ctag_sleep reset" > $STATS 2> /dev/null
			done
		) &
	done
	[ ! -d $SLEEP ] || rmmod ctag_sleep
	rounds=0
	while [ $rounds -lt 5 ]; do
		insmod /modules/ctag_sleep.ko || break
		echo "pieces 2000" > $SLEEP/cmd || break
		rmmod ctag_sleep || break
		rounds=$((rounds + 1))
	done
	touch /tmp/enough
	wait
	rm /tmp/enough
	eq "rounds" $rounds 5
	[ ! -d $SLEEP ] || fail "the module cannot be unloaded"
}

test_bad_commands()
{
	fresh_stats
	sleeper "short 3"
	refused " " "a command is missing"
	refused "enabel" "no such command" 'column 1, "enabel"'
	refused "on" "no such command" 'column 1, "on"'
	refused "1" "no such command" 'column 1, "1"'
	refused "module ctag_sleep" "a command is missing"
	refused "module ctag_sleep enable" "takes no query" "column 19,"
	refused "func x disable" "takes no query" "column 8,"
	refused "func x sort time" "takes no query" "column 8,"
	refused "sort" "an order is missing"
	refused "sort size" "neither place nor time" 'column 6, "size"'
	refused "sort time place" "more than a command" 'column 11, "place"'
	refused "reset reset" "more than a command" "column 7,"
	refused "func nosuch reset" "no such call site"
	refused 'file "x reset' "no end" "column 6,"
	eq "nothing changed" "$(count sleep_short)" 3
	if head -c 5000 /dev/zero | tr '\0' x > $STATS 2> /dev/null; then
		fail "5000 bytes"
	fi
}

# Sleeps of the kernel: user space that waits in known ways, at known lines
test_known_places()
{
	loopback_up
	fresh_stats
	(sleep 1) | cat			# a pipe is read
	/qt/bin/sleeps > /tmp/functions || fail "$(cat /tmp/functions)"
	cat $STATS > /tmp/all
	for f in pipe_read $(cat /tmp/functions); do
		awk -v f="func:$f" '
			/ module:/ { on = $3 == f }
			on && $1 == "exact" && $10 >= 1e8 { good = 1 }
			END { exit !good }' /tmp/all || fail "$f has not slept: $(grep -A 12 "func:$f\$" /tmp/all)"
	done
	# built-in code has the module name that dynamic debug uses
	grep -q '^  fs/pipe\.c:[0-9]* module:pipe func:pipe_read$' /tmp/all || fail "pipe_read is not of pipe"
	stats "module pipe func pipe_read reset"
	# no line is in the headers with the hooks, nor in code that waits for its callers
	! grep -E '^  (\./)?(include/linux/(wait|wait_bit|codetag_time_stats|buffer_head|pagemap|writeback)\.h|kernel/sched/wait(_bit)?\.c):' /tmp/all ||
		fail "a line of code that waits for its callers"
}

test_off_at_the_end()
{
	stats disable
	stats reset
	[ ! -d $SLEEP ] || rmmod ctag_sleep
	nothing "left"
}

run_tests
