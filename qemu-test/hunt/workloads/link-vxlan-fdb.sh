# SPDX-License-Identifier: GPL-2.0-only
#
# Entries of the forwarding tables of VXLAN: remotes, groups, next hops, VNI filters
#
# programs: ip bridge
# modules: vxlan

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add x0 type vxlan id 5 dstport 4789 dev lo local 127.0.0.1
	link add x1 type vxlan dstport 4790 dev lo external vnifilter
	link set x0 up
	link set x1 up
	nexthop add id 12 via 10.0.0.12 fdb
	nexthop add id 13 via 10.0.0.13 fdb
	nexthop add id 102 group 12/13 fdb
	END
	cat > /tmp/batch2 <<-'END'
	fdb append 00:00:00:00:00:00 dev x0 dst 10.0.0.2 via lo
	fdb append 00:00:00:00:00:00 dev x0 dst 10.0.0.3 port 99 vni 8
	fdb add 02:00:00:00:00:01 dev x0 dst 10.0.0.4
	fdb replace 02:00:00:00:00:01 dev x0 dst 10.0.0.5
	fdb add 02:00:00:00:00:02 dev x0 nhid 102 self
	vni add dev x1 vni 100-104 group 239.0.0.5
	vni add dev x1 vni 110
	fdb show dev x0
	vni delete dev x1 vni 100-104
	fdb delete 02:00:00:00:00:02 dev x0
	END
}

work()
{
	F ip -batch /tmp/batch || return
	F bridge -batch /tmp/batch2 || return
	F ip link del x0 || return
	F ip link del x1 || return
	F ip nexthop flush
}

clean()
{
	link_gone x0 x1 || return
	ip nexthop flush
}
