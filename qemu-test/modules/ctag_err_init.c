// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module whose load always fails: its init returns a code of ERR(). The line of the
 * other code never runs.
 */
#include <linux/errname.h>
#include <linux/init.h>
#include <linux/module.h>

static bool other;
module_param(other, bool, 0);

static int __init err_init_init(void)
{
	if (other)
		return ERR(-ENXIO);
	return ERR(-ENODEV);
}
module_init(err_init_init);

MODULE_DESCRIPTION("An init that fails with an error code");
MODULE_LICENSE("GPL");
