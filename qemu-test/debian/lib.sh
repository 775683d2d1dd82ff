# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's side of a case.  qt.service runs the script of a case in every boot, and the
# script sources this file.  A case of the results is a function
#
#   test_BOOT_NAME()
#
# whose name is alone on its line.  run_boots runs the functions of the present boot in their
# order, each in a subshell.  If none of them failed, it reboots and continues with the next
# boot.  After the last boot, or after a failure, the guest powers off.  Results go to the
# second serial port in the form of qemu-test/boot/lib.sh.
#
# In a test: `fail WHY` and `skip WHY` end it; only a stand-in for our kernel may skip a test.
# A test also fails, and ends, when a command of it fails (set -e).  The shell ignores failures in
# three places: in a condition, in a pipeline before its last command, and in a $() that is part of
# an argument.  The output of a test is printed only if the test fails.

# shellcheck source=/dev/null
. /qt/versions		# variables, see folder() in qemu-test/debian/run

STATE=/var/lib/qt/$CASE
INFO=/proc/allocinfo
MP=/proc/sys/vm/mem_profiling
RESULTS=/dev/ttyS1
export DEBIAN_FRONTEND=noninteractive LC_ALL=C

. /qt/accounts.sh

fail()
{
	echo "$*" > $STATE/why
	exit 1
}

skip()
{
	echo "$*" > $STATE/why
	exit 4
}

# A remark in the results.
note()
{
	echo "# note: $*" > $RESULTS
}

# eq WHAT GOT WANT
eq()
{
	[ "$2" = "$3" ] || fail "$1: got '$2', want '$3'"
}

# state NAME [VALUE]: prints or sets a value that outlives a reboot.
state()
{
	if [ $# -gt 1 ]; then
		echo "$2" > "$STATE/$1"
	else
		cat "$STATE/$1" 2>/dev/null
	fi
}

# The kernel is about to die on purpose, in the last test of a boot.
may_die()
{
	state may_die yes
	announce_reset
}

on_ours()
{
	eq kernel "$(uname -r)" "$OURS"
}

# Does a kernel of Debian stand in for ours, to test the cases themselves?
stand_in()
{
	[ "$STAND_IN" = yes ]
}

# Ends the test unless the kernel under test has profiling.  Only a kernel of Debian may not
# have it.
needs_profiling()
{
	[ ! -e $INFO ] || return 0
	! stand_in || skip "$(uname -r) has no $INFO"
	fail "$(uname -r) has no $INFO"
}

# The default entry of GRUB is the newest kernel.  grub_options [WORD...]: the kernel
# parameters of all entries from the next boot on.
grub_options()
{
	echo "GRUB_CMDLINE_LINUX_DEFAULT='$*'" > /etc/default/grub.d/zz-options.cfg
	update-grub
}

# grub_kernel RELEASE: boot this kernel by default.
grub_kernel()
{
	uuid=$(findmnt -no UUID /)
	echo "GRUB_DEFAULT='gnulinux-advanced-$uuid>gnulinux-$1-advanced-$uuid'" \
		> /etc/default/grub.d/zz-kernel.cfg
	update-grub
}

# The releases that GRUB's menu offers, in its order.
grub_releases()
{
	sed -n "s|^[[:space:]]*menuentry .*gnulinux-\(.*\)-advanced-.*|\1|p" /boot/grub/grub.cfg
}

# The release of Debian's own kernel
debian_release()
{
	linux-version list | grep -Fvx "$OURS"
}

# Waits for the end of the boot; fails unless all units are well.
all_units_well()
{
	how=$(systemctl is-system-running --wait) || :
	systemctl --no-pager --failed
	eq "systemctl is-system-running" "$how" running
}

# Starts kmemtraced.service, and waits until it records.
starts_to_record()
{
	systemctl start kmemtraced.service
	i=0
	until [ "$(cat /proc/kmemtrace/enabled)" = 1 ]; do
		i=$((i + 1))
		[ $i -lt 60 ] || fail "the unit does not record"
		sleep 1
	done
}

# kmemtraced.service records for some seconds, and its trace is complete.
service_records_a_trace()
{
	starts_to_record
	sleep 5
	eq kmemtraced.service "$(systemctl is-active kmemtraced.service)" active
	systemctl stop kmemtraced.service
	systemctl status --no-pager kmemtraced.service || :
	eq Result "$(systemctl show -p Result --value kmemtraced.service)" success
	eq enabled "$(cat /proc/kmemtrace/enabled)" 0
	kmemtrace_check --all /var/lib/kmemtrace
	kmemtrace-report /var/lib/kmemtrace > /tmp/report
	head -n 20 /tmp/report
	grep -q '\.c:[0-9]' /tmp/report
}

# Has dpkg left no package half installed?
all_configured()
{
	dpkg --audit > /tmp/audit
	eq "dpkg --audit" "$(cat /tmp/audit)" ""
}

# The worst complaints of the kernel since boot.  guest.py looks for more of them on the console.
no_splat()
{
	! dmesg | grep -E 'BUG:|WARNING:|\bOops\b|Call Trace:|Bad page|alloc_tag:.*(negative|reference)'
}

# The host takes a reset that nobody announced for a failure.
announce_reset()
{
	sync
	echo "# qt: reset" > $RESULTS
}

next_boot()
{
	state boot "$1"
	announce_reset
	systemctl reboot
}

# finish CODE: the last line of the results
finish()
{
	echo "# qt: exit $1" > $RESULTS
	systemctl poweroff
}

# verdict NUMBER NAME CODE
verdict()
{
	why=$(state why) || :
	case $3 in
	0) echo "ok $1 $2" ;;
	4) echo "ok $1 $2 # SKIP $why" ;;
	*)
		tail -n 25 $STATE/log | tr -d '\r' | sed 's/^/# /'
		echo "not ok $1 $2 # ${why:-$(tail -n 1 $STATE/log)}"
		;;
	esac > $RESULTS
}

