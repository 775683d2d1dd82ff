# SPDX-License-Identifier: GPL-2.0-only
#
# Filters of all kinds, with hash tables, ports, masks and chains
#
# files: /etc/iproute2/ematch_map
# programs: ip tc
# modules: dummy sch_ingress cls_u32 cls_flower cls_basic cls_fw cls_flow cls_matchall cls_bpf cls_cgroup em_cmp em_meta em_u32 em_nbyte act_gact act_police nf_conntrack

prepare()
{
	cat > /tmp/batch <<-'END'
	qdisc add dev d0 clsact
	filter add dev d0 ingress protocol ip prio 1 handle 1: u32 divisor 16
	filter add dev d0 ingress protocol ip prio 1 handle 1:3:1 u32 ht 1:3 match ip protocol 6 0xff match ip src 10.0.0.0/8 police rate 1mbit burst 10k drop
	filter add dev d0 ingress protocol ip prio 1 u32 match ip dst 10.0.0.0/8 hashkey mask 0xf at 12 link 1:
	filter add dev d0 ingress protocol ip prio 2 flower dst_mac 02:00:00:00:00:01 src_ip 10.0.0.0/16 ip_proto tcp dst_port 80-90 action drop
	filter add dev d0 ingress protocol ip prio 2 flower src_ip 10.1.0.0/24 ip_proto udp dst_port 53 action pass
	filter add dev d0 ingress protocol ipv6 prio 3 flower ip_proto icmpv6 type 128 code 0 ct_state +trk+est action pass
	filter add dev d0 ingress protocol 802.1q prio 4 flower vlan_id 5 vlan_prio 3 vlan_ethtype ipv4 action drop
	filter add dev d0 ingress protocol ip prio 5 basic match 'cmp(u16 at 0 layer 2 gt 5) and meta(nf_mark gt 3) or u32(u32 0x01020304 0xffffffff at 12) and nbyte("abc" at 4 layer 1)' action pass
	filter add dev d0 egress protocol ip prio 6 handle 7 fw classid 1:1 action pass
	filter add dev d0 egress protocol ip prio 7 handle 8 flow map key dst and 0xff divisor 16 baseclass 1:1
	filter add dev d0 egress protocol ip prio 8 handle 9 flow hash keys src,dst,proto,nfct-src divisor 1024 perturb 10
	filter add dev d0 egress protocol ip prio 9 matchall action pass
	filter add dev d0 egress protocol ip prio 10 bpf bytecode '1,6 0 0 4294967295' flowid 1:1
	filter add dev d0 egress protocol ip prio 11 handle 1: cgroup
	filter add dev d0 ingress chain 5 protocol ip prio 1 flower ip_proto tcp action pass
	filter add dev d0 ingress protocol ip prio 12 matchall action goto chain 5
	chain add dev d0 ingress protocol ip chain 7 flower ip_proto tcp
	filter replace dev d0 ingress protocol ip prio 2 flower dst_mac 02:00:00:00:00:01 action drop
	filter show dev d0 ingress
	filter show dev d0 egress
	chain del dev d0 ingress chain 7
	filter del dev d0 ingress prio 1
	filter del dev d0 egress
	qdisc del dev d0 clsact
	END
	ip link add d0 numtxqueues 4 type dummy
	ip link set d0 up
}

work()
{
	F tc -batch /tmp/batch
}

clean()
{
	for kind in root clsact; do
		tc qdisc del dev d0 $kind
	done
	return 0
}
