# SPDX-License-Identifier: GPL-2.0-only
#
# A sound card that is a loopback
#
# programs: huntwork
# modules: snd-aloop snd-hrtimer

. /qt/workloads/lib.sh

work()
{
	put snd_aloop.0 /sys/bus/platform/drivers/snd_aloop/unbind || return
	put snd_aloop.0 /sys/bus/platform/drivers/snd_aloop/bind || return
	F huntwork open /dev/snd/pcmC0D0p /dev/snd/pcmC0D1c
}

clean()
{
	[ -e /sys/bus/platform/drivers/snd_aloop/snd_aloop.0 ] || echo snd_aloop.0 > /sys/bus/platform/drivers/snd_aloop/bind
}
