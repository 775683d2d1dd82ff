# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: a camera
#
# programs: huntwork
# modules: dummy_hcd libcomposite usb_f_uvc

. /qt/workloads/lib.sh

prepare()
{
	modprobe dummy_hcd
	mount -t configfs x /sys/kernel/config
	modprobe libcomposite && cd /sys/kernel/config/usb_gadget || return
	cat > /tmp/steps1 <<-'END'
	mkdir g
	mkdir g/configs/c.1
	mkdir g/functions/uvc.0
	END
	cat > /tmp/steps2 <<-'END'
	mkdir control/header/h
	link control/class/fs/h /sys/kernel/config/usb_gadget/g/functions/uvc.0/control/header/h
	mkdir streaming/uncompressed/u
	mkdir streaming/uncompressed/u/360p
	put streaming/uncompressed/u/360p/wWidth 640
	put streaming/uncompressed/u/360p/wHeight 360
	put streaming/uncompressed/u/360p/dwFrameInterval 666666
	mkdir streaming/mjpeg/m
	mkdir streaming/mjpeg/m/720p
	mkdir streaming/header/h
	link streaming/header/h/u /sys/kernel/config/usb_gadget/g/functions/uvc.0/streaming/uncompressed/u
	link streaming/header/h/m /sys/kernel/config/usb_gadget/g/functions/uvc.0/streaming/mjpeg/m
	link streaming/class/fs/h /sys/kernel/config/usb_gadget/g/functions/uvc.0/streaming/header/h
	link streaming/class/hs/h /sys/kernel/config/usb_gadget/g/functions/uvc.0/streaming/header/h
	END
	cat > /tmp/steps3 <<-'END'
	link g/configs/c.1/uvc /sys/kernel/config/usb_gadget/g/functions/uvc.0
	- put g/UDC dummy_udc.0
	- put g/UDC
	END
}

work()
{
	F huntwork steps /tmp/steps1 || return
	cd g/functions/uvc.0 || return
	F huntwork steps /tmp/steps2 || return
	cd /sys/kernel/config/usb_gadget || return
	F huntwork steps /tmp/steps3
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
