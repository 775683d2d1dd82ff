# SPDX-License-Identifier: GPL-2.0-only
#
# IP sets of all kinds
#
# files: /etc/protocols
# programs: ipset
# modules: ip_set ip_set_bitmap_ip ip_set_bitmap_ipmac ip_set_bitmap_port ip_set_hash_ip ip_set_hash_net ip_set_hash_ipport ip_set_hash_ipportip ip_set_hash_ipportnet ip_set_hash_netport ip_set_hash_netiface ip_set_hash_netnet ip_set_hash_netportnet ip_set_hash_mac ip_set_hash_ipmark ip_set_hash_ipmac ip_set_list_set

prepare()
{
	cat > /tmp/batch <<-'END'
	create a bitmap:ip range 10.0.0.0/24 timeout 100 counters comment skbinfo
	add a 10.0.0.5 comment "text" skbmark 0x1/0x2
	create b bitmap:ip,mac range 10.0.0.0/24
	add b 10.0.0.5,02:00:00:00:00:01
	create c bitmap:port range 0-1000
	add c 80-90
	create d hash:ip hashsize 64 maxelem 100 timeout 50 comment counters forceadd
	add d 10.0.0.5 comment "text"
	add d 10.0.1.0/28
	create e hash:net family inet6
	add e fd00::/16
	add e fd01::/32 nomatch
	create f hash:ip,port
	add f 10.0.0.5,tcp:80-85
	create g hash:ip,port,ip
	add g 10.0.0.5,udp:53,10.0.0.6
	create h hash:ip,port,net
	add h 10.0.0.5,tcp:80,10.5.0.0/16
	create i hash:net,port
	add i 10.0.0.0/8,tcp:80
	create j hash:net,iface
	add j 10.0.0.0/8,lo
	create k hash:net,net
	add k 10.0.0.0/8,11.0.0.0/8
	create l hash:net,port,net
	add l 10.0.0.0/8,tcp:80,11.0.0.0/8
	create m hash:mac
	add m 02:00:00:00:00:01
	create n hash:ip,mark
	add n 10.0.0.5,0x5
	create o hash:ip,mac
	add o 10.0.0.5,02:00:00:00:00:01
	create p list:set size 4
	add p a
	add p d
	create q hash:ip
	create s hash:ip
	add s 10.0.0.1
	swap q s
	rename q r
	END
}

work()
{
	F ipset restore -file /tmp/batch || return
	F ipset list || return
	F ipset flush || return
	F ipset destroy
}

clean()
{
	ipset destroy
}
