# SPDX-License-Identifier: GPL-2.0-only
#
# USB gadgets: a mass storage
#
# programs: huntwork
# modules: dummy_hcd libcomposite usb_f_mass_storage usb-storage sd_mod

. /qt/workloads/lib.sh

prepare()
{
	zeros /tmp/disk 4
	gadget mass_storage.0 <<-'END'
	put g/functions/mass_storage.0/lun.0/file /tmp/disk
	put g/functions/mass_storage.0/lun.0/removable 1
	END
}
