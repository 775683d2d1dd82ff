/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lazy percpu counters: a sum and a count that get per-CPU memory only when
 * they become hot. See lib/lazy-percpu-counter.c.
 */
#ifndef _LINUX_LAZY_PERCPU_COUNTER_H
#define _LINUX_LAZY_PERCPU_COUNTER_H

#include <linux/atomic.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/percpu-defs.h>
#include <linux/types.h>

#include <asm/percpu.h>

/* A counter that changes this often within a second is hot. */
#define LAZY_PERCPU_COUNTER_HOT		1024

/*
 * On 32 bit, a CPU's share of the sum has two words: its low 32 bits, and its
 * value in steps of 1 << LAZY_PERCPU_STEP_SHIFT. A larger addition than the
 * maximum could make the two words differ so much that a reader gets a wrong
 * sum.
 */
#define LAZY_PERCPU_STEP_SHIFT		28
#define LAZY_PERCPU_ADD_MAX		(2L << LAZY_PERCPU_STEP_SHIFT)

/**
 * struct lazy_percpu_part - one CPU's share of a hot counter
 * @sum: sum of the additions on this CPU; on 32 bit, its low 32 bits
 * @count: count of this CPU
 * @steps: the sum in steps of 1 << LAZY_PERCPU_STEP_SHIFT; on 32 bit only
 *
 * The alignment keeps the words in one cache line.
 */
struct lazy_percpu_part {
	long sum;
	long count;
#if BITS_PER_LONG == 32
	long steps;
#endif
} __aligned(16);

static_assert(sizeof(struct lazy_percpu_part) == 16);

/**
 * struct lazy_percpu_counter - a sum of 64 bits and a count
 * @parts: the CPUs' shares, NULL until the counter is hot
 * @sum: sum of the additions that did not use @parts
 * @count: count of these additions
 * @changes: number of these additions; wraps around
 * @window: time in jiffies when the current period of LAZY_PERCPU_COUNTER_HOT
 *	changes began
 *
 * A counter of all zero bytes is valid and has the value zero.
 */
struct lazy_percpu_counter {
	struct lazy_percpu_part __percpu *parts;
	atomic64_t sum;
	atomic_long_t count;
	atomic_t changes;
	unsigned int window;
};

static_assert(sizeof(struct lazy_percpu_counter) <= 32);

void lazy_percpu_counter_add_atomic(struct lazy_percpu_counter *c,
				    long sum, long count);
void lazy_percpu_counter_read(const struct lazy_percpu_counter *c,
			      s64 *sum, long *count);
void lazy_percpu_counter_exit(struct lazy_percpu_counter *c);
void lazy_percpu_counter_flush(void);

#if BITS_PER_LONG == 32 || defined(CONFIG_LAZY_PERCPU_COUNTER_LOCAL)
void lazy_percpu_part_add(struct lazy_percpu_part __percpu *parts,
			  long sum, long count);
#else
/**
 * lazy_percpu_part_add - add to this CPU's share of a hot counter
 * @parts: the parts of the counter
 * @sum: added to the sum, may be negative
 * @count: added to the count, may be negative
 *
 * Context: as lazy_percpu_counter_add().
 */
static __always_inline void
lazy_percpu_part_add(struct lazy_percpu_part __percpu *parts,
		     long sum, long count)
{
	this_cpu_add(parts->sum, sum);
	this_cpu_add(parts->count, count);
}
#endif

/**
 * lazy_percpu_counter_add - add to a counter
 * @c: the counter
 * @sum: added to the sum, may be negative; at most LAZY_PERCPU_ADD_MAX on 32 bit
 * @count: added to the count, may be negative
 *
 * Context: any. In an NMI, if the architecture's this_cpu_add() is safe there;
 * with CONFIG_LAZY_PERCPU_COUNTER_LOCAL, if its local_add() is, and on 64 bit
 * only. Never allocates, never takes a lock.
 */
static __always_inline void
lazy_percpu_counter_add(struct lazy_percpu_counter *c, long sum, long count)
{
	/* Pairs with the cmpxchg() that publishes zeroed parts. */
	struct lazy_percpu_part __percpu *parts = READ_ONCE(c->parts);

	if (likely(parts))
		lazy_percpu_part_add(parts, sum, count);
	else
		lazy_percpu_counter_add_atomic(c, sum, count);
}

#endif /* _LINUX_LAZY_PERCPU_COUNTER_H */
