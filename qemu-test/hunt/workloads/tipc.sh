# SPDX-License-Identifier: GPL-2.0-only
#
# TIPC: bearers, nodes, names, sockets
#
# programs: huntwork tipc ip
# modules: tipc veth

prepare()
{
	ip link add v0 type veth peer name v1
	ip link set v0 up
	ip link set v1 up
	tipc node set identity 5
}

work()
{
	F tipc bearer enable media eth device v0 || return
	F tipc bearer enable media udp name u localip 127.0.0.1 || return
	F tipc node list || return
	F tipc bearer list || return
	F tipc nametable show || return
	F huntwork socket socket 30 2 0 bind 1e00.01.02.39300000.01000000.05000000 socket 30 2 0 sendto 01020304 1e00.02.00.39300000.01000000.00000000 || return
	F huntwork socket socket 30 5 0 bind 1e00.01.02.3a300000.01000000.05000000 listen socket 30 5 0 connect 1e00.02.00.3a300000.01000000.00000000 \
		use 0 accept send 0102 || return
	F tipc bearer disable media udp name u || return
	F tipc bearer disable media eth device v0
}

clean()
{
	tipc bearer disable media udp name u
	tipc bearer disable media eth device v0
	return 0
}
