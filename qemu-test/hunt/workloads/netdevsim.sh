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
	cat > /tmp/batch <<-'END'
	dev show
	dev info netdevsim/netdevsim5
	dev param set netdevsim/netdevsim5 name max_macs value 64 cmode driverinit
	resource set netdevsim/netdevsim5 path IPv4/fib size 100
	dev reload netdevsim/netdevsim5
	dev eswitch set netdevsim/netdevsim5 mode switchdev
	health dump show netdevsim/netdevsim5 reporter dummy
	health dump clear netdevsim/netdevsim5 reporter dummy
	region new netdevsim/netdevsim5/dummy snapshot 1
	region dump netdevsim/netdevsim5/dummy snapshot 1
	region del netdevsim/netdevsim5/dummy snapshot 1
	END
	# in one batch, devlink mixes up the attributes of these
	cat > /tmp/batch2 <<-'END'
	trap set netdevsim/netdevsim5 trap source_mac_is_multicast action trap
	trap policer set netdevsim/netdevsim5 policer 1 rate 1000 burst 128
	port function rate add netdevsim/netdevsim5/group
	port function rate set netdevsim/netdevsim5/group tx_max 1gbit
	port function rate del netdevsim/netdevsim5/group
	sb show
	dev eswitch set netdevsim/netdevsim5 mode legacy
	dev flash netdevsim/netdevsim5 file hunt
	END
	cat > /tmp/steps <<-'END'
	put /sys/bus/netdevsim/devices/netdevsim5/new_port 3
	put /sys/bus/netdevsim/devices/netdevsim5/del_port 3
	put /sys/bus/netdevsim/del_device 5
	END
}

work()
{
	put /sys/bus/netdevsim/new_device "5 2" || return
	F devlink -b /tmp/batch || return
	F devlink -b /tmp/batch2 || return
	F huntwork steps /tmp/steps
}

clean()
{
	[ ! -e /sys/bus/netdevsim/devices/netdevsim5 ] || echo 5 > /sys/bus/netdevsim/del_device
}
