# SPDX-License-Identifier: GPL-2.0-only
#
# CONFIG_MEM_ALLOC_PROFILING_DEBUG with _ENABLED_BY_DEFAULT: profiling is on without a
# parameter, cannot be switched, and gives no warning, because every allocation is hooked.
#
# append: qt.no_parameter
# append: sysctl.vm.mem_profiling=1
# modules: ctag_test ctag_keep
# disk: 64M
# timeout: 240

. /qt/lib.sh

test_sysctl_read_only()
{
	eq mode "$(stat -c %a $MP)" 444
	eq value "$(cat $MP)" 1
	echo 0 2>/dev/null > $MP && fail "0 is accepted"
	eq value "$(cat $MP)" 1
}

test_everything_is_hooked()
{
	loopback_up
	mount_disk
	for kind in sockets unix forks threads pipes anon thp holes; do
		load $kind 30
		unload
	done
	cd /mnt || fail cd
	load files 100
	unload
	cd / || fail cd
	umount /mnt
	settle
	dmesg | grep -E 'alloc_tag|WARNING' && fail "a warning"
	:
}

test_modules()
{
	fresh
	cmd alloc all 20
	cmd alloc all 20 softirq 1
	cmd alloc all 20 hardirq 0
	check_table || fail "allocated"
	cmd free all 60
	cmd churn 200
	even || fail "freed"
	mod_unload
	dmesg | grep -E 'alloc_tag|WARNING' && fail "a warning"
	:
}

run_tests
