// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lazy percpu counters.
 *
 * Of thousands of counters most stay cold. A cold counter is a pair of atomics,
 * and costs the same memory however many CPUs there are. A counter that sees
 * LAZY_PERCPU_COUNTER_HOT changes within a period is given a part for each CPU.
 * From then on, a change is two additions to the CPU's own memory. The period
 * is a second with up to 8 CPUs, half a second with 16, and so on down to a
 * jiffy: the memory of the parts grows with the number of CPUs, while the cost
 * of an atomic addition does not.
 *
 * The value is the atomic pair plus all parts, at every moment: nothing moves
 * from one to the other when the parts arrive, so there is no state between,
 * and a reader never has to wait. A change is in exactly one place.
 *
 * Parts have to be allocated, and a counter may be changed where that cannot be
 * done: in an interrupt or an NMI, under a raw spinlock, or from within the
 * percpu allocator itself. So the path that counts only puts the counter's
 * address in a free one of a few slots and raises an irq_work, which queues a
 * work item, which allocates. If no slot is free, or there is no memory,
 * nothing is lost: the counter asks again after as many changes.
 *
 * The sum has 64 bits everywhere: with high memory, a call site can hold more
 * bytes than fit in a long of 32 bits. The count is a long, because each piece
 * of memory that it counts takes up some of the kernel's own addresses. A
 * 32-bit machine changes one word at a time, so there a CPU's share of the sum
 * is two words that overlap: the low 32 bits of the share, and the share in
 * steps of 256 MiB:
 *
 *	 59 ............... 32 31 .. 28 27 ............. 0
 *	                      [           sum             ]
 *	[           steps             ]
 *
 * `sum` has the low 32 bits of the share. Of all numbers with these low bits,
 * the share is the one nearest to `steps << 28`. An addition changes `sum`
 * first, so `steps` can be behind. The two words determine the share as long as
 * `steps` is behind by less than eight. In the middle of an addition of 512 MiB
 * it is behind by two. If an interrupt comes there, and is itself in the middle
 * of an addition of less than 256 MiB, `steps` is behind by one more. So the
 * two words may differ at any moment, and an addition takes no lock. It leaves
 * interrupts enabled, except on architectures whose this_cpu_add() disables
 * them: there it disables them once.
 */
#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/lazy-percpu-counter.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/workqueue.h>

#include <asm/local.h>

/* The count of changes wraps, so a period must divide its range. */
static_assert((LAZY_PERCPU_COUNTER_HOT & (LAZY_PERCPU_COUNTER_HOT - 1)) == 0);

#define NR_SLOTS	32

/* With more CPUs than this, a counter must change faster to become hot. */
#define HOT_CPUS	8

static struct lazy_percpu_counter *hot_slots[NR_SLOTS];
static bool hot_ready __read_mostly;

static void hot_work_fn(struct work_struct *work);
static DECLARE_WORK(hot_work, hot_work_fn);

static void hot_irq_work_fn(struct irq_work *irq_work)
{
	schedule_work(&hot_work);
}

/*
 * This irq_work is a hard one: PREEMPT_RT runs it in the interrupt. Any other irq_work runs
 * in a thread of the CPU there. When a CPU goes offline, it stops that thread first, and
 * tasks that still run on the CPU can queue the irq_work. It would then stay pending, and
 * irq_work_queue() would do nothing on all other CPUs.
 */
static struct irq_work hot_irq_work = IRQ_WORK_INIT_HARD(hot_irq_work_fn);

static void give_parts(struct lazy_percpu_counter *c)
{
	struct lazy_percpu_part __percpu *parts;

	if (READ_ONCE(c->parts))
		return;
	parts = alloc_percpu_gfp(struct lazy_percpu_part,
				 GFP_KERNEL | __GFP_NOWARN);
	if (!parts)
		return;
	/* Full barrier: the parts are zero before others see their address. */
	if (cmpxchg(&c->parts, NULL, parts))
		free_percpu(parts);
}

