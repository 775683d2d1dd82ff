# SPDX-License-Identifier: GPL-2.0-only
#
# nftables: flow tables on devices that come and go, tunnels as objects
#
# programs: nft ip
# modules: dummy nf_tables nf_flow_table nf_flow_table_inet nft_flow_offload

prepare()
{
	cat > /tmp/rules <<-'END'
	table inet f {
		flowtable ft {
			hook ingress priority 0
			devices = { d0, d1 }
			counter
		}
		chain forward {
			type filter hook forward priority 0;
			ip protocol tcp flow add @ft
		}
	}
	add flowtable inet f second { hook ingress priority 5; devices = { d2 }; }
	END
	ip link add d0 type dummy
	ip link add d1 type dummy
	ip link add d2 type dummy
	ip link add d3 type dummy
}

work()
{
	F nft -f /tmp/rules || return
	F nft list ruleset || return
	F nft 'add flowtable inet f second { hook ingress priority 5; devices = { d3 }; }' || return
	F nft delete flowtable inet f second || return
	F nft flush ruleset
}

clean()
{
	nft flush ruleset
}
