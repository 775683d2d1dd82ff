# SPDX-License-Identifier: GPL-2.0-only
#
# Remote controls: a loopback device, LIRC, consumer electronics control. Modules of hunt-more.config.
#
# programs: huntwork
# modules: rc-loopback ir-nec-decoder ir-rc5-decoder ir-rc6-decoder ir-jvc-decoder ir-sony-decoder ir-sanyo-decoder ir-sharp-decoder ir-mce_kbd-decoder ir-xmp-decoder ir-imon-decoder ir-rcmm-decoder

. /qt/workloads/lib.sh

prepare()
{
	modprobe rc-loopback
	return 0
}

work()
{
	F huntwork ioctl /dev/lirc0 -with 0x80046900 00 -with 0x40046911 02000000 || return
	put /sys/class/rc/rc0/protocols "+rc-5 +nec" || return
	put /sys/class/rc/rc0/protocols "none" || return
	# modprobe -r also tries to unload rc-core. The decoders use rc-core, so it would fail.
	F rmmod rc-loopback || return
	F modprobe rc-loopback
}

clean()
{
	[ -e /sys/class/rc/rc0 ] || modprobe rc-loopback
}
