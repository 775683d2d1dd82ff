# SPDX-License-Identifier: GPL-2.0-only
#
# B.A.T.M.A.N. advanced on a pair of devices
#
# programs: ip
# modules: batman-adv veth 8021q

. /qt/workloads/lib.sh

prepare()
{
	ip link add v0 type veth peer name v1
	ip link set v0 up
	ip link set v1 up
}

work()
{
	F ip link add b0 type batadv ra BATMAN_IV || return
	F ip link set v0 master b0 || return
	F ip link set b0 up || return
	F ip link add link b0 name b0.5 type vlan id 5 || return
	F ip link set b0.5 up || return
	F ip link add b1 type batadv ra BATMAN_V || return
	F ip link set v1 master b1 || return
	F ip link set b1 up || return
	F ip link del b0.5 || return
	F ip link del b0 || return
	F ip link del b1
}

clean()
{
	link_gone b0.5 b0 b1
}
