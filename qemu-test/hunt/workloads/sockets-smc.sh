# SPDX-License-Identifier: GPL-2.0-only
#
# SMC, which uses TCP for want of devices of its own
#
# programs: huntwork
# modules: smc smc_diag

work()
{
	F huntwork socket socket 43 1 0 bind 0200.1f90.7f000001 listen socket 43 1 0 connect 0200.1f90.7f000001 sleep 20 use 0 accept send 0102 use 1 receive close \
		socket 43 1 1 bind 0a00.1f92.00000000.00000000000000000000000000000001.00000000 listen
}
