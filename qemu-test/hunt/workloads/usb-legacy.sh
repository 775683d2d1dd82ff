# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets of the old kind, as modules with parameters
#
# modules: dummy_hcd libcomposite usb_f_ss_lb usb_f_acm usb_f_serial usb_f_obex usb_f_mass_storage usb_f_printer usb_f_midi usb_f_uac2 usb_f_uvc usb_f_rndis usb_f_ecm

. /qt/workloads/lib.sh

prepare()
{
	modprobe dummy_hcd
	zeros /tmp/disk 4
}

work()
{
	F modprobe g_zero qlen=4 || return
	F rmmod g_zero || return
	F modprobe g_serial n_ports=2 || return
	F rmmod g_serial || return
	F modprobe g_mass_storage file=/tmp/disk || return
	F rmmod g_mass_storage || return
	F modprobe g_printer || return
	F rmmod g_printer || return
	F modprobe g_midi || return
	F rmmod g_midi || return
	F modprobe g_audio || return
	F rmmod g_audio || return
	F modprobe g_webcam || return
	F rmmod g_webcam || return
	F modprobe g_multi file=/tmp/disk || return
	F rmmod g_multi
}

clean()
{
	for gadget in g_zero g_serial g_mass_storage g_printer g_midi g_audio g_webcam g_multi; do
		[ ! -e /sys/module/$gadget ] || rmmod $gadget || return
	done
}
