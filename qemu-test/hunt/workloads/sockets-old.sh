# SPDX-License-Identifier: GPL-2.0-only
#
# Sockets of rarely used protocols: LLC, X.25, AX.25, NET/ROM, ROSE, Phonet, ATM, CAIF, QRTR, MCTP
#
# programs: huntwork ip
# modules: dummy llc2 x25 ax25 netrom rose phonet atm caif caif_socket qrtr

prepare()
{
	ip link add d0 type dummy
	ip link set d0 up
}

work()
{
	F huntwork socket socket 26 1 0 set 1 25 6430 bind 1a00.0100.0000.00.42.000000000000.0000 listen close \
		socket 26 2 0 set 1 25 6430 bind 1a00.0100.0000.00.44.000000000000.0000 names close \
		socket 9 5 0 bind 0900.31323334000000000000000000000000 listen close \
		socket 3 2 240 names close \
		socket 6 5 0 -names close \
		socket 11 5 0 -names close \
		socket 35 2 1 bind 2300.00.00.00.0000000000000000000000 names close \
		socket 8 2 0 -names close \
		socket 8 2 5 -names close \
		socket 37 5 0 -names close \
		socket 42 2 0 names sendto 01000000.01000000.00000000.00000000.00000000 2a00.0000.01000000.feffffff close \
		socket 45 2 0 -names
}
