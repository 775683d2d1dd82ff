# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: a camera
#
# modules: dummy_hcd libcomposite usb_f_uvc

. /qt/workloads/lib.sh

prepare()
{
	modprobe dummy_hcd
	mount -t configfs x /sys/kernel/config
	modprobe libcomposite && cd /sys/kernel/config/usb_gadget || return
}

work()
{
	F mkdir g || return
	F mkdir g/configs/c.1 || return
	F mkdir g/functions/uvc.0 || return
	cd g/functions/uvc.0 || return
	F mkdir control/header/h || return
	F ln -s /sys/kernel/config/usb_gadget/g/functions/uvc.0/control/header/h control/class/fs/h || return
	F mkdir streaming/uncompressed/u || return
	F mkdir streaming/uncompressed/u/360p || return
	put 640 streaming/uncompressed/u/360p/wWidth || return
	put 360 streaming/uncompressed/u/360p/wHeight || return
	put "666666 1000000" streaming/uncompressed/u/360p/dwFrameInterval || return
	F mkdir streaming/mjpeg/m || return
	F mkdir streaming/mjpeg/m/720p || return
	F mkdir streaming/header/h || return
	F ln -s /sys/kernel/config/usb_gadget/g/functions/uvc.0/streaming/uncompressed/u streaming/header/h/u || return
	F ln -s /sys/kernel/config/usb_gadget/g/functions/uvc.0/streaming/mjpeg/m streaming/header/h/m || return
	F ln -s /sys/kernel/config/usb_gadget/g/functions/uvc.0/streaming/header/h streaming/class/fs/h || return
	F ln -s /sys/kernel/config/usb_gadget/g/functions/uvc.0/streaming/header/h streaming/class/hs/h || return
	cd /sys/kernel/config/usb_gadget || return
	F ln -s /sys/kernel/config/usb_gadget/g/functions/uvc.0 g/configs/c.1/uvc || return
	put dummy_udc.0 g/UDC || return
	put "" g/UDC
}

clean()
{
	cd /sys/kernel/config/usb_gadget || return
	[ -e g ] || return 0
	[ -z "$(cat g/UDC)" ] || echo > g/UDC
	rm -f g/configs/c.1/uvc
	(
		cd g/functions/uvc.0 || exit
		rm -f streaming/class/*/h streaming/header/h/? control/class/*/h
		rmdir streaming/header/h streaming/uncompressed/u/360p streaming/mjpeg/m/720p
		rmdir streaming/uncompressed/u streaming/mjpeg/m control/header/h
	)
	rmdir g/functions/uvc.0
	rmdir g/configs/c.1
	rmdir g
}
