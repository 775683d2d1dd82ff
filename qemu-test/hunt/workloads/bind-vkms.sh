# SPDX-License-Identifier: GPL-2.0-only
#
# A virtual display
#
# modules: vkms

. /qt/workloads/lib.sh

work()
{
	put vkms /sys/bus/platform/drivers/vkms/unbind || return
	put vkms /sys/bus/platform/drivers/vkms/bind
}

clean()
{
	[ -e /sys/bus/platform/drivers/vkms/vkms ] || echo vkms > /sys/bus/platform/drivers/vkms/bind
}
