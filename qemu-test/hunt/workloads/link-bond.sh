# SPDX-License-Identifier: GPL-2.0-only
#
# Bonds and teams with members
#
# programs: ip
# modules: bonding team team_mode_activebackup team_mode_broadcast team_mode_loadbalance team_mode_random team_mode_roundrobin dummy 8021q

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add d0 type dummy
	link add d1 type dummy
	link add b0 type bond mode 802.3ad miimon 100 lacp_rate fast xmit_hash_policy vlan+srcmac ad_actor_system 02:00:00:00:00:09
	link set d0 master b0
	link set d1 master b0
	link set b0 up
	link add link b0 name b0.5 type vlan id 5
	link set d0 nomaster
	link del b0.5
	link del b0
	link add b1 type bond mode active-backup arp_interval 100 arp_ip_target 10.0.0.1,10.0.0.2 fail_over_mac active num_grat_arp 3
	link set d0 master b1
	link set d1 master b1
	link set b1 type bond active_slave d1
	link set b1 up
	link del b1
	link add b2 type bond mode balance-alb miimon 100
	link set d0 master b2
	link set b2 up
	link del b2
	link add b3 type bond mode broadcast miimon 100
	link set d0 master b3
	link del b3
	link add t0 type team
	link set d0 master t0
	link set d1 master t0
	link set t0 up
	link del t0
	link del d0
	link del d1
	END
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	link_gone b0.5 b0 b1 b2 b3 t0 d0 d1
}
