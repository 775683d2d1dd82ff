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
	cat > /tmp/steps <<-'END'
	put /sys/bus/platform/drivers/vivid/unbind vivid.0
	put /sys/bus/platform/drivers/vivid/bind vivid.0
	open /dev/video0
	open /dev/video1
	open /dev/radio0
	open /dev/vbi0
	END
}

work()
{
	F huntwork steps /tmp/steps || return
	F huntwork ioctl /dev/video0 -with 0x80685600 00 -with 0xc0145608 04000000.01000000.01000000 -map 4096
}

clean()
{
	[ -e /sys/bus/platform/drivers/vivid/vivid.0 ] || echo vivid.0 > /sys/bus/platform/drivers/vivid/bind
}
