# SPDX-License-Identifier: GPL-2.0-only
#
# A ring of two devices with a VLAN on it is set up and taken away.
#
# programs: ip

once()
{
	ip link add a type dummy
	ip link add b type dummy
	ip link set a up
	ip link set b up
	ip link add ring type hsr slave1 a slave2 b
	ip link set ring up
	ip link add link ring name ring.5 type vlan id 5
	ip link del a
	ip link del b
	ip link del ring
}
