# SPDX-License-Identifier: GPL-2.0-only
#
# A dummy device.
#
# programs: ip

work()
{
	F ip link add d0 type dummy || return
	F ip link set d0 up || return
	F ip addr add 10.9.0.1/24 dev d0 || return
	F ip link del d0
}

clean()
{
	[ ! -e /sys/class/net/d0 ] || ip link del d0
}
