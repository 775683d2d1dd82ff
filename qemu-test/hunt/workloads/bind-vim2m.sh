# SPDX-License-Identifier: GPL-2.0-only
#
# Virtual devices that convert from memory to memory
#
# programs: huntwork
# modules: vim2m

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps <<-'END'
	put /sys/bus/platform/drivers/vim2m/unbind vim2m.0
	put /sys/bus/platform/drivers/vim2m/bind vim2m.0
	open /dev/video0
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	[ -e /sys/bus/platform/drivers/vim2m/vim2m.0 ] || echo vim2m.0 > /sys/bus/platform/drivers/vim2m/bind
}
