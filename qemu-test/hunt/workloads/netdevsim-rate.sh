# SPDX-License-Identifier: GPL-2.0-only
#
# netdevsim: a rate node of a device that has no virtual functions
#
# programs: devlink
# modules: netdevsim

. /qt/workloads/lib.sh

work()
{
	put /sys/bus/netdevsim/new_device "5 2" || return
	F devlink dev eswitch set netdevsim/netdevsim5 mode switchdev || return
	F devlink port function rate add netdevsim/netdevsim5/group || return
	put /sys/bus/netdevsim/del_device 5
}

clean()
{
	[ ! -e /sys/bus/netdevsim/devices/netdevsim5 ] || echo 5 > /sys/bus/netdevsim/del_device
}
