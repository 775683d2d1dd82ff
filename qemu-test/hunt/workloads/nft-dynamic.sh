# SPDX-License-Identifier: GPL-2.0-only
#
# nftables: rules that add to sets, and limits and counters in them; quotas, connection limits
#
# programs: huntwork nft
# modules: nf_tables nft_limit nft_quota nft_connlimit nft_numgen nft_hash nft_ct

prepare()
{
	cat > /tmp/rules <<-'END'
	table ip t {
		set meters { type ipv4_addr; flags dynamic, timeout; timeout 1m; size 128; }
		set limited { type ipv4_addr; flags dynamic; size 128; }
		set counted { type ipv4_addr . inet_service; flags dynamic; counter; size 128; }
		map seen { type ipv4_addr : inet_service; flags dynamic, timeout; timeout 1m; size 128; }
		chain output {
			type filter hook output priority 0;
			meta l4proto udp add @meters { ip daddr timeout 10s counter limit rate over 1000/second }
			meta l4proto udp update @limited { ip daddr ct count over 100 } drop
			meta l4proto udp add @counted { ip daddr . udp dport }
			meta l4proto udp update @seen { ip daddr : udp sport }
			limit rate 10/second burst 5 packets counter
			limit rate over 100 kbytes/second accept
			quota over 10 mbytes drop
			ct count over 1000 drop
			meta mark set numgen inc mod 8
			meta mark set numgen random mod 8 offset 5
			meta mark set jhash ip saddr . ip daddr mod 16 seed 0xdeadbeef
			meta mark set symhash mod 8
			ip daddr 10.0.0.0/8 meta mark set ip daddr map { 10.0.0.1 : 1, 10.0.0.2 : 2 }
		}
	}
	END
}

work()
{
	F nft -f /tmp/rules || return
	F nft list ruleset || return
	F huntwork socket socket 2 2 0 sendto 00010203 0200.0005.7f000001 sendto 00010203 0200.0006.7f000001 || return
	F nft flush ruleset
}

clean()
{
	nft flush ruleset
}
