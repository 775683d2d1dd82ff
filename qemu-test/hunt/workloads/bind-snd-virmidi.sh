# SPDX-License-Identifier: GPL-2.0-only
#
# Virtual MIDI devices
#
# programs: huntwork
# modules: snd-virmidi snd-seq-midi snd-rawmidi

. /qt/workloads/lib.sh

work()
{
	put snd_virmidi.0 /sys/bus/platform/drivers/snd_virmidi/unbind || return
	put snd_virmidi.0 /sys/bus/platform/drivers/snd_virmidi/bind || return
	F huntwork open /dev/snd/midiC0D0 /dev/snd/midiC0D1
}

clean()
{
	[ -e /sys/bus/platform/drivers/snd_virmidi/snd_virmidi.0 ] || echo snd_virmidi.0 > /sys/bus/platform/drivers/snd_virmidi/bind
}
