// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a wait that does not sleep costs: loaded, it writes one line a case to the
 * console, "wait_cost: CASE COST", and refuses to stay. For a guest with one CPU
 * under -icount, where a cycle is an instruction; for any kernel.
 */
#include <linux/irqflags.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/timex.h>
#include <linux/wait.h>
#include <linux/delay.h>

#define BATCH		64
#define BATCHES		64

static DECLARE_WAIT_QUEUE_HEAD(queue);

#define MEASURE(_name, _wait)						\
do {									\
	u64 start, took, best = U64_MAX;				\
	unsigned int round, n;						\
	unsigned long flags;						\
									\
	for (n = 0; n < BATCH; n++)					\
		_wait;							\
	msleep(50);							\
	for (round = 0; round < BATCHES; round++) {			\
		local_irq_save(flags);					\
		start = get_cycles();					\
		for (n = 0; n < BATCH; n++)				\
			_wait;						\
		took = get_cycles() - start;				\
		local_irq_restore(flags);				\
		best = min(best, took);					\
	}								\
	pr_info("wait_cost: %s %llu\n", _name,				\
		div_u64(best, BATCH));					\
} while (0)

static __always_inline void prepare_finish(struct wait_queue_entry *wait)
{
	prepare_to_wait(&queue, wait, TASK_UNINTERRUPTIBLE);
	finish_wait(&queue, wait);
}

static __always_inline void define_prepare_finish(void)
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

/* Not in __init code, which is compiled for size. */
static noinline __attribute__((hot)) void measure(void)
{
	DEFINE_WAIT(wait);

	MEASURE("prepare+finish", prepare_finish(&wait));
	MEASURE("define+both", define_prepare_finish());
	MEASURE("wait_event", init_event_finish(&wait));
}

static int __init wait_cost_init(void)
{
	measure();
	/* Not an error: there is nothing to stay for. */
	return -EAGAIN;
}
module_init(wait_cost_init);

MODULE_DESCRIPTION("Cost of a wait");
MODULE_LICENSE("GPL");
