# SPDX-License-Identifier: GPL-2.0-only
#
# A keyboard is added to a USB gadget, and there is no memory for its name.

prepare()
{
	mount -t configfs none /sys/kernel/config
	cd /sys/kernel/config/usb_gadget
	mkdir g g/functions/hid.0 g/configs/c.1
	echo 8 > g/functions/hid.0/report_length
	cd g
}

once()
{
	echo "func kobject_set_name_vargs enable" > $FAULTS
	ln -s functions/hid.0 configs/c.1/hid
	echo disable > $FAULTS
}
