# SPDX-License-Identifier: GPL-2.0-only
#
# Routes with lightweight tunnels: MPLS, segment routing, RPL, ILA, IOAM, BPF
#
# programs: ip
# modules: dummy mpls_router mpls_iptunnel ila

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add d0 type dummy
	link set d0 up
	addr add 10.1.0.1/24 dev d0
	addr add fd01::1/64 dev d0 nodad
	route add 10.2.0.0/16 encap mpls 100/200 ttl 5 via 10.1.0.5
	route add fd02::/64 encap mpls 300 via fd01::5
	route add fd03::/64 encap seg6 mode encap segs fd01::6,fd01::7 dev d0
	route add fd04::/64 encap seg6 mode inline segs fd01::6 dev d0
	route add fd05::/64 encap seg6 mode l2encap segs fd01::6 hmac 0 dev d0
	route add fd06::1/128 encap seg6local action End.X nh6 fd01::5 dev d0
	route add fd06::2/128 encap seg6local action End.B6.Encaps srh segs fd01::6 dev d0
	route add fd06::3/128 encap seg6local action End.DX4 nh4 10.1.0.5 dev d0
	route add fd06::4/128 encap seg6local action End.T table 100 count dev d0
	route add fd07::/64 encap rpl segs fd01::5,fd01::6 dev d0
	route add 3ffe::1/128 encap ila 2001:db8:1:2 csum-mode adj-transport ident-type luid via fd01::5 dev d0
	route add fd08::/64 encap ioam6 trace prealloc type 0x800000 ns 1 size 4 dev d0
	route add fd09::/64 encap ip6 id 5 dst fd01::9 dev d0
	ioam namespace add 7 data 5
	ioam schema add 8 "abcd"
	ioam namespace set 7 schema 8
	route show
	ioam namespace del 7
	ioam schema del 8
	END
	cat > /tmp/batchm <<-'END'
	route add 100 as 200/300 via inet 10.1.0.5 dev d0
	route add 101 dev lo
	route add 102 nexthop as 5 via inet 10.1.0.5 dev d0 nexthop via inet6 fd01::5 dev d0
	route show
	route del 101
	END
	echo 1000 > /proc/sys/net/mpls/platform_labels
}

work()
{
	F ip -batch /tmp/batch || return
	F ip -f mpls -batch /tmp/batchm || return
	F ip link del d0
}

clean()
{
	ip ioam namespace del 7
	ip ioam schema del 8
	ip -f mpls route del 101
	link_gone d0
}
