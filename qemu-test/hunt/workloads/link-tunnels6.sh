# SPDX-License-Identifier: GPL-2.0-only
#
# IPv6 tunnels
#
# programs: ip
# modules: ip6_tunnel ip6_gre ip6_vti

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add t0 type ip6tnl local fd00::1 remote fd00::2 mode any encaplimit 3
	link add t1 type ip6gre local fd00::1 remote fd00::2 key 5 csum
	link add t2 type ip6gretap local fd00::1 remote fd00::3 key 6
	link add t3 type ip6erspan local fd00::1 remote fd00::4 key 7 seq erspan_ver 2 erspan_dir ingress erspan_hwid 5
	link add t4 type vti6 local fd00::1 remote fd00::5 key 8
	link add t5 type ip6tnl external
	link add t6 type ip6gretap external
	link set t0 up
	link set t1 up
	link set t2 up
	link set t4 up
	link set t0 type ip6tnl local fd00::1 remote fd00::9 mode any
	addr add fd05::1/64 dev t0
	link del t0
	link del t1
	link del t2
	link del t3
	link del t4
	link del t5
	link del t6
	END
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	link_gone t0 t1 t2 t3 t4 t5 t6
}
