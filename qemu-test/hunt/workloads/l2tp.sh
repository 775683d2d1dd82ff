# SPDX-License-Identifier: GPL-2.0-only
#
# L2TP tunnels and sessions
#
# programs: ip
# modules: l2tp_core l2tp_netlink l2tp_eth l2tp_ip l2tp_ip6 l2tp_debugfs

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link set lo up
	l2tp add tunnel local 127.0.0.1 remote 127.0.0.1 tunnel_id 10 peer_tunnel_id 11 encap udp udp_sport 1701 udp_dport 1702
	l2tp add tunnel local 127.0.0.1 remote 127.0.0.2 tunnel_id 12 peer_tunnel_id 13 encap ip
	l2tp add session name l0 tunnel_id 10 session_id 20 peer_session_id 21 cookie 01020304 l2spec_type none seq both
	l2tp add session name l1 tunnel_id 12 session_id 22 peer_session_id 23
	link set l0 up
	l2tp show tunnel
	l2tp show session
	l2tp del session tunnel_id 10 session_id 20
	l2tp del tunnel tunnel_id 10
	l2tp del tunnel tunnel_id 12
	END
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	for tunnel in 10 12; do
		! ip l2tp show tunnel | grep -q "^Tunnel $tunnel," || ip l2tp del tunnel tunnel_id $tunnel
	done
}
