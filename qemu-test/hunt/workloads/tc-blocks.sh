# SPDX-License-Identifier: GPL-2.0-only
#
# A block of filters that devices share; an ingress queue in a block
#
# programs: ip tc
# modules: dummy sch_ingress cls_flower cls_matchall act_gact

prepare()
{
	cat > /tmp/batch <<-'END'
	qdisc add dev d0 ingress_block 22 egress_block 23 clsact
	qdisc add dev d1 ingress_block 22 clsact
	filter add block 22 protocol ip prio 1 flower dst_ip 10.0.0.1 action drop
	filter add block 23 protocol ip prio 1 matchall action pass
	chain add block 22 chain 3 protocol ip flower ip_proto udp
	filter show block 22
	qdisc del dev d1 clsact
	qdisc del dev d0 clsact
	END
	ip link add d1 type dummy
	ip link add d0 numtxqueues 4 type dummy
	ip link set d0 up
}

work()
{
	F tc -batch /tmp/batch
}

clean()
{
	for kind in root clsact; do
		tc qdisc del dev d0 $kind
	done
	tc qdisc del dev d1 clsact
	return 0
}
