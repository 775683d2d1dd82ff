# SPDX-License-Identifier: GPL-2.0-only
#
# RDS over TCP
#
# programs: huntwork
# modules: rds rds_tcp

work()
{
	F huntwork socket socket 21 5 0 bind 0200.0fa0.7f000001 socket 21 5 0 bind 0200.0fa1.7f000001 -set 276 8 01000000 sendto 01020304 0200.0fa0.7f000001 sleep 50 use 0 receive names
}
