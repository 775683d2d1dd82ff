# SPDX-License-Identifier: GPL-2.0-only
#
# Packet sockets with rings, and AF_XDP
#
# programs: huntwork

work()
{
	F huntwork packet lo || return
	F huntwork xdp lo || return
	F huntwork socket socket 17 3 0x0300
}
