# SPDX-License-Identifier: GPL-2.0-only
#
# Network block devices against a server in the guest
#
# programs: nbd-server nbd-client
# modules: nbd

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk 8
	modprobe nbd nbds_max=2
	nbd-server 10809 /tmp/disk || return
	sleep 1
}

work()
{
	F nbd-client 127.0.0.1 10809 /dev/nbd0 -b 1024 -C 2 || return
	F dd if=/dev/nbd0 of=/dev/null bs=64k count=2 iflag=direct || return
	F nbd-client -d /dev/nbd0
}

clean()
{
	nbd-client -d /dev/nbd0
}
