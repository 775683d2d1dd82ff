# SPDX-License-Identifier: GPL-2.0-only
#
# Three hours in which files and modules come and go, a compiler runs and nothing leaks:
# `allocinfo leak` finds nothing, with memory to spare and without.
#
# append: sysctl.vm.mem_profiling=1
# append: sysctl.vm.mem_profiling=1 mem=160M
# programs: allocinfo tcc
# modules: ctag_keep ctag_test
# disk: 256M
# icount: yes
# cpus: 1
# timeout: 3600

. /qt/lib.sh

test_three_hours_without_a_leak()
{
	mount_disk
	insmod /modules/ctag_keep.ko
	start_work
	allocinfo leak --live 3h -i 60 --drop-caches --all > /tmp/out 2>&1
	code=$?
	stop_work 500
	sed 's/^/# /' /tmp/out
	eq "exit code" $code 0
}

run_tests
