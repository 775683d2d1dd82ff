# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: serial lines
#
# programs: huntwork
# modules: dummy_hcd libcomposite usb_f_acm usb_f_serial usb_f_obex cdc-acm

. /qt/workloads/lib.sh

prepare()
{
	gadget acm.0 gser.0 obex.0 < /dev/null
}
