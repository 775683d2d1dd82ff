# SPDX-License-Identifier: GPL-2.0-only
#
# Open vSwitch: a datapath, its ports and flows
#
# programs: ovs-dpctl ip
# modules: openvswitch vport-vxlan dummy nf_conntrack

. /qt/workloads/lib.sh

prepare()
{
	ip link add d0 type dummy
	cat > /tmp/flows <<-'END'
	in_port(1),eth(),eth_type(0x0800),ipv4(proto=17),udp(dst=53) 2,userspace(pid=5,slow_path(match))
	in_port(1),eth(src=02:00:00:00:00:01),eth_type(0x0800),ipv4(proto=6,frag=no),tcp(dst=80),tcp_flags(+syn) push_vlan(vid=5,pcp=0),2
	recirc_id(0),in_port(2),eth(),eth_type(0x0800),ipv4(frag=no) ct(commit,zone=5,mark=1/1,nat(src=10.0.0.9)),recirc(5)
	recirc_id(5),in_port(2),eth(),eth_type(0x0800),ipv4(frag=no) clone(push_vlan(vid=7,pcp=0),1),sample(sample=50%,actions(1)),check_pkt_len(size=200,gt(1),le(2)),trunc(100),1
	in_port(3),eth(),eth_type(0x86dd),ipv6(frag=no) set(tunnel(tun_id=0x5,src=10.0.0.1,dst=10.0.0.2,ttl=64,tp_dst=4789,flags(df|key))),3
	END
}

work()
{
	F ovs-dpctl add-dp dp0 d0 p0,type=internal x0,type=vxlan,dst_port=4789,remote_ip=flow,key=flow || return
	F ovs-dpctl add-flows dp0 /tmp/flows || return
	F ovs-dpctl dump-flows dp0 || return
	F ovs-dpctl del-flows dp0 || return
	F ovs-dpctl del-if dp0 vxlan_sys_4789 d0 || return
	F ovs-dpctl del-dp dp0
}

clean()
{
	! ovs-dpctl show dp0 || ovs-dpctl del-dp dp0
}
