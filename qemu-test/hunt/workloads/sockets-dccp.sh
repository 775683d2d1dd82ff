# SPDX-License-Identifier: GPL-2.0-only
#
# DCCP and UDP-Lite
#
# programs: huntwork
# modules: dccp dccp_ipv4

work()
{
	F huntwork socket socket 2 6 33 set 269 2 05000000 bind 0200.1f90.7f000001 listen socket 2 6 33 -set 269 2 05000000 connect 0200.1f90.7f000001 sleep 30 use 0 accept send 0102 receive close \
		socket 2 2 136 set 136 10 08000000 bind 0200.1f93.7f000001 sendto 0102030405060708 0200.1f93.7f000001 receive
}
