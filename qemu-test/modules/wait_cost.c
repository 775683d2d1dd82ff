// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of a wait that does not sleep: when loaded, it prints one line per
 * case to the console, "wait_cost: CASE COST", and does not stay loaded. For a guest with
 * one CPU under -icount, where a cycle is an instruction. Works on any kernel.
 */
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#define BATCH		64
#define BATCHES		64

static DECLARE_WAIT_QUEUE_HEAD(queue);

/*
 * Each case is a function that prints nothing and whose caller is unknown to the compiler.
 * Otherwise the compiler takes code after a printk(), or code that only __init code calls,
 * for cold, and compiles it for size.
 */
#define CASE(_func, _wait)						\
static long _func(void *unused)						\
{									\
	u64 start, took, best = U64_MAX;				\
	unsigned int round, n;						\
	unsigned long flags;						\
	DEFINE_WAIT(wait);						\
									\
	for (n = 0; n < BATCH; n++)					\
		_wait(&wait);						\
	msleep(50);							\
	for (round = 0; round < BATCHES; round++) {			\
		local_irq_save(flags);					\
		start = get_cycles();					\
		for (n = 0; n < BATCH; n++)				\
			_wait(&wait);					\
		took = get_cycles() - start;				\
		local_irq_restore(flags);				\
		best = min(best, took);					\
	}								\
	return div_u64(best, BATCH);					\
}

static __always_inline void prepare_finish(struct wait_queue_entry *wait)
{
	prepare_to_wait(&queue, wait, TASK_UNINTERRUPTIBLE);
	finish_wait(&queue, wait);
}

static __always_inline void define_prepare_finish(struct wait_queue_entry *unused)
{
	DEFINE_WAIT(wait);

	prepare_to_wait(&queue, &wait, TASK_UNINTERRUPTIBLE);
	finish_wait(&queue, &wait);
}

static __always_inline void init_event_finish(struct wait_queue_entry *wait)
{
	init_wait_entry(wait, 0);
	prepare_to_wait_event(&queue, wait, TASK_UNINTERRUPTIBLE);
	finish_wait(&queue, wait);
}

CASE(prepare_finish_cost, prepare_finish)
CASE(define_both_cost, define_prepare_finish)
CASE(wait_event_cost, init_event_finish)

static int __init wait_cost_init(void)
{
	static const struct {
		const char *name;
		long (*cost)(void *unused);
	} cases[] = {
		{ "prepare+finish", prepare_finish_cost },
		{ "define+both", define_both_cost },
		{ "wait_event", wait_event_cost },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		pr_info("wait_cost: %s %ld\n", cases[i].name,
			work_on_cpu(raw_smp_processor_id(), cases[i].cost, NULL));
	/* No error: the module has done its work and need not stay. */
	return -EAGAIN;
}
module_init(wait_cost_init);

MODULE_DESCRIPTION("Cost of a wait");
MODULE_LICENSE("GPL");
