# SPDX-License-Identifier: GPL-2.0-only
#
# Bridges: ports, VLANs, tunnels, multicast, MRP and CFM, forwarding tables
#
# programs: ip bridge
# modules: bridge vxlan dummy

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add d0 type dummy
	link add d1 type dummy
	link add x0 type vxlan external dstport 4789
	link add b0 type bridge vlan_filtering 1 mcast_snooping 1 mcast_querier 1 stp_state 1 vlan_stats_enabled 1 vlan_default_pvid 3 mcast_igmp_version 3 mcast_mld_version 2 nf_call_iptables 0
	link set d0 master b0
	link set d1 master b0
	link set x0 master b0
	link set d0 up
	link set d1 up
	link set x0 up
	link set b0 up
	link set x0 type bridge_slave vlan_tunnel on neigh_suppress on
	link set d0 type bridge_slave guard on root_block off mcast_to_unicast on isolated on locked on backup_port d1
	END
	cat > /tmp/batch2 <<-'END'
	vlan add dev d0 vid 5-40 untagged
	vlan add dev b0 vid 10 self
	vlan add dev x0 vid 100-103
	vlan add dev x0 vid 100-103 tunnel_info id 1000-1003
	fdb add 02:00:00:00:00:01 dev d0 master static vlan 5
	fdb add 02:00:00:00:00:02 dev b0 self local
	fdb replace 02:00:00:00:00:03 dev d1 master dynamic extern_learn
	mdb add dev b0 port d0 grp 239.1.1.1 permanent vid 5
	mdb add dev b0 port d1 grp ff05::1 temp
	mdb add dev b0 port d1 grp 239.1.1.2 src 10.0.0.9 permanent vid 3
	mdb show
	fdb show br b0
	vlan show
	mdb del dev b0 port d0 grp 239.1.1.1 permanent vid 5
	vlan del dev x0 vid 100-103 tunnel_info id 1000-1003
	vlan del dev d0 vid 5-40
	END
}

work()
{
	F ip -batch /tmp/batch || return
	F bridge -batch /tmp/batch2 || return
	F ip link del b0 || return
	F ip link del x0 || return
	F ip link del d0 || return
	F ip link del d1
}

clean()
{
	link_gone b0 x0 d0 d1
}