# run_one TEST: returns 1 if it failed.
run_one()
{
	number=$(($(state number) + 1))
	state number $number
	rm -f $STATE/why
	state running "$1"
	sync
	echo "qt: $1" > /dev/kmsg
	( set -e; "$1" ) > $STATE/log 2>&1
	code=$?
	rm $STATE/running
	verdict $number "${1#test_*_}" $code
	[ $code = 0 ] || [ $code = 4 ]
}

# after_death: the previous boot ended amid a test.
after_death()
{
	name=$(state running)
	rm $STATE/running
	if [ -e $STATE/may_die ]; then
		rm $STATE/may_die
		verdict "$(state number)" "${name#test_*_}" 0
		state boot $(($(state boot) + 1))
		return
	fi
	state why "the kernel died"
	: > $STATE/log
	verdict "$(state number)" "${name#test_*_}" 1
	finish 1
	exit
}

first_boot()
{
	mkdir -p $STATE
	state boot 1
	state number 0
	{
		echo	# ends what the firmware printed
		echo "KTAP version 1"
		echo "1..$(echo "$tests" | wc -w)"
	} > $RESULTS
}

run_boots()
{
	tests=$(sed -n 's/^\(test_[0-9]_[A-Za-z0-9_]*\)()$/\1/p' /qt/case.sh)
	stty -F $RESULTS raw -echo
	[ -e $STATE/boot ] || first_boot
	[ ! -e $STATE/running ] || after_death
	boot=$(state boot)
	failed=0
	for test in $(echo "$tests" | grep "^test_${boot}_"); do
		# after || or in a condition, dash ignores set -e, also in the functions it calls
		run_one "$test"
		[ $? = 0 ] || failed=1
	done
	if [ $failed = 0 ] && echo "$tests" | grep -q "^test_$((boot + 1))_"; then
		next_boot $((boot + 1))
	else
		finish $failed
	fi
}
