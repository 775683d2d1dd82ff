# SPDX-License-Identifier: GPL-2.0-only
#
# Network namespaces with devices, tables and rules, which go away with them
#
# programs: ip nft
# modules: veth bridge ip_gre nf_tables

. /qt/workloads/lib.sh

work()
{
	F ip netns add hunt || return
	F ip netns set hunt 5 || return
	F ip -n hunt link set lo up || return
	F ip link add v0 type veth peer name v1 netns hunt || return
	F ip -n hunt addr add 10.1.0.1/24 dev v1 || return
	F ip -n hunt link set v1 up || return
	F ip -n hunt link add b0 type bridge || return
	F ip -n hunt link add t0 type gre remote 10.1.0.2 || return
	F ip netns exec hunt nft add table inet t || return
	F ip netns list-id || return
	F ip netns del hunt
}

clean()
{
	ip netns del hunt
	tries=0
	while [ -e /sys/class/net/v0 ] && [ $tries -lt 10 ]; do
		usleep 50000
		tries=$((tries + 1))
	done
	link_gone v0
}
