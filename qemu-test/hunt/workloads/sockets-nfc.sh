# SPDX-License-Identifier: GPL-2.0-only
#
# NFC sockets, and controllers without hardware
#
# programs: huntwork
# modules: nfc nfcsim virtual_ncidev

work()
{
	F huntwork socket socket 39 1 1 close \
		socket 39 2 1 close \
		socket 39 5 0 || return
	F huntwork ioctl /dev/virtual_nci sleep 5
}
