# SPDX-License-Identifier: GPL-2.0-only
#
# KCM, TLS and ESP in TCP
#
# programs: huntwork
# modules: kcm tls gcm aes_generic ctr ghash-generic

work()
{
	F huntwork socket socket 41 5 0 names socket 41 2 0 -ioctl 0x89e2 00 close \
		socket 2 1 0 bind 0200.1f90.7f000001 listen socket 2 1 0 connect 0200.1f90.7f000001 sleep 5 use 0 accept set 6 31 746c7300 set 282 1 0303.3300.0102030405060708.0102030405060708090a0b0c0d0e0f10.01020304.0000000000000000 send 01020304 much 20000 use 1 set 6 31 746c7300 set 282 2 0303.3300.0102030405060708.0102030405060708090a0b0c0d0e0f10.01020304.0000000000000000 receive close \
		socket 2 1 0 bind 0200.1f95.7f000001 listen socket 2 1 0 connect 0200.1f95.7f000001 sleep 5 use 0 accept set 6 31 657370696e74637000
}
