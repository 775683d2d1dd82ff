# SPDX-License-Identifier: GPL-2.0-only
#
# Queues with classes
#
# programs: ip tc
# modules: dummy sch_htb sch_hfsc sch_drr sch_qfq sch_prio sch_ets sch_multiq sch_mqprio sch_gred sch_sfq sch_tbf cls_u32

prepare()
{
	cat > /tmp/batch <<-'END'
	qdisc add dev d0 root handle 1: htb default 20 r2q 10
	class add dev d0 parent 1: classid 1:1 htb rate 10mbit ceil 20mbit
	class add dev d0 parent 1:1 classid 1:20 htb rate 1mbit prio 1
	class change dev d0 parent 1:1 classid 1:20 htb rate 2mbit ceil 3mbit
	qdisc add dev d0 parent 1:20 handle 20: sfq
	filter add dev d0 parent 1: protocol ip prio 1 u32 match ip dst 10.0.0.1/32 flowid 1:20
	filter del dev d0 parent 1: prio 1
	class del dev d0 classid 1:20
	qdisc replace dev d0 root handle 2: hfsc default 1
	class add dev d0 parent 2: classid 2:1 hfsc sc rate 1mbit ul rate 2mbit
	class add dev d0 parent 2:1 classid 2:2 hfsc rt m1 2mbit d 10ms m2 1mbit ls rate 1mbit
	class change dev d0 parent 2:1 classid 2:2 hfsc ls rate 2mbit
	qdisc replace dev d0 root handle 3: drr
	class add dev d0 parent 3: classid 3:1 drr quantum 1500
	qdisc replace dev d0 root handle 4: qfq
	class add dev d0 parent 4: classid 4:1 qfq weight 10 maxpkt 2000
	class change dev d0 parent 4: classid 4:1 qfq weight 20 maxpkt 2000
	class add dev d0 parent 4: classid 4:2 qfq weight 10 maxpkt 2000
	qdisc replace dev d0 root handle 5: prio bands 4 priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1
	qdisc add dev d0 parent 5:1 handle 6: tbf rate 1mbit burst 10k latency 50ms
	qdisc replace dev d0 root handle 7: ets bands 4 strict 2 quanta 3000 2000
	qdisc change dev d0 root handle 7: ets bands 3 strict 1 quanta 3000 2000
	qdisc replace dev d0 root handle 8: multiq
	qdisc replace dev d0 root handle 9: mqprio num_tc 2 map 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 queues 2@0 2@2 hw 0
	qdisc replace dev d0 root handle a: mq
	qdisc replace dev d0 root handle b: gred setup DPs 4 default 1 grio
	qdisc change dev d0 root handle b: gred limit 60k min 15k max 25k burst 20 avpkt 1000 bandwidth 1mbit DP 1 probability 0.02 prio 2
	class show dev d0
	qdisc del dev d0 root
	END
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
	return 0
}
