# SPDX-License-Identifier: GPL-2.0-only
#
# System V and POSIX IPC, swap on a file, kernel samepages, huge pages
#
# programs: ipcmk ipcs ipcrm

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/swap 8
	mkswap /tmp/swap
	attach /tmp/swap /dev/loop0
}

work()
{
	F ipcmk -M 100000 -S 5 -Q || return
	F ipcs -a || return
	F ipcrm -a || return
	F swapon /dev/loop0 || return
	F swapoff /dev/loop0 || return
	put /proc/sys/vm/nr_hugepages 4 || return
	put /proc/sys/vm/nr_hugepages 0 || return
	put /sys/kernel/mm/ksm/run 1 || return
	put /sys/kernel/mm/ksm/run 2
}

clean()
{
	ipcrm -a
	! grep -q loop0 /proc/swaps || swapoff /dev/loop0
	echo 0 > /proc/sys/vm/nr_hugepages
	echo 2 > /sys/kernel/mm/ksm/run
}
