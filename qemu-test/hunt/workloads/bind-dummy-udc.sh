# SPDX-License-Identifier: GPL-2.0-only
#
# The virtual USB device controller, bound again
#
# programs: huntwork
# modules: dummy_hcd

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps <<-'END'
	put /sys/bus/platform/drivers/dummy_udc/unbind dummy_udc.0
	put /sys/bus/platform/drivers/dummy_udc/bind dummy_udc.0
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	[ -e /sys/bus/platform/drivers/dummy_udc/dummy_udc.0 ] || echo dummy_udc.0 > /sys/bus/platform/drivers/dummy_udc/bind
}
