# SPDX-License-Identifier: GPL-2.0-only
#
# Actions of all kinds, on their own and in filters
#
# programs: ip tc
# modules: dummy act_gact act_mirred act_skbedit act_skbmod act_vlan act_pedit act_csum act_nat act_police act_tunnel_key act_sample act_connmark act_ctinfo act_ct act_mpls act_bpf act_ife act_meta_mark act_meta_skbprio act_simple

prepare()
{
	cat > /tmp/batch <<-'END'
	actions add action gact pass random determ drop 5 index 1
	actions add action mirred egress mirror dev d0 index 1
	actions add action mirred ingress redirect dev d0 index 2
	actions add action skbedit queue_mapping 1 priority 2:3 mark 5 ptype host index 1
	actions add action skbmod swap mac index 1
	actions add action vlan push id 5 priority 3 protocol 802.1q index 1
	actions add action vlan modify id 6 index 2
	actions add action vlan pop index 3
	actions add action pedit ex munge ip ttl add 255 munge eth dst set 02:00:00:00:00:02 munge tcp dport set 80 pipe index 1
	actions add action csum ip4h tcp udp index 1
	actions add action nat egress 10.0.0.0/8 192.168.0.1 index 1
	actions add action police rate 1mbit burst 10k conform-exceed drop/pipe peakrate 2mbit mtu 1500 index 1
	actions add action police pkts_rate 1000 pkts_burst 100 index 2
	actions add action tunnel_key set src_ip 10.0.0.1 dst_ip 10.0.0.2 id 5 dst_port 4789 geneve_opts 0102:80:00800022 ttl 4 index 1
	actions add action tunnel_key set src_ip 10.0.0.1 dst_ip 10.0.0.2 id 6 vxlan_opts 5 index 2
	actions add action tunnel_key unset index 3
	actions add action sample rate 10 group 5 trunc 80 index 1
	actions add action connmark zone 1 index 1
	actions add action ctinfo dscp 0xfc000000 0x1000000 cpmark 0xff index 1
	actions add action ct commit zone 2 mark 5/0xff label 01000000000000000000000000000000 nat src addr 10.0.0.1-10.0.0.5 port 10-20 index 1
	actions add action ct clear index 2
	actions add action mpls push protocol mpls_uc label 5 tc 1 ttl 3 bos 1 index 1
	actions add action mpls pop protocol ip index 2
	actions add action bpf bytecode '1,6 0 0 4294967295' index 1
	actions add action ife encode type 0xED3E allow mark allow prio dst 02:00:00:00:00:01 index 1
	actions add action simple sdata "text" index 1
	actions change action gact drop index 1
	actions replace action tunnel_key set src_ip 10.0.0.3 dst_ip 10.0.0.4 id 7 index 1
	actions list action ct
	actions flush action gact
	actions flush action mirred
	actions flush action skbedit
	actions flush action skbmod
	actions flush action vlan
	actions flush action pedit
	actions flush action csum
	actions flush action nat
	actions flush action police
	actions flush action tunnel_key
	actions flush action sample
	actions flush action connmark
	actions flush action ctinfo
	actions flush action ct
	actions flush action mpls
	actions flush action bpf
	actions flush action ife
	actions flush action simple
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
	for kind in gact mirred skbedit skbmod vlan pedit csum nat police tunnel_key sample connmark ctinfo ct mpls bpf ife simple; do
		tc actions flush action $kind
	done
	return 0
}
