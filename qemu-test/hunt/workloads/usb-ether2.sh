# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: other network devices
#
# programs: huntwork
# modules: dummy_hcd libcomposite usb_f_eem usb_f_ecm_subset usb_f_phonet

. /qt/workloads/lib.sh

prepare()
{
	gadget eem.0 geth.0 phonet.0 < /dev/null
}
