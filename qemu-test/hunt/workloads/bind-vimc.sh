# SPDX-License-Identifier: GPL-2.0-only
#
# A virtual media controller with its pipeline
#
# programs: huntwork
# modules: vimc

. /qt/workloads/lib.sh

work()
{
	put vimc.0 /sys/bus/platform/drivers/vimc/unbind || return
	put vimc.0 /sys/bus/platform/drivers/vimc/bind || return
	F huntwork open /dev/media0
}

clean()
{
	[ -e /sys/bus/platform/drivers/vimc/vimc.0 ] || echo vimc.0 > /sys/bus/platform/drivers/vimc/bind
}
