# SPDX-License-Identifier: GPL-2.0-only
#
# nftables: sets and maps of all kinds, with ranges, timeouts, counters, concatenations
#
# programs: nft
# modules: nf_tables

prepare()
{
	cat > /tmp/rules <<-'END'
	table inet t {
		set one { type ipv4_addr; elements = { 10.0.0.1, 10.0.0.2 }; }
		set two { type ipv4_addr; flags interval; auto-merge; elements = { 10.0.0.0/24, 10.1.0.1-10.1.0.9 }; }
		set three { type ipv4_addr; flags timeout; timeout 1h; size 100; elements = { 10.0.0.1 timeout 10m }; }
		set four { type ipv4_addr . inet_service . ipv4_addr; flags interval; elements = { 10.0.0.0/16 . 80-90 . 10.5.0.0/24, 10.1.0.0/16 . 443 . 10.6.0.1 }; }
		set five { typeof ip saddr . tcp dport; counter; elements = { 10.0.0.1 . 80 counter packets 0 bytes 0 }; }
		set six { type inet_service; elements = { 22, 80 }; }
		set seven { type ipv4_addr; flags dynamic, timeout; size 1000; }
		set eight { typeof iifname; elements = { "lo", "eth0" }; }
		map nine { type ipv4_addr : inet_service; flags interval; elements = { 10.0.0.0/8 : 80, 11.0.0.0/8 : 90 }; }
		map ten { type inet_service : verdict; elements = { 22 : accept, 23 : drop, 24 : jump other }; }
		map eleven { type ipv4_addr . inet_service : ipv4_addr . inet_service; flags interval; elements = { 10.0.0.1 . 80 : 10.0.0.2 . 90 }; }
		chain other {
		}
		chain input {
			type filter hook input priority 0; policy accept;
			ip saddr @one counter accept
			ip saddr . tcp dport . ip daddr @four drop
			ip daddr { 10.3.0.0/16, 10.4.0.0/16 } counter
			tcp dport vmap @ten
			ip saddr . tcp dport @five accept
			ip saddr vmap { 10.9.0.1 : accept, 10.9.0.2 : goto other }
		}
	}
	add element inet t one { 10.0.0.3 }
	delete element inet t two { 10.1.0.1-10.1.0.9 }
	add element inet t four { 10.7.0.0/16 . 1-5 . 10.5.0.0/24 }
	flush set inet t six
	END
}

work()
{
	F nft -f /tmp/rules || return
	F nft list ruleset || return
	F nft delete set inet t seven || return
	F nft flush ruleset
}

clean()
{
	nft flush ruleset
}
