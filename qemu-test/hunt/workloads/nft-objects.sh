# SPDX-License-Identifier: GPL-2.0-only
#
# nftables: named objects, and rules that refer to them
#
# programs: nft
# modules: nf_tables nft_ct nft_limit nft_quota nft_synproxy nf_conntrack_ftp nft_objref

prepare()
{
	cat > /tmp/rules <<-'END'
	table inet t {
		synproxy y {
			mss 1460
			wscale 7
			timestamp sack-perm
		}
		counter c { packets 0 bytes 0 }
		quota q { over 10 mbytes used 0 bytes; }
		limit l { rate 10/second burst 5 packets; }
		ct helper h { type "ftp" protocol tcp; l3proto ip; }
		ct timeout o { protocol tcp; l3proto ip; policy = { established : 100, close : 10 }; }
		ct expectation e { protocol tcp; dport 5555; timeout 10s; size 12; l3proto ip; }
		map objects { type ipv4_addr : counter; elements = { 10.0.0.1 : "c" }; }
		map quotas { type ipv4_addr : quota; elements = { 10.0.0.1 : "q" }; }
		chain input {
			type filter hook prerouting priority 0;
			counter name "c"
			quota name "q"
			limit name "l"
			ct helper set "h"
			ct timeout set "o"
			ct expectation set "e"
			counter name ip saddr map @objects
		}
	}
	END
}

work()
{
	F nft -f /tmp/rules || return
	F nft list ruleset || return
	F nft delete table inet t || return
	F nft flush ruleset
}

clean()
{
	nft flush ruleset
}
