# SPDX-License-Identifier: GPL-2.0-only
#
# No error code reaches user space by what stress-ng calls: each of its stressors that
# makes system calls, one after the other, while CONFIG_ERROR_CODES_DEBUG looks at the
# end of every system call. It warns once a boot; here it may again after each stressor,
# so that all that let a code out are named.
#
# Whether a stressor finds what it expects is not asked: what a guest in a translator
# cannot do would have to be told from what we broke, and qemu-test/compare/basetests does that.
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

# sysinval calls everything with whatever may be wrong, fsconfig() and mount() included.
SECONDS_SYSINVAL=$((SECONDS_EACH * 20))

# A stressor that is not done by then hangs.
SECONDS_MOST=90

# What a program may have for itself, in KiB: nobody is to be killed for memory.
LIMIT=400000

# Left out are the classes that only compute, cpu, cpu-cache and memory, but for those
# of them that do make system calls.
CLASSES="device filesystem interrupt io network os pipe scheduler vm"
MORE="af-alg ioport membarrier pkey rseq secretmem uprobe"

# And of the others what takes all memory (oom-pipe, resources) or lets nobody else run
# (softlockup), and what runs random instructions: QEMU takes one of them for a supervisor's,
# and the kernel panics, the unpatched one too (opcode).
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

# stress NAME: what became of it is a line of /tmp/ended
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

# ended HOW: which did
ended()
{
	sed -n "s/^$1 //p" /tmp/ended
}

# Meanwhile lines of the mount path return their codes, again and again.
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

# The console has all that was said; here it is only told by whom.
test_no_code_reaches_user_space()
{
	zcat /proc/config.gz | grep -qx CONFIG_ERROR_CODES_DEBUG=y ||
		skip "no CONFIG_ERROR_CODES_DEBUG"
	insmod /modules/ctag_err.ko || fail "insmod ctag_err"
	loopback_up
	echo 0 2147483647 > /proc/sys/net/ipv4/ping_group_range
	echo 300 > /proc/sys/kernel/hung_task_timeout_secs
	# programs that crash are none of ours: stress-ng's pthread does, on any kernel
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
	# without its hardware or option a stressor skips itself
	[ "$ran" -gt $((all / 2)) ] || fail "most did not run"
	[ -z "$(ended hung)" ] || fail "some hung"
}

# After all that the detector still sees a code that is let out.
test_it_would_have_been_seen()
{
	codes=$(($(wc -l < $CODES) - $(wc -l < /tmp/codes)))
	note "codes that were returned: $codes"
	[ "$codes" -ge "$(refused_calls | wc -l)" ] || fail "too few have been returned"
	dmesg -c > /dev/null
	errcodes leak || fail leak
	dmesg | grep -q "system call 57 returns -EIO at ctag_err\.c:" || fail "nothing is seen"
}

run_tests
