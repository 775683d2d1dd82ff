# SPDX-License-Identifier: GPL-2.0-only
#
# IPv4 tunnels
#
# programs: ip
# modules: ipip ip_gre ip_vti sit ip_tunnel

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add t0 type ipip local 10.0.0.1 remote 10.0.0.2 ttl 64 dev lo
	link add t1 type gre local 10.0.0.1 remote 10.0.0.2 key 5 csum seq
	link add t2 type gretap local 10.0.0.1 remote 10.0.0.3 key 6
	link add t3 type erspan local 10.0.0.1 remote 10.0.0.4 key 7 seq erspan_ver 1 erspan 5
	link add t4 type vti local 10.0.0.1 remote 10.0.0.5 key 8
	link add t5 type sit local 10.0.0.1 remote 10.0.0.6 mode any
	link add t6 type ipip external
	link add t7 type gretap external
	link add t8 type gre remote 224.0.0.5 local 10.0.0.1 key 9 dev lo
	link set t0 up
	link set t1 up
	link set t2 up
	link set t5 up
	link set t8 up
	link set t1 type gre local 10.0.0.1 remote 10.0.0.9 key 6
	link set t6 up
	addr add 10.5.0.1/24 dev t0
	addr add fd01::1/64 dev t5
	route add 10.6.0.0/16 dev t6 encap ip id 5 dst 10.0.0.7
	link del t0
	link del t1
	link del t2
	link del t3
	link del t4
	link del t5
	link del t6
	link del t7
	link del t8
	END
	ip addr add 10.0.0.1/8 dev lo
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	link_gone t0 t1 t2 t3 t4 t5 t6 t7 t8
}
