# SPDX-License-Identifier: GPL-2.0-only
#
# Packets that are too short leave a device whose filter tracks connections.
#
# programs: ip tc

prepare()
{
	ip link set dummy0 up
	tc qdisc add dev dummy0 clsact
	tc filter add dev dummy0 egress protocol ip matchall action ct
}

once()
{
	trigger packet
}
