# SPDX-License-Identifier: GPL-2.0-only
#
# Virtual video codecs
#
# programs: huntwork
# modules: vicodec

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps <<-'END'
	put /sys/bus/platform/drivers/vicodec/unbind vicodec.0
	put /sys/bus/platform/drivers/vicodec/bind vicodec.0
	open /dev/video0
	open /dev/video1
	open /dev/video2
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	[ -e /sys/bus/platform/drivers/vicodec/vicodec.0 ] || echo vicodec.0 > /sys/bus/platform/drivers/vicodec/bind
}
