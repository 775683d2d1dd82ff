# SPDX-License-Identifier: GPL-2.0-only
#
# Packets that go through queues, filters and actions
#
# programs: huntwork ip tc
# modules: dummy sch_htb sch_netem sch_ingress cls_matchall act_ct act_mirred act_vlan act_sample act_mpls act_ife act_meta_mark nf_conntrack

prepare()
{
	cat > /tmp/batch <<-'END'
	qdisc replace dev d0 root handle 1: htb default 1
	class add dev d0 parent 1: classid 1:1 htb rate 100mbit
	qdisc add dev d0 parent 1:1 handle 2: netem duplicate 50% corrupt 10% limit 50
	qdisc add dev d0 clsact
	filter add dev d0 egress protocol ip prio 1 matchall action ct commit zone 3 pipe action mirred egress mirror dev lo pipe action vlan push id 3 pipe action vlan pop pipe action sample rate 1 group 3 pipe action mpls push protocol mpls_uc label 9 pipe action ife encode allow mark
	END
	ip link add d0 numtxqueues 4 type dummy
	ip link set d0 up
	ip addr add 10.1.1.1/24 dev d0
	ip neigh add 10.1.1.2 lladdr 02:00:00:00:00:07 dev d0
}

work()
{
	F tc -batch /tmp/batch || return
	F huntwork socket socket 2 2 0 sendto 00010203 0200.0005.0a010102 sendto 04050607 0200.0005.0a010102 || return
	F tc qdisc del dev d0 root
}

clean()
{
	for kind in root clsact; do
		tc qdisc del dev d0 $kind
	done
	return 0
}
