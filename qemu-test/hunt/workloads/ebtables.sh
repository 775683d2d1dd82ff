# SPDX-License-Identifier: GPL-2.0-only
#
# Tables for bridges and for ARP
#
# files: /etc/ethertypes /etc/protocols
# programs: ebtables-legacy-restore ebtables-legacy arptables-legacy ip
# modules: bridge ebtables ebtable_filter ebtable_nat ebtable_broute ebt_ip ebt_among ebt_limit ebt_log ebt_vlan ebt_arp ebt_dnat ebt_snat arp_tables arptable_filter arpt_mangle

prepare()
{
	ip link add br0 type bridge
	cat > /tmp/rules <<-'END'
	*filter
	:INPUT ACCEPT
	:FORWARD ACCEPT
	:OUTPUT ACCEPT
	:user RETURN
	-A FORWARD -p IPv4 --ip-src 10.0.0.1 --ip-proto tcp --ip-dport 80 -j DROP
	-A FORWARD --among-dst 02:00:00:00:00:01=10.0.0.1,02:00:00:00:00:02 -j ACCEPT
	-A FORWARD --limit 5/second --log-level info --log-prefix hunt -j user
	-A FORWARD -p 802_1Q --vlan-id 5 -j DROP
	-A FORWARD -p ARP --arp-ip-src 10.0.0.5 -j DROP
	*nat
	:PREROUTING ACCEPT
	:OUTPUT ACCEPT
	:POSTROUTING ACCEPT
	-A PREROUTING -d 02:00:00:00:00:05 -j dnat --to-destination 02:00:00:00:00:06
	-A POSTROUTING -s 02:00:00:00:00:05 -j snat --to-source 02:00:00:00:00:06
	*broute
	:BROUTING ACCEPT
	-A BROUTING -p IPv6 -j DROP
	END
	grep -v -e -A -e user /tmp/rules > /tmp/none
}

work()
{
	F ebtables-legacy-restore < /tmp/rules || return
	F ebtables-legacy -t filter -L || return
	F arptables-legacy -A INPUT -s 10.0.0.5 -j mangle --mangle-ip-s 10.0.0.6 || return
	F arptables-legacy -F || return
	F ebtables-legacy-restore < /tmp/none
}

clean()
{
	ebtables-legacy-restore < /tmp/none
	arptables-legacy -F
}
