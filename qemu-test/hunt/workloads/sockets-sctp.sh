# SPDX-License-Identifier: GPL-2.0-only
#
# SCTP: associations, streams, options
#
# programs: huntwork
# modules: sctp

prepare()
{
	echo 1 > /proc/sys/net/sctp/auth_enable
}

work()
{
	F huntwork socket socket 2 1 132 bind 0200.1f90.7f000001 listen socket 2 1 132 connect 0200.1f90.7f000001 sleep 30 send 01020304 use 0 accept send 0506 receive names use 1 receive shutdown sleep 20 close \
		socket 2 5 132 bind 0200.1f91.7f000001 listen set 132 11 01010101010101010101 socket 2 5 132 set 132 2 05000500.0300.0000 -set 132 100 0200.0000.7f000002 sendto 01020304 0200.1f91.7f000001 sleep 20 use 0 receive close \
		socket 10 5 132 set 132 22 02000000.0100.0300 set 132 23 00000000.0800.0200.0102 -get 132 28 bind 0a00.1f92.00000000.00000000000000000000000000000001.00000000 listen
}
