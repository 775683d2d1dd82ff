# SPDX-License-Identifier: GPL-2.0-only
#
# Ten minutes of random calls on /dev/kmon, under KASAN, lockdep and kmemleak: no splat, and
# nothing leaks.
#
# append: kmemleak=on rcupdate.rcu_cpu_stall_timeout=150 watchdog_thresh=60 sysctl.kernel.hung_task_timeout_secs=240
# modules: kmon_feed
# memory: 1G
# timeout: 400

. /qt/lib.sh

SECONDS_EACH=300
LEAKS=/sys/kernel/debug/kmemleak

# First without records, then with records all the time.  Two processes have each file open
# and use it at the same time.
fuzz()
{
	rounds=$(kmon fuzz $SECONDS_EACH $1) || fail "$rounds"
	note "$rounds rounds, seed $1"
	[ "$rounds" -gt 2000 ] || fail "hardly any"
}

feed_until_gone()
{
	while [ -e /tmp/feeding ]; do
		size=$((RANDOM * 2))
		insmod /modules/kmon_feed.ko nr=$((100000000 / (size + 1000))) size=$size mix=1 || break
		rmmod kmon_feed
	done
}

test_alone()
{
	fuzz "$(date +%s)"
}

test_beside_others()
{
	touch /tmp/feeding
	feed_until_gone &
	feeder=$!
	fuzz "$(($(date +%s) + 1))"
	[ -d /proc/$feeder ] || fail "kmon_feed ended"
	rm /tmp/feeding
	wait $feeder
}

test_nothing_is_left()
{
	settle
	eq "bytes and calls" "$(sum_tags 'func:(make_ring|kmon_open|set_size)')" "0 0"
	echo scan > $LEAKS
	sleep 6
	echo scan > $LEAKS
	cat $LEAKS > /tmp/leaks || fail "no kmemleak"
	! grep -q '^unreferenced object' /tmp/leaks || fail "$(head -12 /tmp/leaks | xargs)"
}

run_tests
