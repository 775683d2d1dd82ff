# SPDX-License-Identifier: GPL-2.0-only
#
# Virtual devices that convert from memory to memory
#
# programs: huntwork
# modules: vim2m

. /qt/workloads/lib.sh

work()
{
	put vim2m.0 /sys/bus/platform/drivers/vim2m/unbind || return
	put vim2m.0 /sys/bus/platform/drivers/vim2m/bind || return
	F huntwork open /dev/video0
}

clean()
{
	[ -e /sys/bus/platform/drivers/vim2m/vim2m.0 ] || echo vim2m.0 > /sys/bus/platform/drivers/vim2m/bind
}
