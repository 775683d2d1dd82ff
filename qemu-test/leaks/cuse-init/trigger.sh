# SPDX-License-Identifier: GPL-2.0-only
#
# A character device in user space is set up, and its last allocation fails.

prepare()
{
	echo "func cdev_alloc enable task trigger" > $FAULTS
}

once()
{
	trigger cuse
}
