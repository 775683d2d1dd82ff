# SPDX-License-Identifier: GPL-2.0-only
#
# Queues without classes
#
# programs: ip tc
# modules: dummy sch_tbf sch_sfq sch_red sch_choke sch_codel sch_fq_codel sch_fq sch_pie sch_fq_pie sch_hhf sch_sfb sch_skbprio sch_cake

prepare()
{
	cat > /tmp/batch <<-'END'
	qdisc add dev d0 root pfifo limit 100
	qdisc replace dev d0 root bfifo limit 10000
	qdisc replace dev d0 root pfifo_head_drop limit 100
	qdisc replace dev d0 root tbf rate 1mbit burst 10k latency 50ms peakrate 2mbit mtu 1540
	qdisc change dev d0 root tbf rate 2mbit burst 10k latency 50ms
	qdisc replace dev d0 root sfq limit 3000 perturb 10 quantum 1514 flows 512 divisor 16384 redflowlimit 100000 min 8000 max 60000 probability 0.2 ecn headdrop
	qdisc replace dev d0 root red limit 100k min 10k max 30k avpkt 1000 burst 20 bandwidth 1mbit probability 0.1 adaptive
	qdisc replace dev d0 root choke limit 100 min 10 max 30 bandwidth 1mbit
	qdisc replace dev d0 root codel limit 100 target 10ms interval 100ms ecn
	qdisc replace dev d0 root fq_codel limit 1000 flows 512 quantum 300 memory_limit 1mb
	qdisc replace dev d0 root fq limit 1000 flow_limit 50 buckets 256
	qdisc replace dev d0 root pie limit 100 target 20ms tupdate 30ms alpha 2 beta 20 ecn bytemode
	qdisc replace dev d0 root fq_pie limit 1000 flows 256
	qdisc replace dev d0 root hhf hh_limit 100
	qdisc replace dev d0 root sfb limit 100 max 20 rehash 1000
	qdisc replace dev d0 root skbprio limit 100
	qdisc replace dev d0 root cake bandwidth 10mbit diffserv4 nat wash ack-filter
	qdisc show dev d0
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
