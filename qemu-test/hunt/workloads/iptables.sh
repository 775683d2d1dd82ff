# SPDX-License-Identifier: GPL-2.0-only
#
# Tables of xtables with matches and targets
#
# programs: iptables-legacy-restore iptables-legacy
# modules: nf_log_syslog xt_tcpudp ip_tables iptable_raw iptable_mangle iptable_nat iptable_filter xt_CT xt_TRACE ipt_rpfilter xt_connmark xt_TPROXY xt_TCPMSS xt_DSCP xt_HL xt_TCPOPTSTRIP ipt_ECN xt_mark xt_TEE xt_IDLETIMER xt_HMARK xt_RATEEST xt_socket xt_CLASSIFY xt_nat xt_REDIRECT xt_NETMAP xt_MASQUERADE xt_conntrack xt_hashlimit xt_recent xt_limit xt_connlimit xt_connbytes xt_string ts_bm ts_kmp xt_quota xt_statistic xt_u32 xt_bpf xt_multiport xt_iprange xt_policy xt_helper xt_addrtype xt_time xt_cluster xt_osf xt_sctp xt_LOG xt_NFLOG xt_NFQUEUE ipt_REJECT nf_conntrack_ftp
# files: /etc/protocols /lib/x86_64-linux-gnu/libm.so.6 /usr/lib/x86_64-linux-gnu/xtables/libxt_conntrack.so /usr/lib/x86_64-linux-gnu/xtables/libxt_CT.so /usr/lib/x86_64-linux-gnu/xtables/libxt_TRACE.so /usr/lib/x86_64-linux-gnu/xtables/libxt_rpfilter.so /usr/lib/x86_64-linux-gnu/xtables/libxt_NOTRACK.so /usr/lib/x86_64-linux-gnu/xtables/libxt_standard.so /usr/lib/x86_64-linux-gnu/xtables/libxt_CONNMARK.so /usr/lib/x86_64-linux-gnu/xtables/libxt_TPROXY.so /usr/lib/x86_64-linux-gnu/xtables/libxt_TCPMSS.so /usr/lib/x86_64-linux-gnu/xtables/libxt_DSCP.so /usr/lib/x86_64-linux-gnu/xtables/libxt_TCPOPTSTRIP.so /usr/lib/x86_64-linux-gnu/xtables/libxt_MARK.so /usr/lib/x86_64-linux-gnu/xtables/libxt_TEE.so /usr/lib/x86_64-linux-gnu/xtables/libxt_IDLETIMER.so /usr/lib/x86_64-linux-gnu/xtables/libxt_HMARK.so /usr/lib/x86_64-linux-gnu/xtables/libxt_RATEEST.so /usr/lib/x86_64-linux-gnu/xtables/libxt_socket.so /usr/lib/x86_64-linux-gnu/xtables/libxt_CLASSIFY.so /usr/lib/x86_64-linux-gnu/xtables/libxt_DNAT.so /usr/lib/x86_64-linux-gnu/xtables/libxt_REDIRECT.so /usr/lib/x86_64-linux-gnu/xtables/libipt_NETMAP.so /usr/lib/x86_64-linux-gnu/xtables/libxt_SNAT.so /usr/lib/x86_64-linux-gnu/xtables/libxt_MASQUERADE.so /usr/lib/x86_64-linux-gnu/xtables/libxt_hashlimit.so /usr/lib/x86_64-linux-gnu/xtables/libxt_recent.so /usr/lib/x86_64-linux-gnu/xtables/libxt_limit.so /usr/lib/x86_64-linux-gnu/xtables/libxt_connlimit.so /usr/lib/x86_64-linux-gnu/xtables/libxt_connbytes.so /usr/lib/x86_64-linux-gnu/xtables/libxt_string.so /usr/lib/x86_64-linux-gnu/xtables/libxt_quota.so /usr/lib/x86_64-linux-gnu/xtables/libxt_statistic.so /usr/lib/x86_64-linux-gnu/xtables/libxt_u32.so /usr/lib/x86_64-linux-gnu/xtables/libxt_bpf.so /usr/lib/x86_64-linux-gnu/xtables/libxt_multiport.so /usr/lib/x86_64-linux-gnu/xtables/libxt_iprange.so /usr/lib/x86_64-linux-gnu/xtables/libxt_policy.so /usr/lib/x86_64-linux-gnu/xtables/libxt_helper.so /usr/lib/x86_64-linux-gnu/xtables/libxt_addrtype.so /usr/lib/x86_64-linux-gnu/xtables/libxt_time.so /usr/lib/x86_64-linux-gnu/xtables/libxt_cluster.so /usr/lib/x86_64-linux-gnu/xtables/libxt_osf.so /usr/lib/x86_64-linux-gnu/xtables/libxt_sctp.so /usr/lib/x86_64-linux-gnu/xtables/libxt_LOG.so /usr/lib/x86_64-linux-gnu/xtables/libxt_NFLOG.so /usr/lib/x86_64-linux-gnu/xtables/libxt_NFQUEUE.so /usr/lib/x86_64-linux-gnu/xtables/libxt_tcp.so /usr/lib/x86_64-linux-gnu/xtables/libxt_udp.so /usr/lib/x86_64-linux-gnu/xtables/libipt_TTL.so /usr/lib/x86_64-linux-gnu/xtables/libipt_ECN.so /usr/lib/x86_64-linux-gnu/xtables/libipt_REJECT.so

