# SPDX-License-Identifier: GPL-2.0-only
#
# A sound card without hardware
#
# programs: huntwork
# modules: snd-dummy snd-pcm-oss snd-mixer-oss snd-seq

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps <<-'END'
	put /sys/bus/platform/drivers/snd_dummy/unbind snd_dummy.0
	put /sys/bus/platform/drivers/snd_dummy/bind snd_dummy.0
	open /dev/snd/controlC0
	open /dev/snd/pcmC0D0p
	open /dev/snd/pcmC0D0c
	open /dev/dsp
	open /dev/mixer
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	[ -e /sys/bus/platform/drivers/snd_dummy/snd_dummy.0 ] || echo snd_dummy.0 > /sys/bus/platform/drivers/snd_dummy/bind
}
