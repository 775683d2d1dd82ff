# SPDX-License-Identifier: GPL-2.0-only
#
# IP virtual servers with all schedulers
#
# programs: ipvsadm
# modules: ip_vs ip_vs_rr ip_vs_wrr ip_vs_lc ip_vs_wlc ip_vs_lblc ip_vs_lblcr ip_vs_dh ip_vs_sh ip_vs_sed ip_vs_nq ip_vs_fo ip_vs_ovf ip_vs_mh ip_vs_twos

prepare()
{
	echo 1 > /proc/sys/net/ipv4/ip_forward
	cat > /tmp/batch <<-'END'
	-A -t 10.0.0.1:80 -s rr
	-a -t 10.0.0.1:80 -r 10.1.0.5:80 -g -w 5
	-a -t 10.0.0.1:80 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:81 -s wrr
	-a -t 10.0.0.1:81 -r 10.1.0.5:80 -i -w 5
	-a -t 10.0.0.1:81 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:82 -s lc
	-a -t 10.0.0.1:82 -r 10.1.0.5:80 -m -w 5
	-a -t 10.0.0.1:82 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:83 -s wlc
	-a -t 10.0.0.1:83 -r 10.1.0.5:80 -g -w 5
	-a -t 10.0.0.1:83 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:84 -s lblc
	-a -t 10.0.0.1:84 -r 10.1.0.5:80 -i -w 5
	-a -t 10.0.0.1:84 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:85 -s lblcr
	-a -t 10.0.0.1:85 -r 10.1.0.5:80 -m -w 5
	-a -t 10.0.0.1:85 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:86 -s dh
	-a -t 10.0.0.1:86 -r 10.1.0.5:80 -g -w 5
	-a -t 10.0.0.1:86 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:87 -s sh
	-a -t 10.0.0.1:87 -r 10.1.0.5:80 -i -w 5
	-a -t 10.0.0.1:87 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:88 -s sed
	-a -t 10.0.0.1:88 -r 10.1.0.5:80 -m -w 5
	-a -t 10.0.0.1:88 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:89 -s nq
	-a -t 10.0.0.1:89 -r 10.1.0.5:80 -g -w 5
	-a -t 10.0.0.1:89 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:90 -s fo
	-a -t 10.0.0.1:90 -r 10.1.0.5:80 -i -w 5
	-a -t 10.0.0.1:90 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:91 -s ovf
	-a -t 10.0.0.1:91 -r 10.1.0.5:80 -m -w 5
	-a -t 10.0.0.1:91 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:92 -s mh
	-a -t 10.0.0.1:92 -r 10.1.0.5:80 -g -w 5
	-a -t 10.0.0.1:92 -r 10.1.0.6:80 -m -w 2
	-A -t 10.0.0.1:93 -s twos
	-a -t 10.0.0.1:93 -r 10.1.0.5:80 -i -w 5
	-a -t 10.0.0.1:93 -r 10.1.0.6:80 -m -w 2
	-E -t 10.0.0.1:80 -s wlc -p 100
	-A -f 5 -s rr
	-A -u 10.0.0.1:53 -s rr -o
	-e -t 10.0.0.1:80 -r 10.1.0.6:80 -m -w 9
	-d -t 10.0.0.1:80 -r 10.1.0.6:80
	END
}

work()
{
	F ipvsadm --restore < /tmp/batch || return
	F ipvsadm -ln || return
	F ipvsadm --start-daemon backup --mcast-interface lo --syncid 5 || return
	F ipvsadm --stop-daemon backup || return
	F ipvsadm --clear
}

clean()
{
	ipvsadm --stop-daemon backup
	ipvsadm --clear
}
