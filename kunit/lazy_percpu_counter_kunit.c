// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the lazy percpu counters: a counter gets parts only when it is
 * hot, and its value is exact before, during and after that.
 */
#include <kunit/test.h>

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/lazy-percpu-counter.h>
#include <linux/limits.h>
#include <linux/sched.h>

/* The first period only sets the start of the second one. */
#define ENOUGH		(2 * LAZY_PERCPU_COUNTER_HOT)

static void expect_value(struct kunit *test,
			 const struct lazy_percpu_counter *c,
			 s64 sum, long count)
{
	s64 s;
	long n;

	lazy_percpu_counter_read(c, &s, &n);
	KUNIT_EXPECT_EQ(test, s, sum);
	KUNIT_EXPECT_EQ(test, n, count);
}

static void add_times(struct lazy_percpu_counter *c, unsigned int times,
		      long sum, long count)
{
	while (times--)
		lazy_percpu_counter_add(c, sum, count);
}

/* Additions from here on go to the parts. */
static void make_hot(struct kunit *test, struct lazy_percpu_counter *c)
{
	add_times(c, ENOUGH, 0, 0);
	lazy_percpu_counter_flush();
	KUNIT_ASSERT_NOT_NULL(test, c->parts);
}

static void test_cold_counter_stays_atomic(struct kunit *test)
{
	struct lazy_percpu_counter c = { };

	add_times(&c, LAZY_PERCPU_COUNTER_HOT - 1, 3, 1);
	lazy_percpu_counter_flush();
	KUNIT_EXPECT_PTR_EQ(test, c.parts, NULL);
	expect_value(test, &c, 3 * (LAZY_PERCPU_COUNTER_HOT - 1),
		     LAZY_PERCPU_COUNTER_HOT - 1);
	lazy_percpu_counter_exit(&c);
}

static void test_hot_counter_gets_parts(struct kunit *test)
{
	struct lazy_percpu_counter c = { };

	add_times(&c, ENOUGH, 5, 1);
	lazy_percpu_counter_flush();
	KUNIT_ASSERT_NOT_NULL(test, c.parts);
	expect_value(test, &c, 5 * ENOUGH, ENOUGH);

	/* Additions from here on go to the parts. */
	add_times(&c, ENOUGH, -5, -1);
	expect_value(test, &c, 0, 0);
	KUNIT_EXPECT_EQ(test, atomic64_read(&c.sum), 5LL * ENOUGH);
	lazy_percpu_counter_exit(&c);
	KUNIT_EXPECT_PTR_EQ(test, c.parts, NULL);
}

static void test_slow_counter_stays_atomic(struct kunit *test)
{
	struct lazy_percpu_counter c = { };
	unsigned int i;

	/* Many changes, but each period takes more than a second. */
	for (i = 0; i < 8; i++) {
		add_times(&c, LAZY_PERCPU_COUNTER_HOT - 1, 1, 1);
		c.window = (unsigned int)jiffies - HZ - 1;
		add_times(&c, 1, 1, 1);
	}
	lazy_percpu_counter_flush();
	KUNIT_EXPECT_PTR_EQ(test, c.parts, NULL);
	expect_value(test, &c, 8 * LAZY_PERCPU_COUNTER_HOT,
		     8 * LAZY_PERCPU_COUNTER_HOT);
	lazy_percpu_counter_exit(&c);
}

static void test_changes_wrap(struct kunit *test)
{
	struct lazy_percpu_counter c = { };

	/* The number of changes wraps from the largest int to the smallest. */
	atomic_set(&c.changes, INT_MAX - LAZY_PERCPU_COUNTER_HOT / 2);
	c.window = jiffies;
	add_times(&c, LAZY_PERCPU_COUNTER_HOT, 1, 1);
	KUNIT_EXPECT_LT(test, atomic_read(&c.changes), 0);
	add_times(&c, LAZY_PERCPU_COUNTER_HOT, 1, 1);
	lazy_percpu_counter_flush();
	KUNIT_EXPECT_NOT_NULL(test, c.parts);
	expect_value(test, &c, ENOUGH, ENOUGH);
	lazy_percpu_counter_exit(&c);
}

static void test_atomic_phase_overflow(struct kunit *test)
{
	struct lazy_percpu_counter c = { };

	/* The sum overflows and comes back: it is exact modulo 2^64. */
	atomic64_set(&c.sum, S64_MAX);
	lazy_percpu_counter_add(&c, 2, 3);
	expect_value(test, &c, S64_MIN + 1, 3);

	make_hot(test, &c);
	lazy_percpu_counter_add(&c, -2, -3);
	expect_value(test, &c, S64_MAX, 0);
	lazy_percpu_counter_exit(&c);
}

