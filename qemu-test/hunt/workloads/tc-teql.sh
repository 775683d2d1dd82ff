# SPDX-License-Identifier: GPL-2.0-only
#
# Two devices that share the packets of teql0
#
# programs: ip tc
# modules: dummy sch_teql

. /qt/workloads/lib.sh

prepare()
{
	for device in d0 d1; do
		ip link add $device type dummy && ip link set $device up || return
	done
}

work()
{
	F tc qdisc add dev d0 root teql0 || return
	F tc qdisc add dev d1 root teql0 || return
	F ip link set teql0 up || return
	F ip addr add 10.9.0.1/24 dev teql0 || return
	F ip link set teql0 down || return
	F tc qdisc del dev d0 root || return
	F tc qdisc del dev d1 root
}

clean()
{
	ip link set teql0 down
	ip addr flush dev teql0
	for device in d0 d1; do
		tc qdisc del dev $device root
	done
	return 0
}
