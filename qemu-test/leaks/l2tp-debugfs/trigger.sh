# SPDX-License-Identifier: GPL-2.0-only
#
# A tunnel comes and goes, and a monitor reads the first lines about it.
#
# programs: ip

prepare()
{
	ip link set lo up
}

once()
{
	ip l2tp add tunnel remote 127.0.0.1 local 127.0.0.1 tunnel_id 1 peer_tunnel_id 1 \
		encap udp udp_sport 5000 udp_dport 5000
	dd if=$DEBUG/l2tp/tunnels of=/dev/null bs=4096 count=2
	ip l2tp del tunnel tunnel_id 1
}