prepare()
{
	cat > /tmp/rules <<-'END'
	*raw
	:PREROUTING ACCEPT [0:0]
	-A PREROUTING -p tcp --dport 1 -j CT --zone 5 --helper ftp
	-A PREROUTING -p tcp --dport 2 -j TRACE
	-A PREROUTING -m rpfilter --loose -j NOTRACK
	COMMIT
	*mangle
	:PREROUTING ACCEPT [0:0]
	:POSTROUTING ACCEPT [0:0]
	-A PREROUTING -j CONNMARK --set-mark 5
	-A PREROUTING -p tcp -j TPROXY --on-port 50 --tproxy-mark 1
	-A PREROUTING -p tcp --tcp-flags SYN,RST SYN -j TCPMSS --set-mss 1400
	-A PREROUTING -j DSCP --set-dscp 5
	-A PREROUTING -j TTL --ttl-set 5
	-A PREROUTING -p tcp -j TCPOPTSTRIP --strip-options 5
	-A PREROUTING -p tcp -j ECN --ecn-tcp-remove
	-A PREROUTING -j MARK --set-mark 5
	-A PREROUTING -j TEE --gateway 10.0.0.5
	-A PREROUTING -j IDLETIMER --timeout 100 --label hunt
	-A PREROUTING -j HMARK --hmark-tuple src,dst --hmark-mod 5 --hmark-offset 1 --hmark-rnd 5
	-A PREROUTING -j RATEEST --rateest-name r --rateest-interval 250ms --rateest-ewmalog 500ms
	-A PREROUTING -m socket --transparent -j MARK --set-mark 6
	-A POSTROUTING -j CLASSIFY --set-class 1:1
	COMMIT
	*nat
	:PREROUTING ACCEPT [0:0]
	:POSTROUTING ACCEPT [0:0]
	-A PREROUTING -p tcp --dport 80 -j DNAT --to-destination 10.0.0.5:90
	-A PREROUTING -p tcp --dport 81 -j REDIRECT --to-ports 91
	-A PREROUTING -d 10.5.0.0/24 -j NETMAP --to 10.6.0.0/24
	-A POSTROUTING -s 10.0.0.0/8 -j SNAT --to-source 10.9.0.1-10.9.0.5
	-A POSTROUTING -j MASQUERADE
	COMMIT
	*filter
	:INPUT ACCEPT [0:0]
	:user - [0:0]
	-A INPUT -m conntrack --ctstate NEW,ESTABLISHED -j user
	-A INPUT -m hashlimit --hashlimit-upto 10/sec --hashlimit-name h --hashlimit-mode srcip -j ACCEPT
	-A INPUT -m recent --name r --set -j ACCEPT
	-A INPUT -m limit --limit 5/sec -j ACCEPT
	-A INPUT -m connlimit --connlimit-above 5 -j DROP
	-A INPUT -m connbytes --connbytes 5 --connbytes-dir both --connbytes-mode bytes -j ACCEPT
	-A INPUT -m string --string hunt --algo bm -j DROP
	-A INPUT -m string --hex-string "|0102|" --algo kmp -j DROP
	-A INPUT -m quota --quota 1000 -j ACCEPT
	-A INPUT -m statistic --mode nth --every 5 --packet 0 -j ACCEPT
	-A INPUT -m u32 --u32 "6&0xFF=1" -j DROP
	-A INPUT -m bpf --bytecode "1,6 0 0 1" -j DROP
	-A INPUT -m multiport -p tcp --dports 80,90:95 -j ACCEPT
	-A INPUT -m iprange --src-range 10.0.0.1-10.0.0.9 -j ACCEPT
	-A INPUT -m policy --dir in --pol none -j ACCEPT
	-A INPUT -m helper --helper ftp -j ACCEPT
	-A INPUT -m addrtype --dst-type LOCAL -j ACCEPT
	-A INPUT -m time --timestart 10:00 -j ACCEPT
	-A INPUT -m cluster --cluster-total-nodes 2 --cluster-local-node 1 --cluster-hash-seed 5 -j DROP
	-A INPUT -p tcp -m osf --genre Linux -j DROP
	-A INPUT -p sctp -m sctp --dport 5 -j ACCEPT
	-A INPUT -j LOG --log-prefix "hunt "
	-A INPUT -j NFLOG --nflog-group 5
	-A INPUT -j NFQUEUE --queue-num 5 --queue-bypass
	-A INPUT -p tcp -j REJECT --reject-with tcp-reset
	-A user -j RETURN
	COMMIT
	END
	for table in raw mangle nat filter; do
		printf '*%s\nCOMMIT\n' $table
	done > /tmp/none
}

work()
{
	F iptables-legacy-restore /tmp/rules || return
	F iptables-legacy -t filter -vnL || return
	F iptables-legacy-restore /tmp/none
}

clean()
{
	iptables-legacy-restore /tmp/none
}
