# SPDX-License-Identifier: GPL-2.0-only
#
# The virtual USB device controller, bound again
#
# modules: dummy_hcd

. /qt/workloads/lib.sh

work()
{
	put dummy_udc.0 /sys/bus/platform/drivers/dummy_udc/unbind || return
	put dummy_udc.0 /sys/bus/platform/drivers/dummy_udc/bind
}

clean()
{
	[ -e /sys/bus/platform/drivers/dummy_udc/dummy_udc.0 ] || echo dummy_udc.0 > /sys/bus/platform/drivers/dummy_udc/bind
}
