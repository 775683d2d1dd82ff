// SPDX-License-Identifier: GPL-2.0-only
/*
 * Leaks memory while it is loaded: insmod ctag_leak.ko rate=4096 size=256
 *
 * leaky_request() allocates objects of that size, as many as make the rate, and never frees
 * them, or with leak=0 after some time; leaky_noise() allocates as many and frees them at
 * once. rmmod frees everything, so the guest stays balanced.
 */
#include <linux/jiffies.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#define PERIOD_MS	100
/* without a leak: the most objects, as in a cache */
#define CACHED		200

static unsigned int rate = 4096;
module_param(rate, uint, 0);
MODULE_PARM_DESC(rate, "bytes a second");

static unsigned int size = 256;
module_param(size, uint, 0);
MODULE_PARM_DESC(size, "bytes of an object");

static bool leak = true;
module_param(leak, bool, 0);
MODULE_PARM_DESC(leak, "free no object");

struct object {
	struct list_head list;
};

static LIST_HEAD(leaked);
static unsigned int owed, held;
static unsigned long before;

static noinline void leaky_request(void)
{
	struct object *object = kmalloc(size, GFP_KERNEL);

	if (!object)
		return;
	list_add_tail(&object->list, &leaked);
	if (leak || held++ < CACHED)
		return;
	object = list_first_entry(&leaked, struct object, list);
	list_del(&object->list);
	kfree(object);
}

static noinline void leaky_noise(void)
{
	kfree(kmalloc(size, GFP_KERNEL));
}

static void work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(leak_work, work_fn);

static void work_fn(struct work_struct *work)
{
	unsigned long now = jiffies;

	/* the work may be late */
	owed += div_u64((u64)rate * jiffies_to_msecs(now - before), 1000);
	before = now;
	for (; owed >= size; owed -= size) {
		leaky_request();
		leaky_noise();
	}
	schedule_delayed_work(&leak_work, msecs_to_jiffies(PERIOD_MS));
}

static int __init leak_init(void)
{
	if (size < sizeof(struct object) || size > PAGE_SIZE)
		return -EINVAL;
	before = jiffies;
	schedule_delayed_work(&leak_work, 0);
	return 0;
}
module_init(leak_init);

static void __exit leak_exit(void)
{
	struct object *object, *next;

	cancel_delayed_work_sync(&leak_work);
	list_for_each_entry_safe(object, next, &leaked, list)
		kfree(object);
}
module_exit(leak_exit);

MODULE_DESCRIPTION("A leak of a known rate");
MODULE_LICENSE("GPL");
