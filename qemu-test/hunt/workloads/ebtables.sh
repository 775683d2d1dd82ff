# SPDX-License-Identifier: GPL-2.0-only
#
# Tables for bridges and for ARP
#
# files: /etc/ethertypes /etc/protocols
# programs: ebtables-legacy arptables-legacy ip
# modules: bridge ebtables ebtable_filter ebtable_nat ebtable_broute ebt_ip ebt_among ebt_limit ebt_log ebt_vlan ebt_arp ebt_dnat ebt_snat arp_tables arptable_filter arpt_mangle

prepare()
{
	ip link add br0 type bridge
}

work()
{
	F ebtables-legacy -t filter -A FORWARD -p IPv4 --ip-src 10.0.0.1 --ip-proto tcp --ip-dport 80 -j DROP || return
	F ebtables-legacy -t filter -A FORWARD --among-dst 02:00:00:00:00:01=10.0.0.1,02:00:00:00:00:02 -j ACCEPT || return
	F ebtables-legacy -t filter -N user || return
	F ebtables-legacy -t filter -A FORWARD --limit 5/second --log-level info --log-prefix hunt -j user || return
	F ebtables-legacy -t filter -A FORWARD -p 802_1Q --vlan-id 5 -j DROP || return
	F ebtables-legacy -t filter -A FORWARD -p ARP --arp-ip-src 10.0.0.5 -j DROP || return
	F ebtables-legacy -t nat -A PREROUTING -d 02:00:00:00:00:05 -j dnat --to-destination 02:00:00:00:00:06 || return
	F ebtables-legacy -t nat -A POSTROUTING -s 02:00:00:00:00:05 -j snat --to-source 02:00:00:00:00:06 || return
	F ebtables-legacy -t broute -A BROUTING -p IPv6 -j DROP || return
	F ebtables-legacy -t filter -L || return
	F arptables-legacy -A INPUT -s 10.0.0.5 -j mangle --mangle-ip-s 10.0.0.6 || return
	F arptables-legacy -L || return
	F arptables-legacy -F || return
	F ebtables-legacy -t nat -F || return
	F ebtables-legacy -t broute -F || return
	F ebtables-legacy -t filter -F || return
	F ebtables-legacy -t filter -X
}

clean()
{
	for table in nat broute filter; do
		ebtables-legacy -t $table -F
	done
	ebtables-legacy -t filter -X
	arptables-legacy -F
}
