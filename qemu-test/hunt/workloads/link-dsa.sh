# SPDX-License-Identifier: GPL-2.0-only
#
# Ports of a simulated switch of DSA: up, in a bridge, with a VLAN
#
# programs: ip
# modules: dummy bridge dsa_loop_bdinfo dsa_loop

. /qt/workloads/lib.sh

prepare()
{
	# the switch looks for this name when its driver is loaded
	ip link add eth0 type dummy && ip link set eth0 up || return
	rmmod dsa_loop && modprobe dsa_loop || return
	cat > /tmp/batch <<-'END'
	link set lan1 up
	link set lan2 up
	link add br0 type bridge vlan_filtering 1
	link set br0 up
	link set lan1 master br0
	link set lan2 master br0
	link set lan1 nomaster
	link set lan2 nomaster
	link del br0
	link set lan1 down
	link set lan2 down
	END
	device_there /sys/class/net/lan1
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	link_gone br0 && ip link set lan1 down && ip link set lan2 down
}
