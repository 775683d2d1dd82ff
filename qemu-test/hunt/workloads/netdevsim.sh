# SPDX-License-Identifier: GPL-2.0-only
#
# netdevsim: a device with ports, and its devlink interface
#
# programs: huntwork devlink
# modules: netdevsim

. /qt/workloads/lib.sh

prepare()
{
	mkdir -p /lib/firmware
	echo firmware > /lib/firmware/hunt
	cat > /tmp/steps <<-'END'
	put /sys/bus/netdevsim/new_device 5 2
	END
	cat > /tmp/steps <<-'END'
	put /sys/bus/netdevsim/devices/netdevsim5/new_port 3
	put /sys/bus/netdevsim/devices/netdevsim5/del_port 3
	put /sys/bus/netdevsim/del_device 5
	END
}

work()
{
	F huntwork steps /tmp/steps || return
	F devlink dev show || return
	F devlink dev info netdevsim/netdevsim5 || return
	F devlink dev param set netdevsim/netdevsim5 name max_macs value 64 cmode driverinit || return
	F devlink resource set netdevsim/netdevsim5 path IPv4/fib size 100 || return
	F devlink dev reload netdevsim/netdevsim5 || return
	F devlink dev eswitch set netdevsim/netdevsim5 mode switchdev || return
	F devlink health dump show netdevsim/netdevsim5 reporter dummy || return
	F devlink health dump clear netdevsim/netdevsim5 reporter dummy || return
	F devlink region new netdevsim/netdevsim5/dummy snapshot 1 || return
	F devlink region dump netdevsim/netdevsim5/dummy snapshot 1 || return
	F devlink region del netdevsim/netdevsim5/dummy snapshot 1 || return
	F devlink trap set netdevsim/netdevsim5 trap source_mac_is_multicast action trap || return
	F devlink trap policer set netdevsim/netdevsim5 policer 1 rate 1000 burst 128 || return
	F devlink port function rate add netdevsim/netdevsim5/group || return
	F devlink port function rate set netdevsim/netdevsim5/group tx_max 10gbit || return
	F devlink port function rate del netdevsim/netdevsim5/group || return
	F devlink sb show || return
	F devlink dev eswitch set netdevsim/netdevsim5 mode legacy || return
	F devlink dev flash netdevsim/netdevsim5 file hunt || return
	F huntwork steps /tmp/steps
}

clean()
{
	[ ! -e /sys/bus/netdevsim/devices/netdevsim5 ] || echo 5 > /sys/bus/netdevsim/del_device
}
