# SPDX-License-Identifier: GPL-2.0-only
#
# Lazy percpu counters are exact if NMIs add to them, also while a task is in the middle of an
# addition, and they become hot there.
#
# append: sysctl.vm.mem_profiling=0
# modules: counter_nmi

. /qt/lib.sh

test_exact_in_nmis()
{
	for i in 1 2 3; do
		insmod /modules/counter_nmi.ko || fail "round $i: $(dmesg | tail -n 2)"
		note "$(dmesg | sed -n 's/.*counter_nmi: //p' | tail -n 1)"
		rmmod counter_nmi
	done
}

run_tests
