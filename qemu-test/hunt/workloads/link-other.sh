# SPDX-License-Identifier: GPL-2.0-only
#
# Devices of mobile networks, and a simulated wireless device on another
#
# programs: ip
# modules: dummy gtp virt_wifi wwan wwan_hwsim

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add d0 type dummy
	link add g0 type gtp role sgsn
	link set g0 up
	link add link d0 name y0 type virt_wifi
	link set y0 up
	link set y0 down
	link add dev w0 parentdev wwan0 type wwan linkid 7
	link set w0 up
	link del w0
	link del y0
	link del g0
	link del d0
	END
	device_there /sys/class/wwan/wwan0
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	link_gone w0 y0 g0 d0
}
