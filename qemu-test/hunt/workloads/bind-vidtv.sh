# SPDX-License-Identifier: GPL-2.0-only
#
# A virtual tuner and demodulator of digital television
#
# programs: huntwork
# modules: dvb-vidtv-bridge dvb-vidtv-tuner dvb-vidtv-demod

. /qt/workloads/lib.sh

work()
{
	put vidtv_bridge.0 /sys/bus/platform/drivers/vidtv_bridge/unbind || return
	put vidtv_bridge.0 /sys/bus/platform/drivers/vidtv_bridge/bind || return
	F huntwork open /dev/dvb/adapter0/frontend0 /dev/dvb/adapter0/demux0 /dev/dvb/adapter0/dvr0
}

clean()
{
	[ -e /sys/bus/platform/drivers/vidtv_bridge/vidtv_bridge.0 ] || echo vidtv_bridge.0 > /sys/bus/platform/drivers/vidtv_bridge/bind
}
