# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: network devices
#
# programs: huntwork
# modules: dummy_hcd libcomposite usb_f_ecm usb_f_rndis usb_f_ncm

. /qt/workloads/lib.sh

prepare()
{
	gadget ecm.0 rndis.0 ncm.0 <<-'END'
	put g/functions/ecm.0/qmult 5
	put g/functions/ecm.0/ifname u%d
	END
}
