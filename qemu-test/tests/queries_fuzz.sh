# SPDX-License-Identifier: GPL-2.0-only
#
# Ten minutes of random writes to the files that take commands about code tags, while memory
# is allocated and freed at these tags, under KASAN and lockdep.
#
# append: sysctl.vm.mem_profiling=1 rcupdate.rcu_cpu_stall_timeout=150 watchdog_thresh=60
# modules: ctag_uses
# memory: 1G
# timeout: 300

. /qt/lib.sh

SECONDS_EACH=300
DEBUGFS=/sys/kernel/debug

# The log is full of errors about the commands: do not wait for the console.
fuzz()
{
	echo 1 > /proc/sys/kernel/printk
	[ -d $DEBUGFS/ctag_uses ] || insmod /modules/ctag_uses.ko || fail insmod
	touch /tmp/hammering
	while [ -e /tmp/hammering ]; do
		echo "hammer 200" > $DEBUGFS/ctag_uses/cmd
		echo "points 200" > $DEBUGFS/ctag_uses/cmd
		cat "$DEBUGFS/$1" > /dev/null
	done &
	hammer=$!
	queries "$DEBUGFS/$1" $SECONDS_EACH "$(date +%s)" "$2" > /tmp/told || fail "$1"
	rm /tmp/hammering
	wait $hammer
	echo disable > "$DEBUGFS/$1" || fail "disable"
	echo 7 > /proc/sys/kernel/printk
	read -r accepted refused < /tmp/told
	note "$1: $accepted accepted, $refused refused"
	[ "$accepted" -gt 100 ] && [ "$refused" -gt 1000 ] || fail "hardly any"
}

test_contexts()
{
	fuzz alloc_tags.ctx ""
	[ -z "$(cat $DEBUGFS/alloc_tags.ctx)" ] || fail "something after disable"
}

# Each command ends with a task that does not exist, so that a correct command makes no
# allocation fail.
test_faults()
{
	fuzz dynamic_faults " task nobody"
	! grep -q 'enabled\|evaluated' $DEBUGFS/dynamic_faults || fail "after disable"
}

run_tests
