# SPDX-License-Identifier: GPL-2.0-only
#
# WireGuard: devices, peers, allowed addresses, a handshake, packets
#
# programs: huntwork ip wg
# modules: wireguard

. /qt/workloads/lib.sh

prepare()
{
	printf 'yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=' > /tmp/private
	printf 'ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pn8=' > /tmp/other
}

work()
{
	F ip link add w0 type wireguard || return
	F wg set w0 listen-port 51820 fwmark 5 private-key /tmp/private \
		peer ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pn8= preshared-key /tmp/other endpoint 127.0.0.1:51821 \
		persistent-keepalive 25 allowed-ips 10.8.0.0/16,10.9.0.0/24,fd08::/64,10.8.5.0/24,10.8.5.7/32 || return
	F wg set w0 peer ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pn8= allowed-ips 10.8.0.0/24 || return
	F ip addr add 10.8.0.1/24 dev w0 || return
	F ip link set w0 up || return
	F huntwork socket socket 2 2 0 sendto 00010203 0200.0005.0a080002 || return
	F wg show w0 || return
	F wg set w0 peer ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pn8= remove || return
	F ip link del w0
}

clean()
{
	link_gone w0
}
