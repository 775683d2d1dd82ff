# SPDX-License-Identifier: GPL-2.0-only
#
# Tunnels over UDP: VXLAN, Geneve, bare UDP, AMT, FOU
#
# programs: ip
# modules: dummy vxlan geneve bareudp amt fou ipip

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add x0 type vxlan id 5 dstport 4789 group 239.1.1.1 dev lo local 127.0.0.1 ttl 4
	link add x1 type vxlan dstport 4790 external vnifilter
	link add x2 type geneve id 7 remote 10.0.0.2
	link add x3 type geneve external dstport 6082
	link add x4 type bareudp dstport 6635 ethertype mpls_uc
		link add x6 type amt mode gateway local 10.0.0.1 discovery 10.0.0.2 dev d0 relay_port 2268
	link set x0 up
	link set x1 up
	link set x2 up
	link set x3 up
	link set x4 up
	link set x6 up
	fou add port 5555 ipproto 4
	link add x7 type ipip remote 10.0.0.3 local 10.0.0.1 encap fou encap-sport auto encap-dport 5555
	link set x7 up
	fou del port 5555
	link del x0
	link del x1
	link del x2
	link del x3
	link del x4
	link del x6
	link del x7
	END
	ip link add d0 type dummy
	ip link set d0 up
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	ip fou del port 5555
	link_gone x0 x1 x2 x3 x4 x6 x7
}
