# SPDX-License-Identifier: GPL-2.0-only
#
# DRM devices without hardware: files, buffers, objects
#
# programs: huntwork
# modules: vkms vgem

. /qt/workloads/lib.sh

prepare()
{
	modprobe vkms
	modprobe vgem
	device_there /dev/dri/card1
}

work()
{
	F huntwork open /dev/dri/card0 /dev/dri/card1 || return
	F huntwork ioctl /dev/dri/card0 with 0xc02064b2 40000000.40000000.20000000.00000000 -with 0xc00864bf 00 || return
	F huntwork ioctl /dev/dri/card0 with 0x4010640d 0200000000000000.0100000000000000 -with 0xc04064a0 00 -with 0xc01064b5 00 || return
	F huntwork ioctl /dev/dri/card1 with 0xc02064b2 40000000.40000000.20000000.00000000
}