/* The largest addition on 32 bit, and one that is not a multiple of a step. */
#define MOST		LAZY_PERCPU_ADD_MAX
#define LESS		(MOST - 4096)

/* Add @by up to @times times, then go as far below zero, and back to zero. */
static void there_and_back(struct kunit *test, struct lazy_percpu_counter *c,
			   long by, int times)
{
	int i;

	for (i = 1; i <= times; i++) {
		lazy_percpu_counter_add(c, by, 1);
		expect_value(test, c, (s64)by * i, i);
	}
	for (i = times - 1; i >= -times; i--) {
		lazy_percpu_counter_add(c, -by, -1);
		expect_value(test, c, (s64)by * i, i);
	}
	for (i = 1 - times; i <= 0; i++) {
		lazy_percpu_counter_add(c, by, 1);
		expect_value(test, c, (s64)by * i, i);
	}
}

static void test_cold_sum_has_64_bits(struct kunit *test)
{
	struct lazy_percpu_counter c = { };

	there_and_back(test, &c, MOST, 19);
	there_and_back(test, &c, LESS, 19);
	KUNIT_EXPECT_PTR_EQ(test, c.parts, NULL);
	lazy_percpu_counter_exit(&c);
}

static void test_hot_sum_has_64_bits(struct kunit *test)
{
	struct lazy_percpu_counter c = { };
	s64 want;
	int i;

	make_hot(test, &c);
	there_and_back(test, &c, MOST, 19);
	there_and_back(test, &c, LESS, 19);
	there_and_back(test, &c, MOST / 4 + 8, 77);

	/* Far from zero, as if another CPU freed the memory of this one. */
	for (i = 0, want = 0; i < 40; i++, want += LESS)
		lazy_percpu_counter_add(&c, LESS, 1);
	expect_value(test, &c, want, 40);
	KUNIT_EXPECT_EQ(test, atomic64_read(&c.sum), 0);
	lazy_percpu_counter_exit(&c);
}

#define NR_COUNTERS	64

static void test_more_hot_counters_than_slots(struct kunit *test)
{
	struct lazy_percpu_counter *c;
	unsigned int i, with_parts = 0;
	unsigned long flags;

	c = kunit_kcalloc(test, NR_COUNTERS, sizeof(*c), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, c);

	/* With interrupts off, nothing empties the slots in between. */
	local_irq_save(flags);
	for (i = 0; i < NR_COUNTERS; i++)
		add_times(&c[i], ENOUGH, i, 1);
	local_irq_restore(flags);
	lazy_percpu_counter_flush();
	for (i = 0; i < NR_COUNTERS; i++)
		with_parts += !!c[i].parts;
	KUNIT_EXPECT_GT(test, with_parts, 0);
	KUNIT_EXPECT_LT(test, with_parts, NR_COUNTERS);

	/* Counters that found no free slot ask again. */
	for (i = 0; i < NR_COUNTERS; i++) {
		add_times(&c[i], ENOUGH, i, 1);
		lazy_percpu_counter_flush();
		KUNIT_EXPECT_NOT_NULL(test, c[i].parts);
		expect_value(test, &c[i], i * 2 * ENOUGH, 2 * ENOUGH);
	}
	for (i = 0; i < NR_COUNTERS; i++)
		lazy_percpu_counter_exit(&c[i]);
}

static void test_exit_while_asking(struct kunit *test)
{
	struct lazy_percpu_counter c = { };
	unsigned int i;

	/* No request of a counter may be handled after the counter is gone. */
	for (i = 0; i < 50; i++) {
		add_times(&c, ENOUGH, 1, 1);
		lazy_percpu_counter_exit(&c);
		lazy_percpu_counter_flush();
		KUNIT_ASSERT_PTR_EQ(test, c.parts, NULL);
		memset(&c, 0, sizeof(c));
	}
}

/* Concurrency: threads and an interrupt add, the test reads. */

#define NR_THREADS	4
#define NR_ADDS		20000

struct adder {
	struct lazy_percpu_counter *c;
	struct irq_work irq;
	struct completion done;
	unsigned int irq_adds;
	bool waits;
};

static void adder_irq(struct irq_work *work)
{
	struct adder *a = container_of(work, struct adder, irq);

	lazy_percpu_counter_add(a->c, 7, 1);
	a->irq_adds++;
}

static int adder_fn(void *data)
{
	struct adder *a = data;
	unsigned int i;

	for (i = 0; i < NR_ADDS; i++) {
		lazy_percpu_counter_add(a->c, 7, 1);
		if (!(i % 64)) {
			irq_work_queue(&a->irq);
			cond_resched();
		}
		if (!(i % 1024))
			usleep_range(50, 100);
		/* Wait for the parts. Only one thread may sync an irq_work. */
		if (a->waits && i == NR_ADDS / 2)
			lazy_percpu_counter_flush();
	}
	irq_work_sync(&a->irq);
	complete(&a->done);
	return 0;
}

