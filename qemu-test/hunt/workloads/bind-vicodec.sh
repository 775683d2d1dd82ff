# SPDX-License-Identifier: GPL-2.0-only
#
# Virtual video codecs
#
# programs: huntwork
# modules: vicodec

. /qt/workloads/lib.sh

work()
{
	put vicodec.0 /sys/bus/platform/drivers/vicodec/unbind || return
	put vicodec.0 /sys/bus/platform/drivers/vicodec/bind || return
	F huntwork open /dev/video0 /dev/video1 /dev/video2
}

clean()
{
	[ -e /sys/bus/platform/drivers/vicodec/vicodec.0 ] || echo vicodec.0 > /sys/bus/platform/drivers/vicodec/bind
}
