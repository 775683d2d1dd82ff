# SPDX-License-Identifier: GPL-2.0-only
#
# The virtual USB controller, bound again
#
# modules: dummy_hcd

. /qt/workloads/lib.sh

work()
{
	put dummy_hcd.0 /sys/bus/platform/drivers/dummy_hcd/unbind || return
	put dummy_hcd.0 /sys/bus/platform/drivers/dummy_hcd/bind
}

clean()
{
	[ -e /sys/bus/platform/drivers/dummy_hcd/dummy_hcd.0 ] || echo dummy_hcd.0 > /sys/bus/platform/drivers/dummy_hcd/bind
}
