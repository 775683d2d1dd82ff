// SPDX-License-Identifier: GPL-2.0-only
/*
 * Twenty call sites that leak while the module is loaded: one for each shape and rate.
 *
 * The function of a call site has both in its name: leak_bursts_100() loses 100 bytes a
 * second on average, in bursts. rmmod frees everything, so the guest stays balanced.
 */
#include <linux/bug.h>
#include <linux/fixp-arith.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#define OBJECT_SIZE	256
#define STEP_S		900
#define BURST_EVERY_S	300
#define BURST_S		10
#define DAY_S		86400

struct object {
	struct list_head list;
};

struct leak {
	struct object *(*alloc)(void);
	u64 (*lost)(u32 rate, u32 second);
	u32 rate;
	u64 owed;
};

static LIST_HEAD(leaked);
static time64_t before;
/* the second of the day in which the module was loaded differs from run to run */
static u32 phase;

/* Bytes that are lost in a second */

static u64 steady_lost(u32 rate, u32 second)
{
	return rate;
}

static u64 steps_lost(u32 rate, u32 second)
{
	return second % STEP_S ? 0 : (u64)rate * STEP_S;
}

static u64 bursts_lost(u32 rate, u32 second)
{
	return second % BURST_EVERY_S < BURST_S ? (u64)rate * (BURST_EVERY_S / BURST_S) : 0;
}

static u64 daily_lost(u32 rate, u32 second)
{
	return rate + ((s64)rate * fixp_sin32_rad(second % DAY_S, DAY_S) >> 31);
}

#define FOR_EACH_LEAK(X)							\
	X(steady, 10) X(steady, 100) X(steady, 1000) X(steady, 10000) X(steady, 100000)	\
	X(steps, 10) X(steps, 100) X(steps, 1000) X(steps, 10000) X(steps, 100000)	\
	X(bursts, 10) X(bursts, 100) X(bursts, 1000) X(bursts, 10000) X(bursts, 100000)	\
	X(daily, 10) X(daily, 100) X(daily, 1000) X(daily, 10000) X(daily, 100000)

#define DEFINE_LEAK(shape, bytes)						\
static noinline struct object *leak_##shape##_##bytes(void)			\
{										\
	return kmalloc(OBJECT_SIZE, GFP_KERNEL);				\
}

#define LEAK_ENTRY(shape, bytes) { leak_##shape##_##bytes, shape##_lost, bytes, 0 },

FOR_EACH_LEAK(DEFINE_LEAK)

static struct leak leaks[] = { FOR_EACH_LEAK(LEAK_ENTRY) };

static void lose(struct leak *leak)
{
	struct object *object;

	for (; leak->owed >= OBJECT_SIZE; leak->owed -= OBJECT_SIZE) {
		object = leak->alloc();
		if (!object)
			return;
		list_add_tail(&object->list, &leaked);
	}
}

static void work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(leak_work, work_fn);

static void work_fn(struct work_struct *work)
{
	time64_t now = ktime_get_seconds();
	int i;

	/* the work may be late */
	while (before < now) {
		before++;
		phase++;
		for (i = 0; i < ARRAY_SIZE(leaks); i++)
			leaks[i].owed += leaks[i].lost(leaks[i].rate, phase);
	}
	for (i = 0; i < ARRAY_SIZE(leaks); i++)
		lose(&leaks[i]);
	schedule_delayed_work(&leak_work, HZ);
}

static int __init leaks_init(void)
{
	phase = prandom_u32_max(DAY_S);
	pr_info("second %u of the day\n", phase);
	before = ktime_get_seconds();
	schedule_delayed_work(&leak_work, 0);
	return 0;
}
module_init(leaks_init);

static void __exit leaks_exit(void)
{
	struct object *object, *next;

	cancel_delayed_work_sync(&leak_work);
	list_for_each_entry_safe(object, next, &leaked, list)
		kfree(object);
}
module_exit(leaks_exit);

MODULE_DESCRIPTION("Leaks of known shapes and rates");
MODULE_LICENSE("GPL");
