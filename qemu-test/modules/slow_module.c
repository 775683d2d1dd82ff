// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slows down the module that name= selects. It waits twice, for ms= milliseconds: while it
 * loads, when it is in the list of modules but its jump labels are not known yet; and
 * while it unloads, when they are no longer known.
 */
#include <linux/delay.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/string.h>

static char *name = "";
module_param(name, charp, 0);
MODULE_PARM_DESC(name, "the module to slow down");

static uint ms = 1000;
module_param(ms, uint, 0);
MODULE_PARM_DESC(ms, "duration of each wait");

static int slow(unsigned long when, unsigned long event, const struct module *mod)
{
	if (event == when && !strcmp(mod->name, name))
		msleep(ms);
	return NOTIFY_DONE;
}

static int comes(struct notifier_block *unused, unsigned long event, void *mod)
{
	return slow(MODULE_STATE_COMING, event, mod);
}

static int goes(struct notifier_block *unused, unsigned long event, void *mod)
{
	return slow(MODULE_STATE_GOING, event, mod);
}

/* The notifier of jump labels has priority 1. */
static struct notifier_block first = { .notifier_call = comes, .priority = INT_MAX };
static struct notifier_block last = { .notifier_call = goes, .priority = INT_MIN };

static int __init slow_module_init(void)
{
	int err = register_module_notifier(&first);

	if (err)
		return err;
	err = register_module_notifier(&last);
	if (err)
		unregister_module_notifier(&first);
	return err;
}
module_init(slow_module_init);

static void __exit slow_module_exit(void)
{
	unregister_module_notifier(&last);
	unregister_module_notifier(&first);
}
module_exit(slow_module_exit);

MODULE_DESCRIPTION("Lets another module come and go slowly");
MODULE_LICENSE("GPL");
