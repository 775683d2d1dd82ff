// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hundred messages of dynamic debug: ten functions with ten messages, the tenth of
 * each in a class. Used to measure the size of a module, and as call sites for queries.
 * A write to /sys/module/dd_sites/parameters/say prints all of them.
 */
#define pr_fmt(fmt) "dd_sites: " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>

#ifdef CONFIG_DYNAMIC_DEBUG
#include <linux/dynamic_debug.h>

DECLARE_DYNDBG_CLASSMAP(dd_classes, DD_CLASS_TYPE_DISJOINT_BITS, 0,
			"DD_ONE", "DD_TWO");
static unsigned long dd_bits;
static struct ddebug_class_param dd_param = {
	.bits	= &dd_bits,
	.flags	= "p",
	.map	= &dd_classes,
};
module_param_cb(classes, &param_ops_dyndbg_classes, &dd_param, 0600);

#define dd_class(_class, ...)	__pr_debug_cls(_class, __VA_ARGS__)
#else
#define dd_class(_class, ...)	pr_debug(__VA_ARGS__)
#endif

#define DD_TEN(_n, _class)						\
static noinline void dd_say_##_n(void)					\
{									\
	pr_debug("%s 1 of 10\n", #_n);					\
	pr_debug("%s 2 of 10\n", #_n);					\
	pr_debug("%s 3 of 10\n", #_n);					\
	pr_debug("%s 4 of 10\n", #_n);					\
	pr_debug("%s 5 of 10\n", #_n);					\
	pr_debug("%s 6 of 10\n", #_n);					\
	pr_debug("%s 7 of 10\n", #_n);					\
	pr_debug("%s 8 of 10\n", #_n);					\
	pr_debug("%s 9 of 10\n", #_n);					\
	dd_class(_class, #_n " the last\n");				\
}

DD_TEN(zero, 0)
DD_TEN(one, 1)
DD_TEN(two, 0)
DD_TEN(three, 1)
DD_TEN(four, 0)
DD_TEN(five, 1)
DD_TEN(six, 0)
DD_TEN(seven, 1)
DD_TEN(eight, 0)
DD_TEN(nine, 1)

static int dd_say(const char *val, const struct kernel_param *kp)
{
	dd_say_zero();
	dd_say_one();
	dd_say_two();
	dd_say_three();
	dd_say_four();
	dd_say_five();
	dd_say_six();
	dd_say_seven();
	dd_say_eight();
	dd_say_nine();
	return 0;
}

static const struct kernel_param_ops dd_say_ops = {
	.flags	= KERNEL_PARAM_OPS_FL_NOARG,
	.set	= dd_say,
};
module_param_cb(say, &dd_say_ops, NULL, 0200);

MODULE_DESCRIPTION("A hundred messages of dynamic debug");
MODULE_LICENSE("GPL");
