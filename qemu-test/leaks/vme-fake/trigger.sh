# SPDX-License-Identifier: GPL-2.0-only
#
# A driver is loaded and unloaded.
#
# kernel-modules: drivers/staging/vme_user/vme_fake.ko

once()
{
	insmod /modules/vme_fake.ko
	rmmod vme_fake
}
