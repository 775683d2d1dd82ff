# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: loopback, source and sink
#
# programs: huntwork
# modules: dummy_hcd libcomposite usb_f_ss_lb

. /qt/workloads/lib.sh

prepare()
{
	gadget Loopback.0 SourceSink.0 <<-'END'
	put g/functions/Loopback.0/qlen 4
	put g/functions/SourceSink.0/isoc_maxpacket 512
	END
}
