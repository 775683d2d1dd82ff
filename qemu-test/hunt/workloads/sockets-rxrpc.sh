# SPDX-License-Identifier: GPL-2.0-only
#
# RxRPC
#
# programs: huntwork
# modules: pcbc fcrypt rxrpc

work()
{
	F huntwork socket socket 33 2 2 bind 2100.0500.0200.1000.0200.1f94.7f000001.0000000000000000 listen close \
		socket 33 2 2 bind 2100.0000.0200.1000.0200.0000.7f000001.0000000000000000 connect 2100.0500.0200.1000.0200.1f95.7f000001.0000000000000000
}
