# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: a mass storage
#
# programs: huntwork
# modules: dummy_hcd libcomposite usb_f_mass_storage usb-storage sd_mod

. /qt/workloads/lib.sh

prepare()
{
	modprobe dummy_hcd
	mount -t configfs x /sys/kernel/config
	modprobe libcomposite && cd /sys/kernel/config/usb_gadget && zeros /tmp/disk 4 || return
	cat > /tmp/steps <<-'END'
	mkdir g
	put g/idVendor 0x1d6b
	put g/idProduct 0x0104
	mkdir g/strings/0x409
	put g/strings/0x409/manufacturer hunt
	mkdir g/configs/c.1
	mkdir g/configs/c.1/strings/0x409
	put g/configs/c.1/strings/0x409/configuration first
	mkdir g/functions/mass_storage.0
	put g/functions/mass_storage.0/lun.0/file /tmp/disk
	put g/functions/mass_storage.0/lun.0/removable 1
	link g/configs/c.1/mass_storage.0 /sys/kernel/config/usb_gadget/g/functions/mass_storage.0
	put g/UDC dummy_udc.0
	put g/UDC
	rm g/configs/c.1/mass_storage.0
	rmdir g/functions/mass_storage.0
	rmdir g/configs/c.1/strings/0x409
	rmdir g/configs/c.1
	rmdir g/strings/0x409
	rmdir g
	END
}

work()
{
	F huntwork steps /tmp/steps
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
