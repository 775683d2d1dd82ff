# SPDX-License-Identifier: GPL-2.0-only
#
# Fault points under lockdown: those that the boot parameter enabled stay enabled, and
# /proc/<pid>/fail-nth works at them.  Nobody can enable others.  SysRq-F disables all.
#
# Test modules are not signed, so lockdown refuses to load them.  The points here are in
# built-in code that only this test runs, or that only counts.
#
# append: sysctl.vm.mem_profiling=1 lockdown=integrity dynamic_faults="func ramfs_init_fs_context enable; func __alloc_file probability 0"
# append: sysctl.vm.mem_profiling=1 lockdown=confidentiality dynamic_faults="func ramfs_init_fs_context enable; func __alloc_file probability 0"
# expect-console: sysrq: Disable all fault points

. /qt/lib.sh

FAULTS=/sys/kernel/debug/dynamic_faults

# Mounts a ramfs, which allocates in ramfs_init_fs_context(), on /mnt.
mounts()
{
	mount -t ramfs none /mnt 2> /tmp/errors
}

# mount_fails HOW_OFTEN
mount_fails()
{
	for i in $(seq "$1"); do
		! mounts || fail "mount $i succeeded"
		grep -qi memory /tmp/errors || fail "mount $i: $(cat /tmp/errors)"
	done
}

test_locked_down()
{
	mount -t securityfs none /sys/kernel/security || fail securityfs
	want=$(sed -n 's/.*lockdown=\([a-z]*\).*/\1/p' /proc/cmdline)
	grep -qF "[$want]" /sys/kernel/security/lockdown || fail "$(cat /sys/kernel/security/lockdown)"
}

test_boot_parameter_applies()
{
	mount_fails 5
}

test_nobody_can_enable_or_disable_a_point()
{
	for command in "func __alloc_file oneshot" disable; do
		! (echo "$command" > $FAULTS) 2> /tmp/errors || fail "accepted: $command"
		grep -q "Operation not permitted" /tmp/errors || fail "$(cat /tmp/errors)"
	done
	! cat $FAULTS > /dev/null 2> /tmp/errors || fail "can be read"
	mount_fails 1
}

# fail-nth counts the copy of the path first, and then the point.
test_fail_nth()
{
	echo x > /tmp/probe
	exec 6> /proc/self/fail-nth
	refused=0
	{
		echo 2 >&6
		for i in 1 2 3; do
			echo x > /tmp/probe || refused=$((refused + 1))
		done
	} 2> /tmp/errors
	# so that no later copy fails if the point has not counted
	echo 0 >&6
	eq "opens that failed" "$refused" 1
	grep -qi memory /tmp/errors || fail "$(cat /tmp/errors)"
}

# The points are not only paused until the worker of SysRq-F has run.
test_sysrq_disables_all()
{
	echo F > /proc/sysrq-trigger || fail "sysrq-trigger"
	until_true 20 mounts || fail "still fails: $(cat /tmp/errors)"
	umount /mnt
	sleep 1
	for i in 1 2 3; do
		mounts || fail "fails again: $(cat /tmp/errors)"
		umount /mnt
	done
}

run_tests
