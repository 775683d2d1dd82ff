# SPDX-License-Identifier: GPL-2.0-only
#
# Virtual video devices: capture, output, radio, VBI, touch, metadata
#
# programs: huntwork
# modules: vivid

. /qt/workloads/lib.sh

prepare()
{
	modprobe vivid n_devs=1 node_types=0xffffff
}

work()
{
	put vivid.0 /sys/bus/platform/drivers/vivid/unbind || return
	put vivid.0 /sys/bus/platform/drivers/vivid/bind || return
	F huntwork open /dev/video0 /dev/video1 /dev/radio0 /dev/vbi0 || return
	F huntwork ioctl /dev/video0 -with 0x80685600 00 -with 0xc0145608 04000000.01000000.01000000 -map 4096
}

clean()
{
	[ -e /sys/bus/platform/drivers/vivid/vivid.0 ] || echo vivid.0 > /sys/bus/platform/drivers/vivid/bind
}
