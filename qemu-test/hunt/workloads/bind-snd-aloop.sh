# SPDX-License-Identifier: GPL-2.0-only
#
# A sound card that is a loopback
#
# programs: huntwork
# modules: snd-aloop snd-hrtimer

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps <<-'END'
	put /sys/bus/platform/drivers/snd_aloop/unbind snd_aloop.0
	put /sys/bus/platform/drivers/snd_aloop/bind snd_aloop.0
	open /dev/snd/pcmC0D0p
	open /dev/snd/pcmC0D1c
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	[ -e /sys/bus/platform/drivers/snd_aloop/snd_aloop.0 ] || echo snd_aloop.0 > /sys/bus/platform/drivers/snd_aloop/bind
}