static void hot_work_fn(struct work_struct *work)
{
	struct lazy_percpu_counter *c;
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++) {
		c = xchg(&hot_slots[i], NULL);
		if (c)
			give_parts(c);
	}
}

static void ask_for_parts(struct lazy_percpu_counter *c)
{
	unsigned int i;

	if (!READ_ONCE(hot_ready))
		return;
	for (i = 0; i < NR_SLOTS; i++) {
		if (!READ_ONCE(hot_slots[i]) &&
		    !cmpxchg(&hot_slots[i], NULL, c)) {
			irq_work_queue(&hot_irq_work);
			return;
		}
	}
}

/**
 * lazy_percpu_counter_add_atomic - add to a counter that has no parts
 * @c: the counter
 * @sum: added to the sum
 * @count: added to the count
 *
 * Slow path of lazy_percpu_counter_add(), not for direct use.
 *
 * Context: any, including NMI if the architecture's atomics are safe there.
 */
void lazy_percpu_counter_add_atomic(struct lazy_percpu_counter *c,
				    long sum, long count)
{
	unsigned int now, began;

	atomic64_add(sum, &c->sum);
	atomic_long_add(count, &c->count);
	if (likely(atomic_inc_return(&c->changes) &
		   (LAZY_PERCPU_COUNTER_HOT - 1)))
		return;

	now = jiffies;
	began = READ_ONCE(c->window);
	WRITE_ONCE(c->window, now);
	/* With more CPUs, parts take more memory and have to save more time. */
	if (now - began <
	    DIV_ROUND_UP(HZ, DIV_ROUND_UP(num_possible_cpus(), HOT_CPUS)))
		ask_for_parts(c);
}
EXPORT_SYMBOL_GPL(lazy_percpu_counter_add_atomic);

#if BITS_PER_LONG == 32

/* By how many steps does an addition move a share whose low bits are @was? */
static __always_inline long part_steps(s64 was, long sum)
{
	return (long)((was + sum) >> LAZY_PERCPU_STEP_SHIFT) -
	       (long)(was >> LAZY_PERCPU_STEP_SHIFT);
}

/**
 * lazy_percpu_part_add - add to this CPU's share of a hot counter
 * @parts: the parts of the counter
 * @sum: added to the sum, may be negative; at most LAZY_PERCPU_ADD_MAX
 * @count: added to the count, may be negative
 *
 * Context: as lazy_percpu_counter_add().
 */
void lazy_percpu_part_add(struct lazy_percpu_part __percpu *parts,
			  long sum, long count)
{
	unsigned long __maybe_unused flags;
	long steps;
	s64 was;

#ifdef CONFIG_LAZY_PERCPU_COUNTER_LOCAL
	/* Each this_cpu_add() would disable interrupts; once is enough. */
	raw_local_irq_save(flags);
	raw_cpu_add(parts->count, count);
	was = (u32)raw_cpu_add_return(parts->sum, sum) - (u32)sum;
	steps = part_steps(was, sum);
	if (unlikely(steps))
		raw_cpu_add(parts->steps, steps);
	raw_local_irq_restore(flags);
#else
	this_cpu_add(parts->count, count);

	/* Both words must be those of the same CPU. */
	preempt_disable_notrace();
	was = (u32)this_cpu_add_return(parts->sum, sum) - (u32)sum;
	steps = part_steps(was, sum);
	if (unlikely(steps))
		this_cpu_add(parts->steps, steps);
	preempt_enable_notrace();
#endif
}
EXPORT_SYMBOL_GPL(lazy_percpu_part_add);

