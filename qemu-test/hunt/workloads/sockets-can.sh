# SPDX-License-Identifier: GPL-2.0-only
#
# CAN: raw sockets, broadcasts, ISO-TP, J1939
#
# programs: huntwork ip
# modules: can can-raw can-bcm can-isotp can-j1939 vcan

prepare()
{
	ip link add c0 type vcan
	ip link set c0 up
}

work()
{
	F huntwork socket socket 29 3 1 bind 1d00.0000.%c0 -set 101 1 11000000.ff000000.22000000.ff000000 set 101 5 01000000 send 11000000.04000000.0102030400000000 sleep 5 receive close \
		socket 29 2 2 connect 1d00.0000.%c0 send 01000000.00000000.00000000.00000000.0500000000000000.0000000000000000.0000000000000000.40e2010000000000.11000000.01000000.11000000.04000000.0102030400000000 close \
		socket 29 2 6 bind 1d00.0000.%c0.22000000.33000000 close \
		socket 29 2 7 bind 1d00.0000.%c0.0000000000000000.fffe0400.2200.0000
}
