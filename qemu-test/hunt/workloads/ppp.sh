# SPDX-License-Identifier: GPL-2.0-only
#
# PPP: channels and units, PPPoE and L2TP sockets
#
# programs: huntwork
# modules: ppp_generic pppoe pptp

. /qt/workloads/lib.sh

work()
{
	F huntwork ioctl /dev/ppp with 0xc004743e ffffffff || return
	F huntwork socket socket 24 1 0 names -bind 00 || return
	F huntwork socket socket 24 2 2 -bind 1800.02000000.0500.7f000001
}
