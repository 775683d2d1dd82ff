# SPDX-License-Identifier: GPL-2.0-only
#
# A virtual tuner and demodulator of digital television
#
# programs: huntwork
# modules: dvb-vidtv-bridge dvb-vidtv-tuner dvb-vidtv-demod

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps <<-'END'
	put /sys/bus/platform/drivers/vidtv/unbind vidtv.0
	put /sys/bus/platform/drivers/vidtv/bind vidtv.0
	open /dev/dvb/adapter0/frontend0
	open /dev/dvb/adapter0/demux0
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	[ -e /sys/bus/platform/drivers/vidtv/vidtv.0 ] || echo vidtv.0 > /sys/bus/platform/drivers/vidtv/bind
}