static void test_sums_while_parts_arrive(struct kunit *test)
{
	struct lazy_percpu_counter c = { };
	struct task_struct *task;
	struct adder *adders;
	long count, last = 0;
	s64 sum;
	unsigned int i, reads = 0, irq_adds = 0;
	bool done;

	adders = kunit_kcalloc(test, NR_THREADS, sizeof(*adders), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, adders);
	for (i = 0; i < NR_THREADS; i++) {
		adders[i].c = &c;
		adders[i].waits = !i;
		init_irq_work(&adders[i].irq, adder_irq);
		init_completion(&adders[i].done);
		task = kthread_run(adder_fn, &adders[i], "lazy_kunit/%u", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	}

	/* There are only additions, so the value can only rise. */
	do {
		lazy_percpu_counter_read(&c, &sum, &count);
		KUNIT_EXPECT_GE(test, count, last);
		last = count;
		reads++;
		cond_resched();
		for (i = 0, done = true; i < NR_THREADS; i++)
			done &= completion_done(&adders[i].done);
	} while (!done);

	for (i = 0; i < NR_THREADS; i++)
		irq_adds += adders[i].irq_adds;
	lazy_percpu_counter_flush();
	KUNIT_EXPECT_GT(test, reads, 1);
	KUNIT_EXPECT_GT(test, irq_adds, 0);
	KUNIT_EXPECT_NOT_NULL(test, c.parts);
	expect_value(test, &c, 7 * (NR_THREADS * NR_ADDS + irq_adds),
		     NR_THREADS * NR_ADDS + irq_adds);
	/* Some of the additions came before the parts, some after. */
	KUNIT_EXPECT_GT(test, atomic_long_read(&c.count), 0);
	KUNIT_EXPECT_LT(test, atomic_long_read(&c.count),
			(long)(NR_THREADS * NR_ADDS));
	lazy_percpu_counter_exit(&c);
}

/* The same with sums that take two words on 32 bit, which change separately. */

#define NR_BIG_ADDS	4000

static int big_adder_fn(void *data)
{
	struct adder *a = data;
	unsigned int i;

	for (i = 0; i < NR_BIG_ADDS; i++) {
		lazy_percpu_counter_add(a->c, LESS, 1);
		if (!(i % 16))
			cond_resched();
	}
	complete(&a->done);
	return 0;
}

static void test_big_sum_only_rises(struct kunit *test)
{
	struct lazy_percpu_counter c = { };
	struct task_struct *task;
	struct adder *adders;
	unsigned int i, reads = 0;
	s64 sum, last = 0;
	bool done;
	long count;

	adders = kunit_kcalloc(test, NR_THREADS, sizeof(*adders), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, adders);
	make_hot(test, &c);
	for (i = 0; i < NR_THREADS; i++) {
		adders[i].c = &c;
		init_completion(&adders[i].done);
		task = kthread_run(big_adder_fn, &adders[i], "lazy_kunit/%u", i);
		KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	}
	do {
		lazy_percpu_counter_read(&c, &sum, &count);
		KUNIT_EXPECT_GE(test, sum, last);
		last = sum;
		reads++;
		cond_resched();
		for (i = 0, done = true; i < NR_THREADS; i++)
			done &= completion_done(&adders[i].done);
	} while (!done);
	KUNIT_EXPECT_GT(test, reads, 1);
	expect_value(test, &c, (s64)LESS * NR_THREADS * NR_BIG_ADDS,
		     NR_THREADS * NR_BIG_ADDS);
	lazy_percpu_counter_exit(&c);
}

static struct kunit_case lazy_percpu_counter_cases[] = {
	KUNIT_CASE(test_cold_counter_stays_atomic),
	KUNIT_CASE(test_hot_counter_gets_parts),
	KUNIT_CASE(test_slow_counter_stays_atomic),
	KUNIT_CASE(test_changes_wrap),
	KUNIT_CASE(test_atomic_phase_overflow),
	KUNIT_CASE(test_cold_sum_has_64_bits),
	KUNIT_CASE(test_hot_sum_has_64_bits),
	KUNIT_CASE(test_more_hot_counters_than_slots),
	KUNIT_CASE(test_exit_while_asking),
	KUNIT_CASE(test_sums_while_parts_arrive),
	KUNIT_CASE(test_big_sum_only_rises),
	{ }
};

static struct kunit_suite lazy_percpu_counter_suite = {
	.name		= "lazy_percpu_counter",
	.test_cases	= lazy_percpu_counter_cases,
};

kunit_test_suite(lazy_percpu_counter_suite);

MODULE_LICENSE("GPL");
