# SPDX-License-Identifier: GPL-2.0-only
#
# A virtual display
#
# programs: huntwork
# modules: vkms

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps <<-'END'
	put /sys/bus/platform/drivers/vkms/unbind vkms
	put /sys/bus/platform/drivers/vkms/bind vkms
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	[ -e /sys/bus/platform/drivers/vkms/vkms ] || echo vkms > /sys/bus/platform/drivers/vkms/bind
}
