# SPDX-License-Identifier: GPL-2.0-only
#
# Bluetooth sockets on a virtual controller
#
# programs: huntwork
# modules: bluetooth rfcomm bnep hidp hci_vhci

work()
{
	F huntwork socket socket 31 5 0 bind 1f00.0110.000000000000.0000.00.00 listen names close \
		socket 31 1 3 bind 1f00.000000000000.05.00 listen names close \
		socket 31 5 2 bind 1f00.000000000000 listen close \
		socket 31 3 1 bind 1f00.ffff.0300 send 0100.ffff.0000 receive close \
		socket 31 3 1 bind 1f00.ffff.0200 receive close \
		socket 31 3 4 || return
	F huntwork ioctl /dev/vhci write ff00 read 16 sleep 50
}
