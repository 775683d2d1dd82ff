# SPDX-License-Identifier: GPL-2.0-only
#
# Multipath TCP
#
# programs: huntwork ip

prepare()
{
	ip mptcp endpoint add 127.0.0.2 id 5 signal subflow
	ip mptcp limits set subflow 2 add_addr_accepted 2
}

work()
{
	F huntwork socket socket 2 1 262 bind 0200.1f90.7f000001 listen socket 2 1 262 connect 0200.1f90.7f000001 sleep 20 use 0 accept much 100000 use 1 receive send 0102 names -get 284 1 -get 284 2 shutdown close \
		socket 10 1 262 bind 0a00.1f92.00000000.00000000000000000000000000000001.00000000 listen socket 10 1 262 connect 0a00.1f92.00000000.00000000000000000000000000000001.00000000 sleep 20 use 0 accept send 01
}
