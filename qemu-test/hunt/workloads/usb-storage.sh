# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: a mass storage with two disks
#
# modules: dummy_hcd libcomposite usb_f_mass_storage usb-storage sd_mod

. /qt/workloads/lib.sh

prepare()
{
	modprobe dummy_hcd
	mount -t configfs x /sys/kernel/config
	modprobe libcomposite && cd /sys/kernel/config/usb_gadget && zeros /tmp/disk 4
}

work()
{
	F mkdir g || return
	put 0x1d6b g/idVendor || return
	put 0x0104 g/idProduct || return
	F mkdir g/strings/0x409 || return
	put hunt g/strings/0x409/manufacturer || return
	F mkdir g/configs/c.1 || return
	F mkdir g/configs/c.1/strings/0x409 || return
	put first g/configs/c.1/strings/0x409/configuration || return
	F mkdir g/functions/mass_storage.0 || return
	put /tmp/disk g/functions/mass_storage.0/lun.0/file || return
	put 1 g/functions/mass_storage.0/lun.0/removable || return
	F ln -s /sys/kernel/config/usb_gadget/g/functions/mass_storage.0 g/configs/c.1/mass_storage.0 || return
	put dummy_udc.0 g/UDC || return
	put "" g/UDC || return
	F rm g/configs/c.1/mass_storage.0 || return
	F rmdir g/functions/mass_storage.0 || return
	F rmdir g/configs/c.1/strings/0x409 g/configs/c.1 g/strings/0x409 g
}

clean()
{
	[ -e g ] || return 0
	[ -z "$(cat g/UDC)" ] || echo > g/UDC
	for function in g/functions/*; do
		[ -e "$function" ] || break
		rm -f "g/configs/c.1/${function##*/}"
		rmdir "$function"
	done
	rmdir g/configs/c.1/strings/0x409
	rmdir g/configs/c.1
	rmdir g/strings/0x409
	rmdir g
}
