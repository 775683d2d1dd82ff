# SPDX-License-Identifier: GPL-2.0-only
#
# No error code reaches user space through the calls of stress-ng.  All its stressors that
# make system calls run one after the other, while CONFIG_ERROR_CODES_DEBUG checks the
# result of every system call.  The warning comes once a boot; the test re-enables it after
# each stressor, so that every stressor that sees a code is named.
#
# The verdicts of the stressors do not count: some fail in a TCG guest on any kernel, and
# qemu-test/compare/basetests is the test that separates such failures from ours.
#
# append: watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=150
# modules: ctag_err
# programs: stress-ng
# memory: 2G
# disk: 2G
# timeout: 3600
# expect-console: WARNING: CPU: \d+ PID: \d+ at lib/error_codes\.c:\d+ error_codes_check_exit
# expect-console: Call Trace:
# expect-console: system call 57 returns -EIO at ctag_err\.c:\d+$

. /qt/lib.sh
. /qt/bin/refusals

SECONDS_EACH=${SECONDS_EACH:-2}

# sysinval makes every call with wrong arguments, including fsconfig() and mount().
SECONDS_SYSINVAL=$((SECONDS_EACH * 20))

# A stressor that exceeds this time hangs.
SECONDS_MOST=90

# Memory limit of a program in KiB, so that the OOM killer does not run.
LIMIT=400000

# Left out are the classes cpu, cpu-cache and memory, which only compute, except those of
# their stressors that make system calls.
CLASSES="device filesystem interrupt io network os pipe scheduler vm"
MORE="af-alg ioport membarrier pkey rseq secretmem uprobe"

# Also left out are stressors that take all memory (oom-pipe, resources), that let no other
# task run (softlockup), and that run random instructions (opcode): QEMU treats one of these
# as privileged, and the kernel panics, even the unpatched one.
OUT="oom-pipe resources softlockup opcode"

CODES=/sys/kernel/debug/ctag_err/codes
ONCE=/sys/kernel/debug/clear_warn_once
PATH=$PATH:/qt/bin

stressors()
{
	for class in $CLASSES; do
		stress-ng --class "$class?" | sed 's/.*: //'
	done > /tmp/classes
	echo "$MORE" >> /tmp/classes
	for name in $OUT; do
		echo "$name"
	done > /tmp/out
	tr ' ' '\n' < /tmp/classes | grep . | sort -u | grep -vxFf /tmp/out
}

# stress NAME: runs it and adds its result to /tmp/ended
stress()
{
	seconds=$SECONDS_EACH
	[ "$1" != sysinval ] || seconds=$SECONDS_SYSINVAL
	mkdir -p /mnt/stress
	( ulimit -v $LIMIT
	  exec timeout -s KILL $SECONDS_MOST stress-ng --minimize --timeout "$seconds" \
		--pathological --temp-path /mnt/stress "--$1" 1 ) > /tmp/stress 2>&1 < /dev/null
	case $? in
	0) how=ran ;;
	3 | 4) how=skipped ;;
	137) how=hung ;;
	*) how=failed; grep -m 1 -E 'fail|error|terminated' /tmp/stress | cut -c 1-150 | sed 's/^/# /' ;;
	esac
	! grep -qE 'skipping (the )?stress|will be skipped|aborted early' /tmp/stress || how=skipped
	echo "$how $1" >> /tmp/ended
	rm -rf /mnt/stress
}

# ended HOW: the stressors with that result
ended()
{
	sed -n "s/^$1 //p" /tmp/ended
}

# Meanwhile lines of the mount path return their codes again and again.
refuse()
{
	while [ ! -e /tmp/enough ]; do
		while read -r line; do
			set -- $line
			shift 3
			errcodes "$@"
		done <<- END > /dev/null
		$(refused_calls)
		END
		sleep 1
	done
}

# The console has the whole warning; the results name only the stressor.
test_no_code_reaches_user_space()
{
	zcat /proc/config.gz | grep -qx CONFIG_ERROR_CODES_DEBUG=y ||
		skip "no CONFIG_ERROR_CODES_DEBUG"
	insmod /modules/ctag_err.ko || fail "insmod ctag_err"
	loopback_up
	echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range
	echo 300 > /proc/sys/kernel/hung_task_timeout_secs
	# a crash of a program is no failure: stress-ng's pthread crashes on any kernel
	echo 0 > /proc/sys/debug/exception-trace
	mount_disk
	cat /proc/sys/kernel/printk > /tmp/printk
	cat $CODES > /tmp/codes
	: > /tmp/leaks
	stressors > /tmp/stressors
	refuse &
	for name in $(cat /tmp/stressors); do
		echo "qt: stress-ng --$name" > /dev/kmsg
		dmesg -c > /dev/null
		stress "$name"
		dmesg | grep -E 'system call -?[0-9]+ returns' > /tmp/leak || continue
		echo "# $name: $(cat /tmp/leak)" >> /tmp/leaks
		echo 1 > $ONCE
	done
	touch /tmp/enough
	wait
	cat /tmp/leaks
	[ ! -s /tmp/leaks ] || fail "codes have reached user space"
	eq "what goes to the console" "$(cat /proc/sys/kernel/printk)" "$(cat /tmp/printk)"
}

test_stressors_ran()
{
	for how in skipped failed hung; do
		note "$how: $(ended $how | xargs)"
	done
	ran=$(ended ran | wc -l)
	all=$(wc -l < /tmp/stressors)
	note "$ran of $all ran"
	# a stressor without its hardware or kernel option skips itself
	[ "$ran" -gt $((all / 2)) ] || fail "most did not run"
	[ -z "$(ended hung)" ] || fail "some hung"
}

# At the end the check still detects a code that is returned on purpose.
test_it_would_have_been_seen()
{
	codes=$(($(wc -l < $CODES) - $(wc -l < /tmp/codes)))
	note "codes that were returned: $codes"
	[ "$codes" -ge "$(refused_calls | wc -l)" ] || fail "too few codes were returned"
	dmesg -c > /dev/null
	errcodes leak || fail leak
	dmesg | grep -q "system call 57 returns -EIO at ctag_err\.c:" || fail "the code was not detected"
}

run_tests
