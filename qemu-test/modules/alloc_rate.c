// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocates and frees at a steady rate on every CPU: rate= pairs of kmalloc(64) and
 * kfree() a second on each CPU, for seconds= or until pairs= are done. Then it prints
 *
 *	alloc_rate: PAIRS MILLISECONDS
 *
 * to the console, for all CPUs together. A CPU that cannot keep up still makes all its
 * pairs, and takes longer.
 */
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>

#define SLICE_MS	4

static uint rate = 1000;
module_param(rate, uint, 0);
MODULE_PARM_DESC(rate, "pairs a second on each CPU");

static uint seconds = 1;
module_param(seconds, uint, 0);
MODULE_PARM_DESC(seconds, "duration");

static uint limit;
module_param_named(pairs, limit, uint, 0);
MODULE_PARM_DESC(pairs, "number on each CPU; overrides seconds");

static atomic64_t pairs;
static DECLARE_COMPLETION(all_done);

static void slice(u64 nr)
{
	u64 i;

	for (i = 0; i < nr; i++) {
		void *p = kmalloc(64, GFP_KERNEL);

		barrier_data(p);
		kfree(p);
	}
	atomic64_add(nr, &pairs);
}

static int worker(void *unused)
{
	ktime_t start = ktime_get();
	u64 done = 0, due, all = limit ?: (u64)rate * seconds;
	s64 ms;

	while (done < all) {
		ms = ktime_ms_delta(ktime_get(), start) + SLICE_MS;
		due = min(all, div_u64((u64)rate * ms, 1000));
		/* At most one slice at a time, so that the reader can run. */
		due = min(due, done + div_u64((u64)rate * SLICE_MS, 1000) + 1);
		slice(due - done);
		done = due;
		cond_resched();
		if (ktime_ms_delta(ktime_get(), start) < ms)
			usleep_range(1000, SLICE_MS * 1000);
	}
	/* The end of this call runs outside of the module, which may be unloaded. */
	kthread_complete_and_exit(&all_done, 0);
}

static int __init alloc_rate_init(void)
{
	ktime_t start = ktime_get();
	unsigned int cpu, running = 0;
	struct task_struct *t;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		t = kthread_create_on_cpu(worker, NULL, cpu, "alloc_rate/%u");
		if (IS_ERR(t))
			break;
		running++;
		wake_up_process(t);
	}
	cpus_read_unlock();
	while (running--)
		wait_for_completion(&all_done);
	pr_info("alloc_rate: %lld %lld\n", atomic64_read(&pairs),
		ktime_ms_delta(ktime_get(), start));
	return 0;
}
module_init(alloc_rate_init);

static void __exit alloc_rate_exit(void)
{
}
module_exit(alloc_rate_exit);

MODULE_DESCRIPTION("Allocations at a rate");
MODULE_LICENSE("GPL");
