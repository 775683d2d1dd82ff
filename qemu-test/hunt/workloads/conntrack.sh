# SPDX-License-Identifier: GPL-2.0-only
#
# Entries of the connection tracking table, expectations and timeouts, by netlink
#
# programs: conntrack
# modules: nf_conntrack nf_conntrack_netlink nf_nat nf_conntrack_ftp

work()
{
	F conntrack -I -s 10.0.0.1 -d 10.0.0.2 -p tcp --sport 1000 --dport 80 --state ESTABLISHED -t 100 -m 5 || return
	F conntrack -I -s 10.0.0.1 -d 10.0.0.3 -p udp --sport 1000 --dport 53 -t 100 -u SEEN_REPLY --zone 7 || return
	F conntrack -I -s 10.0.0.4 -d 10.0.0.5 -p tcp --sport 9 --dport 8 --state SYN_SENT -t 50 -n 10.9.0.1 || return
	F conntrack -U -s 10.0.0.1 -d 10.0.0.2 -p tcp --sport 1000 --dport 80 -t 200 || return
	F conntrack -G -s 10.0.0.1 -d 10.0.0.2 -p tcp --sport 1000 --dport 80 || return
	F conntrack -L || return
	F conntrack -L expect || return
	F conntrack -S || return
	F conntrack -F expect || return
	F conntrack -F
}

clean()
{
	conntrack -F
	conntrack -F expect
}
