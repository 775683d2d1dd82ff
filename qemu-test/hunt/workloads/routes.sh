# SPDX-License-Identifier: GPL-2.0-only
#
# Routes, rules, next hops, encapsulations, neighbours, addresses
#
# files: /etc/protocols
# programs: ip
# modules: dummy

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add d0 type dummy
	link set d0 up
	addr add 10.1.0.1/24 dev d0
	addr add fd01::1/64 dev d0 nodad
	addr add 10.1.0.2 peer 10.1.0.3/32 dev d0 label d0:1 valid_lft 100 preferred_lft 50
	route add 10.2.0.0/16 nexthop via 10.1.0.5 weight 2 nexthop dev d0 weight 3
	route add 10.3.0.0/16 via 10.1.0.6 table 500 metric 5 mtu 1000 rtt 10ms features ecn congctl reno
	route add 10.3.0.0/24 via 10.1.0.6 table 500
	route add blackhole 10.4.0.0/16 
	route add 10.8.0.0/16 via inet6 fd01::5 dev d0
	route add fd02::/64 nexthop via fd01::5 nexthop via fd01::6
	route add fd03::/64 via fd01::5 expires 100 metric 5
	route append fd03::/64 via fd01::7 metric 5
	route add unreachable fd04::/64
	nexthop add id 1 via 10.1.0.5 dev d0
	nexthop add id 2 via 10.1.0.6 dev d0
	nexthop add id 3 via fd01::5 dev d0
	nexthop add id 4 blackhole
	nexthop add id 10 group 1,3/2 type resilient buckets 8 idle_timer 10
	nexthop add id 11 group 1/2
	nexthop replace id 1 via 10.1.0.7 dev d0
	route add 10.5.0.0/16 nhid 11
	route add 10.6.0.0/16 nhid 10
	route add fd05::/64 nhid 3
	nexthop bucket show
	rule add from 10.9.0.0/16 table 500 priority 100
	rule add fwmark 5/0xff iif lo ipproto tcp dport 80-90 uidrange 5-10 lookup 500 suppress_prefixlength 5
	neigh add 10.1.0.9 lladdr 02:00:00:00:00:09 dev d0 nud permanent
	neigh add proxy 10.1.0.10 dev d0
	neigh add fd01::9 lladdr 02:00:00:00:00:09 dev d0
	ntable change name arp_cache dev d0 queue 5
	maddr add 33:33:00:00:00:05 dev d0
	mroute show
	addrlabel add prefix fd08::/64 label 99
	token set ::5 dev d0
	netconf show
	route get 10.2.0.5
	route get fd02::5
	route show table all
	rule del priority 100
	rule del fwmark 5/0xff
	addrlabel del prefix fd08::/64 label 99
	nexthop flush
	route del blackhole 10.4.0.0/16
	route del unreachable fd04::/64
	END
	cat > /tmp/batch6 <<-'END'
	rule add from fd09::/64 goto 32766
	rule del from fd09::/64
	END
}

work()
{
	F ip -batch /tmp/batch || return
	F ip -6 -batch /tmp/batch6 || return
	F ip link del d0
}

clean()
{
	ip rule del priority 100
	ip rule del fwmark 5/0xff
	ip -6 rule del from fd09::/64
	ip addrlabel del prefix fd08::/64 label 99
	ip nexthop flush
	ip route del blackhole 10.4.0.0/16
	ip -6 route del unreachable fd04::/64
	link_gone d0
}
