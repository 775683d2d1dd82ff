# SPDX-License-Identifier: GPL-2.0-only
#
# nftables: chains at all hooks and families, address translation, logs, queues, copies
#
# programs: nft ip
# modules: dummy nf_tables nft_chain_nat nft_nat nft_masq nft_redir nft_ct nft_dup_ipv4 nft_fib_ipv4 nft_socket nft_tproxy nft_log nft_queue nft_osf nft_xfrm nft_reject_bridge nft_meta_bridge nft_dup_netdev nft_fwd_netdev nf_log_syslog nfnetlink_log

prepare()
{
	cat > /tmp/rules <<-'END'
	table ip n {
		chain pre {
			type nat hook prerouting priority -100;
			tcp dport 80 dnat to 10.0.0.5:8080
			tcp dport 81-89 dnat to 10.0.0.5-10.0.0.9 random
			tcp dport 90 redirect to :91
			dnat ip to tcp dport map { 100 : 10.0.0.7, 101 : 10.0.0.8 }
		}
		chain post {
			type nat hook postrouting priority 100;
			ip saddr 10.0.0.0/8 snat to 10.9.0.1 persistent
			oifname "eth0" masquerade random
		}
		chain route {
			type route hook output priority 0;
			meta mark set 5
		}
		chain raw {
			type filter hook prerouting priority -300;
			tcp dport 1 notrack
			ct zone set 5
			dup to 10.0.0.3 device "lo"
			fib saddr . iif oif missing drop
			fib daddr type local accept
			socket transparent 1 mark set 1
			meta l4proto tcp tproxy to 127.0.0.1:5000
			log prefix "hunt " level debug
			log prefix "hunt" group 5 snaplen 100 queue-threshold 5
			queue flags bypass to 0-3
			tcp option maxseg size set 1400
			osf name "Linux"
			ipsec in reqid 5
			ct mark set meta mark
			ct label set 5
		}
	}
	table ip6 n {
		chain post {
			type nat hook postrouting priority 100;
			snat to fd00::1
		}
	}
	table arp a {
		chain in {
			type filter hook input priority 0;
			arp operation request drop
		}
	}
	table bridge b {
		chain in {
			type filter hook prerouting priority 0;
			meta ibrname "br0" drop
			vlan id 5 accept
			reject
		}
	}
	table netdev d {
		chain in {
			type filter hook ingress device "d0" priority 0;
			dup to "lo"
			fwd to "d0"
		}
		chain out {
			type filter hook egress devices = { d0, lo } priority 5;
			counter
		}
	}
	END
	ip link add d0 type dummy
}

work()
{
	F nft -f /tmp/rules || return
	F nft list ruleset || return
	F nft flush ruleset
}

clean()
{
	nft flush ruleset
}