static s64 part_sum(const struct lazy_percpu_part *part)
{
	long steps;
	s64 near;
	u32 sum;

	/*
	 * Read the low bits at a moment when the CPU had this number of steps:
	 * bits that are newer could be too far from the steps. Preemption is
	 * off to keep the loop short. During a long one, the steps could change
	 * and change back, and we would not see it.
	 */
	preempt_disable_notrace();
	do {
		steps = READ_ONCE(part->steps);
		/*
		 * Orders only the three loads. The writer needs no barrier
		 * between its words: they may differ by a few steps.
		 */
		smp_rmb();
		sum = READ_ONCE(part->sum);
		/* Likewise: compare the steps from before and after the sum. */
		smp_rmb();
	} while (unlikely(steps != READ_ONCE(part->steps)));
	preempt_enable_notrace();

	near = (s64)steps << LAZY_PERCPU_STEP_SHIFT;
	return near + (s32)(sum - (u32)near);
}

#else
#ifdef CONFIG_LAZY_PERCPU_COUNTER_LOCAL
static_assert(sizeof(local_t) == sizeof(long));

/**
 * lazy_percpu_part_add - add to this CPU's share of a hot counter
 * @parts: the parts of the counter
 * @sum: added to the sum, may be negative
 * @count: added to the count, may be negative
 *
 * For architectures whose this_cpu_add() disables interrupts and whose
 * local_add() does not. The function cannot be in line: <asm/local.h> includes
 * <linux/percpu.h>, which needs this header, because its allocations are
 * counted.
 *
 * Context: as lazy_percpu_counter_add().
 */
void lazy_percpu_part_add(struct lazy_percpu_part __percpu *parts,
			  long sum, long count)
{
	struct lazy_percpu_part *part;

	preempt_disable_notrace();
	part = raw_cpu_ptr(parts);
	local_add(sum, (local_t *)&part->sum);
	local_add(count, (local_t *)&part->count);
	preempt_enable_notrace();
}
EXPORT_SYMBOL_GPL(lazy_percpu_part_add);
#endif

static s64 part_sum(const struct lazy_percpu_part *part)
{
	return READ_ONCE(part->sum);
}

#endif

/**
 * lazy_percpu_counter_read - read the value of a counter
 * @c: the counter
 * @sum: returns the sum
 * @count: returns the count
 *
 * The value is exact if nothing changes the counter meanwhile. Otherwise it may
 * include a later change and miss an earlier one: the value of a counter that
 * is never negative can be negative here.
 *
 * If the counter is hot, the time is proportional to the number of possible
 * CPUs.
 *
 * Context: any.
 */
void lazy_percpu_counter_read(const struct lazy_percpu_counter *c,
			      s64 *sum, long *count)
{
	struct lazy_percpu_part __percpu *parts = READ_ONCE(c->parts);
	struct lazy_percpu_part *part;
	int cpu;

	*sum = atomic64_read(&c->sum);
	*count = atomic_long_read(&c->count);
	if (!parts)
		return;

	for_each_possible_cpu(cpu) {
		part = per_cpu_ptr(parts, cpu);
		*sum += part_sum(part);
		*count += READ_ONCE(part->count);
	}
}
EXPORT_SYMBOL_GPL(lazy_percpu_counter_read);

/**
 * lazy_percpu_counter_flush - wait until all requests for parts are processed
 *
 * Context: process context, may sleep.
 */
void lazy_percpu_counter_flush(void)
{
	irq_work_sync(&hot_irq_work);
	flush_work(&hot_work);
}
EXPORT_SYMBOL_GPL(lazy_percpu_counter_flush);

/**
 * lazy_percpu_counter_exit - free the parts of a counter
 * @c: the counter, which nothing changes any more
 *
 * Context: process context, may sleep.
 */
void lazy_percpu_counter_exit(struct lazy_percpu_counter *c)
{
	unsigned int i;

	for (i = 0; i < NR_SLOTS; i++)
		cmpxchg(&hot_slots[i], c, NULL);
	lazy_percpu_counter_flush();
	free_percpu(c->parts);
	c->parts = NULL;
}
EXPORT_SYMBOL_GPL(lazy_percpu_counter_exit);

/* Counters stay atomic until work items can run and interrupts are enabled. */
static int __init lazy_percpu_counter_init(void)
{
	WRITE_ONCE(hot_ready, true);
	return 0;
}
subsys_initcall(lazy_percpu_counter_init);
