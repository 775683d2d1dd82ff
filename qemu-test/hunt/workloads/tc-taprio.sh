# SPDX-License-Identifier: GPL-2.0-only
#
# Time-aware queues, and gates as actions
#
# programs: ip tc
# modules: dummy sch_taprio sch_etf sch_ingress act_gate cls_matchall

prepare()
{
	cat > /tmp/batch <<-'END'
	qdisc add dev d0 root handle 1: taprio num_tc 2 map 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 queues 1@0 1@1 base-time 1000 sched-entry S 01 300000 sched-entry S 02 300000 clockid CLOCK_TAI
	qdisc change dev d0 root handle 1: taprio base-time 2000 sched-entry S 01 400000 sched-entry S 02 200000 clockid CLOCK_TAI
	qdisc replace dev d0 parent 1:1 handle 2: etf clockid CLOCK_TAI delta 200000 skip_sock_check
	qdisc show dev d0
	qdisc del dev d0 root
	qdisc add dev d0 clsact
	filter add dev d0 ingress matchall action gate clockid CLOCK_TAI base-time 0 sched-entry open 1000000 -1 -1 sched-entry close 1000000 -1 -1
	filter del dev d0 ingress
	qdisc del dev d0 clsact
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
