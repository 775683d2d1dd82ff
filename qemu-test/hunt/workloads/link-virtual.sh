# SPDX-License-Identifier: GPL-2.0-only
#
# Virtual devices on top of others
#
# programs: ip
# modules: dummy veth 8021q macvlan macvtap ipvlan ipvtap vrf nlmon ifb vsockmon

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add d0 type dummy
	link set d0 up
	link add v0 type veth peer name v1
	link add link d0 name e0 type vlan id 5 protocol 802.1ad ingress-qos-map 1:2 2:3 egress-qos-map 3:4 loose_binding on
	link add link e0 name e1 type vlan id 6 gvrp on mvrp on
	link add link d0 name m0 type macvlan mode private
	link add link d0 name m1 type macvlan mode source macaddr add 02:00:00:00:00:03
	link add link d0 name m2 type macvtap mode bridge
	link set m1 type macvlan macaddr set 02:00:00:00:00:04 02:00:00:00:00:05
	link add link v0 name i0 type ipvlan mode l3s private
	link add link v0 name i1 type ipvtap mode l3s
	link add r0 type vrf table 100
	link set v1 master r0
	link add n0 type nlmon
	link add b0 type ifb
	link add s0 numtxqueues 2 type vsockmon
	link set e0 up
	link set e1 up
	link set m0 up
	link set m2 up
	link set i0 up
	link set n0 up
	link set v0 up
	link set v1 up
	addr add 10.7.0.1/24 dev i0
	addr add fd07::1/64 dev m0
	link property add dev d0 altname another-name-of-d0
	link set d0 alias "a text"
	link del i0
	link del i1
	link del r0
	link del n0
	link del b0
	link del s0
	link del v0
	link del d0
	END
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	link_gone i0 i1 r0 n0 b0 s0 v0 e0 m0 m1 m2 d0
}
