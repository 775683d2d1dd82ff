# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadget: sound cards of versions 1 and 2. They need isochronous endpoints, which dummy_udc lacks,
# so binding them fails behind most of their allocations.
#
# programs: huntwork
# modules: dummy_hcd libcomposite usb_f_uac1 usb_f_uac2

. /qt/workloads/lib.sh

prepare()
{
	MAY_FAIL="- "
	gadget uac2.0 uac1.0 <<-'END'
	put g/functions/uac2.0/c_srate 44100,48000
	put g/functions/uac2.0/req_number 4
	put g/functions/uac1.0/p_chmask 3
	END
}
