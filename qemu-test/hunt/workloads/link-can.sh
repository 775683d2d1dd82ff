# SPDX-License-Identifier: GPL-2.0-only
#
# CAN: virtual devices and a gateway
#
# programs: ip
# modules: vcan vxcan

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/batch <<-'END'
	link add c0 type vcan
	link add c1 mtu 72 type vcan
	link add x0 type vxcan peer name x1
	link set c0 up
	link set c1 up
	link set x0 up
	link set x1 up
	link del c0
	link del c1
	link del x0
	END
}

work()
{
	F ip -batch /tmp/batch
}

clean()
{
	link_gone c0 c1 x0
}
