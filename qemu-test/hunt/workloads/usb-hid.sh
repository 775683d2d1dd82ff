# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: a keyboard, MIDI, a printer
#
# modules: dummy_hcd libcomposite usb_f_hid usb_f_midi usb_f_printer usbhid hid-generic snd-usb-audio usblp

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
	put 0x1d6b g/idVendor || return
	put 0x0104 g/idProduct || return
	F mkdir g/strings/0x409 || return
	put hunt g/strings/0x409/manufacturer || return
	F mkdir g/configs/c.1 || return
	F mkdir g/configs/c.1/strings/0x409 || return
	put first g/configs/c.1/strings/0x409/configuration || return
	F mkdir g/functions/hid.0 || return
	put 8 g/functions/hid.0/report_length || return
	put 1 g/functions/hid.0/protocol || return
	F sh -c "printf '\005\001\011\006\241\001\005\007\031\340\051\347\025\000\045\001\165\001\225\010\201\002\300' > g/functions/hid.0/report_desc" || return
	F ln -s /sys/kernel/config/usb_gadget/g/functions/hid.0 g/configs/c.1/hid.0 || return
	F mkdir g/functions/midi.0 || return
	put 2 g/functions/midi.0/in_ports || return
	put hunt g/functions/midi.0/id || return
	F ln -s /sys/kernel/config/usb_gadget/g/functions/midi.0 g/configs/c.1/midi.0 || return
	F mkdir g/functions/printer.0 || return
	put text g/functions/printer.0/pnp_string || return
	put 5 g/functions/printer.0/q_len || return
	F ln -s /sys/kernel/config/usb_gadget/g/functions/printer.0 g/configs/c.1/printer.0 || return
	put dummy_udc.0 g/UDC || return
	put "" g/UDC || return
	F rm g/configs/c.1/hid.0 || return
	F rmdir g/functions/hid.0 || return
	F rm g/configs/c.1/midi.0 || return
	F rmdir g/functions/midi.0 || return
	F rm g/configs/c.1/printer.0 || return
	F rmdir g/functions/printer.0 || return
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
