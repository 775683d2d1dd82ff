# SPDX-License-Identifier: GPL-2.0-only
#
# Two hosts begin an association with each other at the same time, and the other one sends a
# parameter that this kernel does not know.
#
# programs: ip

prepare()
{
	ip tuntap add dev tun0 mode tun
	ip addr add 10.9.0.1/24 dev tun0
	ip link set tun0 up
}

once()
{
	trigger sctp
}
