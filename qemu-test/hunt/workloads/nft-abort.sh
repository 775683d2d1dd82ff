# SPDX-License-Identifier: GPL-2.0-only
#
# nftables: transactions that fail at the end, so that all is taken back
#
# programs: nft
# modules: nf_tables nft_objref

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/rules <<-'END'
	table inet t {
		set one { type ipv4_addr; flags interval; elements = { 10.0.0.0/24 }; }
		set two { type ipv4_addr; flags timeout; timeout 1h; elements = { 10.0.0.1 }; }
		map m { type inet_service : verdict; }
		counter c { packets 0 bytes 0 }
		chain b {
			ip saddr @one counter name "c" accept
		}
		chain a {
			type filter hook input priority 0;
			jump b
			tcp dport vmap @m
		}
	}
	END
	# the last line refers to what does not exist
	{
		cat /tmp/rules
		cat <<-'END'
		add element inet t one { 10.5.0.0/24 }
		add element inet t two { 10.0.0.9 timeout 5m }
		add element inet t m { 5 : jump b }
		add rule inet t a ip saddr { 10.0.0.1, 10.0.0.5 } drop
		delete rule inet t a handle 999
		END
	} > /tmp/bad
}

work()
{
	F nft -f /tmp/rules || return
	# it has to fail: a fault in it changes nothing
	try F nft -f /tmp/bad
	F nft flush ruleset
}

clean()
{
	nft flush ruleset
}
