# SPDX-License-Identifier: GPL-2.0-only
#
# The virtual USB controller, bound again
#
# programs: huntwork
# modules: dummy_hcd

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps <<-'END'
	put /sys/bus/platform/drivers/dummy_hcd/unbind dummy_hcd.0
	put /sys/bus/platform/drivers/dummy_hcd/bind dummy_hcd.0
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	[ -e /sys/bus/platform/drivers/dummy_hcd/dummy_hcd.0 ] || echo dummy_hcd.0 > /sys/bus/platform/drivers/dummy_hcd/bind
}
