# SPDX-License-Identifier: GPL-2.0-only
#
# A virtual media controller with its pipeline
#
# programs: huntwork
# modules: vimc

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps <<-'END'
	put /sys/bus/platform/drivers/vimc/unbind vimc.0
	put /sys/bus/platform/drivers/vimc/bind vimc.0
	open /dev/media0
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	[ -e /sys/bus/platform/drivers/vimc/vimc.0 ] || echo vimc.0 > /sys/bus/platform/drivers/vimc/bind
}
