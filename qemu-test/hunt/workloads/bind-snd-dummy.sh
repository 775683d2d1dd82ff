# SPDX-License-Identifier: GPL-2.0-only
#
# A sound card without hardware
#
# programs: huntwork
# modules: snd-dummy snd-pcm-oss snd-mixer-oss snd-seq

. /qt/workloads/lib.sh

work()
{
	put snd_dummy.0 /sys/bus/platform/drivers/snd_dummy/unbind || return
	put snd_dummy.0 /sys/bus/platform/drivers/snd_dummy/bind || return
	F huntwork open /dev/snd/controlC0 /dev/snd/pcmC0D0p /dev/snd/pcmC0D0c || return
	F huntwork open /dev/dsp /dev/mixer
}

clean()
{
	[ -e /sys/bus/platform/drivers/snd_dummy/snd_dummy.0 ] || echo snd_dummy.0 > /sys/bus/platform/drivers/snd_dummy/bind
}
