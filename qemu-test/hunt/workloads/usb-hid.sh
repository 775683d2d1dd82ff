# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: a keyboard, MIDI, a printer
#
# programs: huntwork
# modules: dummy_hcd libcomposite usb_f_hid usb_f_midi usb_f_printer usbhid hid-generic usblp

. /qt/workloads/lib.sh

prepare()
{
	modprobe dummy_hcd
	mount -t configfs x /sys/kernel/config
	modprobe libcomposite && cd /sys/kernel/config/usb_gadget || return
	cat > /tmp/steps1 <<-'END'
	mkdir g
	put g/idVendor 0x1d6b
	put g/idProduct 0x0104
	mkdir g/strings/0x409
	put g/strings/0x409/manufacturer hunt
	mkdir g/configs/c.1
	mkdir g/configs/c.1/strings/0x409
	put g/configs/c.1/strings/0x409/configuration first
	mkdir g/functions/hid.0
	put g/functions/hid.0/report_length 8
	put g/functions/hid.0/protocol 1
	END
	cat > /tmp/steps2 <<-'END'
	link g/configs/c.1/hid.0 /sys/kernel/config/usb_gadget/g/functions/hid.0
	mkdir g/functions/midi.0
	put g/functions/midi.0/in_ports 2
	put g/functions/midi.0/id hunt
	link g/configs/c.1/midi.0 /sys/kernel/config/usb_gadget/g/functions/midi.0
	mkdir g/functions/printer.0
	put g/functions/printer.0/pnp_string text
	put g/functions/printer.0/q_len 5
	link g/configs/c.1/printer.0 /sys/kernel/config/usb_gadget/g/functions/printer.0
	put g/UDC dummy_udc.0
	put g/UDC
	rm g/configs/c.1/hid.0
	rmdir g/functions/hid.0
	rm g/configs/c.1/midi.0
	rmdir g/functions/midi.0
	rm g/configs/c.1/printer.0
	rmdir g/functions/printer.0
	rmdir g/configs/c.1/strings/0x409
	rmdir g/configs/c.1
	rmdir g/strings/0x409
	rmdir g
	END
}

work()
{
	F huntwork steps /tmp/steps1 || return
	F sh -c "printf '\005\001\011\006\241\001\005\007\031\340\051\347\025\000\045\001\165\001\225\010\201\002\300' > g/functions/hid.0/report_desc" || return
	F huntwork steps /tmp/steps2
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
