# SPDX-License-Identifier: GPL-2.0-only
#
# A driver registers for the upload of firmware, and there is no memory for the firmware.
#
# kernel-modules: lib/test_firmware.ko

prepare()
{
	insmod /modules/test_firmware.ko
	echo "func __allocate_fw_priv enable" > $FAULTS
}

once()
{
	printf image > /sys/devices/virtual/misc/test_firmware/upload_register
}
