# SPDX-License-Identifier: GPL-2.0-only
#
# Dumps of all that diagnostic and generic netlink has
#
# programs: ss genl ip nstat
# modules: inet_diag tcp_diag udp_diag raw_diag unix_diag af_packet_diag netlink_diag

work()
{
	F ss -aempi || return
		F genl ctrl list || return
	F ip -s -d link show || return
	F ip netconf show || return
	F ip rule show || return
	F nstat -az
}
