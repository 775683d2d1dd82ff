# SPDX-License-Identifier: GPL-2.0-only
#
# The instructions of timing a wait: only branches that are not taken while it is off, and
# the same after it was on.  Also known distributions of sleeps, within 2 %, because the
# host has no influence here.  `qemu-test/cost --latency` compares with the unpatched
# kernel.
#
# append: sysctl.vm.mem_profiling=0
# icount: yes
# cpus: 1
# modules: wait_cost ctag_sleep
# memory: 1G
# timeout: 300

. /qt/lib.sh

STATS=/sys/kernel/debug/time_stats
SLEEP=/sys/kernel/debug/ctag_sleep

# waits NAME: measures into /tmp/waits.NAME
waits()
{
	dmesg -c > /dev/null
	insmod /modules/wait_cost.ko 2> /dev/null
	dmesg | sed -n 's/.*wait_cost: \([a-z_+]* [0-9]*\)$/\1/p' | head -3 > "/tmp/waits.$1"
	note "$1: $(xargs < "/tmp/waits.$1")"
	[ "$(wc -l < "/tmp/waits.$1")" = 3 ] || fail "no figures"
}

test_on_and_off()
{
	waits off
	echo enable > $STATS
	waits on
	echo disable > $STATS
	waits again
	cmp /tmp/waits.off /tmp/waits.again || fail "it costs more after it was on"
	paste /tmp/waits.off /tmp/waits.on |
		awk '{ print "# " $1 ": on adds " $4 - $2; if ($4 - $2 < 40 || $4 - $2 > 700) bad = 1 }
		     END { exit bad }' || fail "the cost is too high, or zero"
}

# The remaining error is that of the histogram.
test_distributions()
{
	echo enable > $STATS
	insmod /modules/ctag_sleep.ko || fail insmod
	# allocate the histograms
	for what in short mixed timeouts pieces; do
		echo "$what 1" > $SLEEP/cmd || fail "$what"
	done
	cat $STATS > /dev/null
	echo reset > $STATS
	for what in "short 500 sleep_short" "mixed 200 sleep_mixed" \
		    "timeouts 30 sleep_timeout" "pieces 5000 one_piece"; do
		set -- $what
		echo "$1 $2" > $SLEEP/cmd || fail "$1"
		grep "^$1 " $SLEEP/table > /tmp/own
		awk -v f="func:$3" '$2 == "module:ctag_sleep" && $3 == f { on = 1 }
			on && NF == 0 { exit } on' $STATS > /tmp/block
		awk -v what="$1" '
		function near(shown, own)
		{
			off = shown > own ? shown - own : own - shown
			if (off > own / 50)
				bad++
			if (off / own > worst)
				worst = off / own
		}
		FILENAME == "/tmp/own" { for (i = 2; i <= NF; i++) own[i] = $i; next }
		$1 == "count:" { if ($2 != own[2]) bad++ }
		$1 == "exact" { near($4, own[3] / own[2]); near($8, own[4]); n++ }
		/quantiles \(ns\)/ { for (k = 1; k <= 15; k++) near($(k + 2), own[k + 4]); n++ }
		END {
			printf "# %s: off by at most %.2f %%\n", what, worst * 100
			exit bad || n != 2
		}' /tmp/own /tmp/block || fail "$(cat /tmp/own): $(cat /tmp/block)"
	done
	rmmod ctag_sleep
	echo disable > $STATS
}

run_tests
