# SPDX-License-Identifier: GPL-2.0-only
#
# Virtual MIDI devices
#
# programs: huntwork
# modules: snd-virmidi snd-seq-midi snd-rawmidi

. /qt/workloads/lib.sh

prepare()
{
	cat > /tmp/steps <<-'END'
	put /sys/bus/platform/drivers/snd_virmidi/unbind snd_virmidi.0
	put /sys/bus/platform/drivers/snd_virmidi/bind snd_virmidi.0
	open /dev/snd/midiC0D0
	open /dev/snd/midiC0D1
	END
}

work()
{
	F huntwork steps /tmp/steps
}

clean()
{
	[ -e /sys/bus/platform/drivers/snd_virmidi/snd_virmidi.0 ] || echo snd_virmidi.0 > /sys/bus/platform/drivers/snd_virmidi/bind
}
