# SPDX-License-Identifier: GPL-2.0-only
#
# Programs send a datagram of LLC each and end.
#
# programs: ip
# pause: 3000000

prepare()
{
	ip link set dummy0 up
}

once()
{
	trigger llc
}
