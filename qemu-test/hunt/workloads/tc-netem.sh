# SPDX-License-Identifier: GPL-2.0-only
#
# netem with a table of delays, loss models, rates and slots; etf, cbs and plug
#
# files: /usr/lib/x86_64-linux-gnu/tc/normal.dist
# programs: ip tc
# modules: dummy sch_netem sch_cbs sch_etf sch_plug

prepare()
{
	cat > /tmp/batch <<-'END'
	qdisc add dev d0 root handle 1: netem delay 10ms 2ms 25% distribution normal loss gemodel 1% 10% 70% 0.1% duplicate 1% corrupt 0.1% reorder 25% 50% rate 1mbit slot 800us 1000us
	qdisc change dev d0 root handle 1: netem delay 20ms loss state 1% 10% 70% 0.1% 2% ecn
	qdisc add dev d0 parent 1: handle 2: pfifo
	qdisc replace dev d0 root cbs idleslope 98688 sendslope -901312 hicredit 153 locredit -1389
	qdisc replace dev d0 root etf clockid CLOCK_TAI delta 200000
	qdisc replace dev d0 root plug limit 100000
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
