# SPDX-License-Identifier: GPL-2.0-only
#
# Lazy percpu counters are exact if NMIs add to them, also while a task is in the middle of an
# addition, and they become hot there.
#
# QEMU translates code in blocks, and delivers an NMI only after the end of a block.  With
# -singlestep, each block has only one instruction.
#
# append: sysctl.vm.mem_profiling=0
# modules: counter_nmi
# qemu: -singlestep
# timeout: 300

. /qt/lib.sh

test_exact_in_nmis()
{
	insmod /modules/counter_nmi.ko || fail "$(dmesg | grep 'counter_nmi: ' | tail -n 3)"
	note "$(dmesg | sed -n 's/.*counter_nmi: //p' | tail -n 1)"
	rmmod counter_nmi
}

run_tests
