# SPDX-License-Identifier: GPL-2.0-only
#
# TUN and TAP devices with queues
#
# programs: ip
# modules: tun

. /qt/workloads/lib.sh

work()
{
	F ip tuntap add dev t0 mode tun user 0 || return
	F ip tuntap add dev t1 mode tap multi_queue vnet_hdr pi || return
	F ip link set t0 up || return
	F ip link set t1 up || return
		F ip tuntap del dev t0 mode tun || return
	F ip tuntap del dev t1 mode tap multi_queue
}

clean()
{
	link_gone t0 t1
}
