# SPDX-License-Identifier: GPL-2.0-only
#
# Sockets of virtual machines, over their loopback
#
# programs: huntwork
# modules: vsock vsock_loopback vsock_diag

work()
{
	F huntwork socket socket 40 1 0 bind 2800.0000.88130000.ffffffff.00000000 listen socket 40 1 0 connect 2800.0000.88130000.01000000.00000000 sleep 10 use 0 accept much 100000 use 1 receive send 0102 -get 40 0 shutdown close \
		socket 40 5 0 bind 2800.0000.89130000.ffffffff.00000000 listen socket 40 5 0 connect 2800.0000.89130000.01000000.00000000 sleep 10 use 0 accept send 0102 use 1 receive
}
