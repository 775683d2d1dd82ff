# SPDX-License-Identifier: GPL-2.0-only
#
# The filter that classifies by routes
#
# programs: ip tc
# modules: dummy sch_prio cls_route

prepare()
{
	cat > /tmp/batch <<-'END'
	qdisc add dev d0 root handle 1: prio
	filter add dev d0 parent 1: protocol ip prio 1 route to 2 classid 1:1
	filter add dev d0 parent 1: protocol ip prio 1 route from 3 to 4 classid 1:2
	filter add dev d0 parent 1: protocol ip prio 1 route fromif lo to 5 classid 1:2
	filter show dev d0
	filter del dev d0 parent 1:
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
