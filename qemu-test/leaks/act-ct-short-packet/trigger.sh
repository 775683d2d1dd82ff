# SPDX-License-Identifier: GPL-2.0-only
#
# Packets that are too short arrive at a device whose filter tracks connections.
#
# programs: ip tc

prepare()
{
	ip link add port0 type veth peer name port1
	ip link set port0 up
	ip link set port1 up
	tc qdisc add dev port1 clsact
	tc filter add dev port1 ingress protocol ip matchall action ct
}

once()
{
	trigger packet
}
