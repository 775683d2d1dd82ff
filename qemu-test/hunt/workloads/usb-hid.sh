# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: a keyboard, MIDI, a printer
#
# programs: huntwork
# modules: dummy_hcd libcomposite usb_f_hid usb_f_midi usb_f_printer usbhid hid-generic usblp

. /qt/workloads/lib.sh

prepare()
{
	printf '\005\001\011\006\241\001\005\007\031\340\051\347\025\000\045\001\165\001\225\010\201\002\300' > /tmp/report
	gadget hid.0 midi.0 printer.0 <<-'END'
	put g/functions/hid.0/report_length 8
	put g/functions/hid.0/protocol 1
	copy g/functions/hid.0/report_desc /tmp/report
	put g/functions/midi.0/in_ports 2
	put g/functions/midi.0/id hunt
	put g/functions/printer.0/pnp_string text
	put g/functions/printer.0/q_len 5
	END
}
