// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the statistics of events: quantiles against exact ones for
 * several distributions, the other values against plain sums, events in
 * interrupts, and the lifetime of statistics. Included by lib/time_stats.c.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/sort.h>

#define NR_VALUES	20000

/* Make statistics that have a histogram but no events. */
static struct time_stats *new_stats(struct kunit *test)
{
	struct time_stats *stats;

	stats = kunit_kzalloc(test, sizeof(*stats), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, stats);
	time_stats_init(stats, 1);
	time_stats_update_at(stats, 0, 0);
	time_stats_flush();
	KUNIT_ASSERT_NOT_NULL(test, stats->histogram);
	time_stats_reset(stats);
	return stats;
}

static void read_stats(struct time_stats *stats, u64 now,
		       struct time_stats_report *report)
{
	time_stats_flush();
	time_stats_read(stats, now, report);
}

/* Internals */

static void test_every_bucket_has_its_values(struct kunit *test)
{
	unsigned int i, bad = 0;

	for (i = 0; i < NR_BUCKETS; i++)
		bad += bucket_of(bucket_value(i)) != i;
	KUNIT_EXPECT_EQ(test, bad, 0);
	KUNIT_EXPECT_EQ(test, bucket_of(0), 0);
	KUNIT_EXPECT_EQ(test, bucket_of(U64_MAX), NR_BUCKETS - 1);
}

/* Test values around each power of two and at each border of a bucket. */
static void test_buckets_are_off_by_a_64th(struct kunit *test)
{
	u64 v, value, off;
	int bit, step, by;

	for (bit = 0; bit < 64; bit++) {
		for (step = 0; step < SUB_BUCKETS; step++) {
			for (by = -1; by <= 1; by++) {
				v = BIT_ULL(bit) +
				    (BIT_ULL(bit) >> SUB_BITS) * step + by;
				value = bucket_value(bucket_of(v));
				off = value > v ? value - v : v - value;
				KUNIT_EXPECT_LE(test, off, v / 64);
				if (v)
					KUNIT_EXPECT_LE(test, bucket_of(v - 1),
							bucket_of(v));
			}
		}
	}
}

/* Distributions */

static u64 draw_constant(struct rnd_state *rnd)
{
	return 123456789;
}

static u64 draw_uniform(struct rnd_state *rnd)
{
	return 1000 + prandom_u32_state(rnd) % 1000000;
}

/* From the lengths of falling runs, without a logarithm. The mean is 100 us. */
static u64 draw_exponential(struct rnd_state *rnd)
{
	u32 first, last, next, run;
	u64 whole;

	for (whole = 0;; whole++) {
		first = prandom_u32_state(rnd);
		last = first;
		for (run = 1;; run++) {
			next = prandom_u32_state(rnd);
			if (next > last)
				break;
			last = next;
		}
		if (run % 2)
			return mul_u64_u32_shr(whole << 32 | first, 100000, 32);
	}
}

static u64 draw_bimodal(struct rnd_state *rnd)
{
	if (prandom_u32_state(rnd) % 10 < 7)
		return 2000 + prandom_u32_state(rnd) % 100;
	return 50000000 + prandom_u32_state(rnd) % 1000000;
}

static u64 draw_log_uniform(struct rnd_state *rnd)
{
	unsigned int bit = prandom_u32_state(rnd) % 45;
	u64 value = (u64)prandom_u32_state(rnd) << 32 | prandom_u32_state(rnd);

	return BIT_ULL(bit) | (value & (BIT_ULL(bit) - 1));
}

static u64 draw_tiny(struct rnd_state *rnd)
{
	return prandom_u32_state(rnd) % 90;
}

static u64 draw_huge(struct rnd_state *rnd)
{
	return BIT_ULL(62) + ((u64)prandom_u32_state(rnd) << 31);
}

static const struct distribution {
	const char *name;
	u64 (*draw)(struct rnd_state *rnd);
} distributions[] = {
	{ "constant",		draw_constant },
	{ "uniform",		draw_uniform },
	{ "exponential",	draw_exponential },
	{ "bimodal",		draw_bimodal },
	{ "log-uniform",	draw_log_uniform },
	{ "tiny",		draw_tiny },
	{ "huge",		draw_huge },
};

static void distribution_name(const struct distribution *d, char *name)
{
	strscpy(name, d->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(distribution, distributions, distribution_name);

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void check_quantiles(struct kunit *test, const u64 *sorted,
			    unsigned int nr,
			    const struct time_stats_report *report)
{
	u64 exact, q, off, worst = 0;
	unsigned int k;

	for (k = 0; k < TIME_STATS_QUANTILES; k++) {
		exact = sorted[DIV_ROUND_UP(nr * (k + 1), 16) - 1];
		q = report->quantile[k];
		off = q > exact ? q - exact : exact - q;
		/* The documented limit is 2 %, the real one 1/64. */
		KUNIT_EXPECT_LE_MSG(test, off, exact / 64,
				    "quantile %u/16: %llu, exactly %llu", k + 1,
				    q, exact);
		if (exact)
			worst = max(worst, mul_u64_u64_div_u64(off, 10000, exact));
	}
	kunit_info(test, "%u values, off by at most %llu of 10000\n", nr,
		   worst);
}

static void test_quantiles(struct kunit *test)
{
	static const unsigned int sizes[] = { NR_VALUES, 1000, 17, 16, 15, 3, 1 };
	const struct distribution *d = test->param_value;
	struct time_stats *stats = new_stats(test);
	struct time_stats_report report;
	struct rnd_state rnd;
	unsigned int i, s;
	u64 *values;

	values = kvmalloc_array(NR_VALUES, sizeof(*values), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, values);
	prandom_seed_state(&rnd, 8);

	for (s = 0; s < ARRAY_SIZE(sizes); s++) {
		time_stats_reset(stats);
		for (i = 0; i < sizes[s]; i++) {
			values[i] = d->draw(&rnd);
			time_stats_update_at(stats, 1000, 1000 + values[i]);
		}
		read_stats(stats, U64_MAX, &report);
		sort(values, sizes[s], sizeof(*values), compare_u64, NULL);
		check_quantiles(test, values, sizes[s], &report);
		KUNIT_EXPECT_EQ(test, report.count, sizes[s]);
		KUNIT_EXPECT_EQ(test, report.unsorted, 0);
		KUNIT_EXPECT_EQ(test, report.min, values[0]);
		KUNIT_EXPECT_EQ(test, report.max, values[sizes[s] - 1]);
	}
	kvfree(values);
	time_stats_exit(stats, 1);
}

/* Exact values */

static void test_count_average_maximum(struct kunit *test)
{
	struct time_stats *stats = new_stats(test);
	struct time_stats_report report;
	u64 total = 0, max = 0, end = 5000000, duration, sum;
	struct rnd_state rnd;
	unsigned int i;

	prandom_seed_state(&rnd, 9);
	for (i = 0; i < 10007; i++) {
		duration = prandom_u32_state(&rnd) % 3000000;
		total += duration;
		max = max(max, duration);
		end += 1000;
		time_stats_update_at(stats, end - duration, end);
	}
	read_stats(stats, end, &report);
	KUNIT_EXPECT_EQ(test, report.count, 10007);
	KUNIT_EXPECT_EQ(test, report.total, total);
	KUNIT_EXPECT_EQ(test, time_stats_count(stats, &sum), 10007);
	KUNIT_EXPECT_EQ(test, sum, total);
	KUNIT_EXPECT_EQ(test, report.mean, div_u64(total, 10007));
	KUNIT_EXPECT_EQ(test, report.max, max);
	KUNIT_EXPECT_EQ(test, report.span, 10006 * 1000);
	KUNIT_EXPECT_EQ(test, report.interval, 1000);
	time_stats_exit(stats, 1);
}

static void test_more_than_64_bits(struct kunit *test)
{
	struct time_stats *stats = new_stats(test);
	struct time_stats_report report;
	unsigned int i;

	for (i = 0; i < 5; i++)
		time_stats_update_at(stats, 0, U64_MAX - 7);
	read_stats(stats, U64_MAX, &report);
	KUNIT_EXPECT_EQ(test, report.count, 5);
	KUNIT_EXPECT_EQ(test, report.total, U64_MAX);
	KUNIT_EXPECT_EQ(test, report.mean, U64_MAX - 7);
	KUNIT_EXPECT_EQ(test, report.max, U64_MAX - 7);
	KUNIT_EXPECT_EQ(test, report.quantile[14], U64_MAX - 7);
	time_stats_exit(stats, 1);
}

static void test_end_before_start_is_no_time(struct kunit *test)
{
	struct time_stats *stats = new_stats(test);
	struct time_stats_report report;

	time_stats_update_at(stats, 1001, 1000);
	time_stats_update_at(stats, U64_MAX, 1000);
	read_stats(stats, 1000, &report);
	KUNIT_EXPECT_EQ(test, report.count, 2);
	KUNIT_EXPECT_EQ(test, report.total, 0);
	KUNIT_EXPECT_EQ(test, report.max, 0);
	KUNIT_EXPECT_EQ(test, report.quantile[14], 0);
	time_stats_exit(stats, 1);
}

static void test_reset_forgets_all(struct kunit *test)
{
	struct time_stats *stats = new_stats(test);
	struct time_stats_report report, none = { };

	time_stats_update_at(stats, 0, 5000);
	time_stats_flush();
	time_stats_reset(stats);
	read_stats(stats, 6000, &report);
	KUNIT_EXPECT_EQ(test, memcmp(&report, &none, sizeof(none)), 0);

	time_stats_update_at(stats, 7000, 7040);
	read_stats(stats, 8000, &report);
	KUNIT_EXPECT_EQ(test, report.count, 1);
	KUNIT_EXPECT_EQ(test, report.min, 40);
	KUNIT_EXPECT_EQ(test, report.max, 40);
	KUNIT_EXPECT_EQ(test, report.total, 40);
	KUNIT_EXPECT_EQ(test, report.last, 7040);
	KUNIT_EXPECT_EQ(test, report.interval, 0);
	KUNIT_EXPECT_EQ(test, report.quantile[0], 40);
	KUNIT_EXPECT_EQ(test, report.recent_mean, 40);
	time_stats_exit(stats, 1);
}

/* Each event gets to its statistics, from the buffer of any CPU. */
static void test_buffers_are_merged(struct kunit *test)
{
	struct time_stats *stats[7];
	struct time_stats_report report;
	unsigned int i, nr[ARRAY_SIZE(stats)] = { };
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 10);
	for (i = 0; i < ARRAY_SIZE(stats); i++)
		stats[i] = new_stats(test);
	for (i = 0; i < 5000; i++) {
		unsigned int which = prandom_u32_state(&rnd) % ARRAY_SIZE(stats);

		nr[which]++;
		time_stats_update_at(stats[which], 0, which + 1);
	}
	for (i = 0; i < ARRAY_SIZE(stats); i++) {
		read_stats(stats[i], 1000, &report);
		KUNIT_EXPECT_EQ(test, report.count, nr[i]);
		KUNIT_EXPECT_EQ(test, report.total, (u64)nr[i] * (i + 1));
		time_stats_exit(stats[i], 1);
	}
}

/* Recent means */

#define MS	1000000ULL

static void test_recent_is_recent(struct kunit *test)
{
	struct time_stats *stats = new_stats(test);
	struct time_stats_report report;
	u64 now = 1000 * MS;
	unsigned int i;

	/* A minute with ten events a second, then one with a hundred. */
	for (i = 0; i < 600; i++, now += 100 * MS)
		time_stats_update_at(stats, now - 5000, now);
	read_stats(stats, now, &report);
	KUNIT_EXPECT_GE(test, report.recent_mean, 4999);
	KUNIT_EXPECT_LE(test, report.recent_mean, 5000);
	KUNIT_EXPECT_GE(test, report.recent_interval, 95 * MS);
	KUNIT_EXPECT_LE(test, report.recent_interval, 105 * MS);

	for (i = 0; i < 6000; i++, now += 10 * MS)
		time_stats_update_at(stats, now - 70000, now);
	read_stats(stats, now, &report);
	KUNIT_EXPECT_GE(test, report.recent_mean, 69000);
	KUNIT_EXPECT_LE(test, report.recent_mean, 70000);
	KUNIT_EXPECT_GE(test, report.recent_interval, 95 * MS / 10);
	KUNIT_EXPECT_LE(test, report.recent_interval, 105 * MS / 10);
	KUNIT_EXPECT_GE(test, report.mean, 64000);
	KUNIT_EXPECT_LE(test, report.mean, 65000);

	/* Then no events: the interval grows, the mean duration stays. */
	read_stats(stats, now + 30000 * MS, &report);
	KUNIT_EXPECT_GE(test, report.recent_interval, 300 * MS);
	KUNIT_EXPECT_GE(test, report.recent_mean, 69000);
	read_stats(stats, now + 3600000 * MS, &report);
	KUNIT_EXPECT_EQ(test, report.recent_interval, 0);
	time_stats_exit(stats, 1);
}

static void test_recent_of_rare_events(struct kunit *test)
{
	struct time_stats *stats = new_stats(test);
	struct time_stats_report report;
	unsigned int i;
	u64 now = 0;

	for (i = 0; i < 10; i++) {
		now += 3600000 * MS;
		time_stats_update_at(stats, now - (i + 1) * MS, now);
		read_stats(stats, now, &report);
		KUNIT_EXPECT_GE(test, report.recent_mean, (i + 1) * MS - 1);
		KUNIT_EXPECT_LE(test, report.recent_mean, (i + 1) * MS);
	}
	KUNIT_EXPECT_EQ(test, report.interval, 3600000 * MS);
	time_stats_exit(stats, 1);
}

/* A sum of days would overflow if shifted by the fraction bits of the count. */
static void test_recent_of_long_events(struct kunit *test)
{
	static const u64 hours[] = { 1, 77, 78, 79, 1000, 100000 };
	struct time_stats_report report;
	struct time_stats *stats;
	unsigned int i, n;

	for (i = 0; i < ARRAY_SIZE(hours); i++) {
		const u64 duration = hours[i] * 3600000 * MS;
		/* One after the other, each half as recent as the next. */
		u64 now = duration;

		stats = new_stats(test);
		for (n = 0; n < 5; n++, now += 5ULL * NSEC_PER_SEC)
			time_stats_update_at(stats, now - duration, now);
		read_stats(stats, now, &report);
		KUNIT_EXPECT_GE(test, report.recent_mean,
				div_u64(duration, 1000) * 999);
		KUNIT_EXPECT_LE(test, report.recent_mean,
				div_u64(duration, 1000) * 1001);
		time_stats_exit(stats, 1);
	}
}

/* An event that was in the buffer of a CPU for a minute is not recent. */
static void test_late_events_are_old(struct kunit *test)
{
	struct time_stats *stats = new_stats(test);
	struct time_stats_report report;
	u64 now = 120ULL * NSEC_PER_SEC;
	unsigned int i;

	for (i = 0; i < 8; i++)
		time_stats_update_at(stats, now - MS, now);
	for (i = 0; i < 64; i++)
		time_stats_update_at(stats, now / 2 - NSEC_PER_SEC, now / 2);
	time_stats_flush();
	time_stats_read(stats, now, &report);
	KUNIT_EXPECT_EQ(test, report.count, 72);
	KUNIT_EXPECT_EQ(test, report.max, NSEC_PER_SEC);
	KUNIT_EXPECT_GE(test, report.recent_mean, MS);
	KUNIT_EXPECT_LE(test, report.recent_mean, 10 * MS);
	time_stats_exit(stats, 1);
}

static void test_order_makes_no_difference(struct kunit *test)
{
	struct time_stats *one = new_stats(test), *two = new_stats(test);
	struct time_stats_report a, b;
	unsigned int i;

	for (i = 0; i < 64; i++)
		time_stats_update_at(one, i * MS, i * MS + 100 * i);
	for (i = 0; i < 64; i += 2)
		time_stats_update_at(two, i * MS, i * MS + 100 * i);
	for (i = 1; i < 64; i += 2)
		time_stats_update_at(two, i * MS, i * MS + 100 * i);
	time_stats_flush();
	time_stats_read(one, 64 * MS, &a);
	time_stats_read(two, 64 * MS, &b);
	KUNIT_EXPECT_EQ(test, memcmp(&a, &b, sizeof(a)), 0);
	time_stats_exit(one, 1);
	time_stats_exit(two, 1);
}

/* Coming and going */

static void test_before_there_is_a_histogram(struct kunit *test)
{
	struct time_stats *stats;
	struct time_stats_report report;
	unsigned long flags;
	unsigned int i;

	stats = kunit_kzalloc(test, sizeof(*stats), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, stats);
	time_stats_init(stats, 1);
	time_stats_flush();

	/* With interrupts off, the histogram cannot come meanwhile. */
	local_irq_save(flags);
	for (i = 0; i < 3 * BUFFERED + 4; i++)
		time_stats_update_at(stats, 0, 1000 + i);
	local_irq_restore(flags);

	read_stats(stats, 2000, &report);
	KUNIT_EXPECT_EQ(test, report.count, 3 * BUFFERED + 4);
	KUNIT_EXPECT_EQ(test, report.unsorted, 3 * BUFFERED);
	KUNIT_EXPECT_EQ(test, stats->histogram->nr, 4);
	KUNIT_EXPECT_EQ(test, report.min, 1000);
	KUNIT_EXPECT_EQ(test, report.max, 1000 + 3 * BUFFERED + 3);
	time_stats_exit(stats, 1);
}

/* The work item gives the histogram without any reader. */
static void test_histogram_comes_by_itself(struct kunit *test)
{
	struct time_stats *stats;
	unsigned int i;

	stats = kunit_kzalloc(test, sizeof(*stats), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, stats);
	time_stats_init(stats, 1);
	time_stats_update_at(stats, 0, 1);
	for (i = 0; i < 200 && !READ_ONCE(stats->histogram); i++)
		msleep(20);
	KUNIT_EXPECT_NOT_NULL(test, stats->histogram);
	time_stats_exit(stats, 1);
}

static void test_exit_leaves_nothing_behind(struct kunit *test)
{
	struct time_stats *stats, *pos;
	struct time_stats_buffer *b;
	unsigned long flags;
	unsigned int i, cpu;

	stats = kunit_kcalloc(test, 8, sizeof(*stats), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, stats);
	time_stats_init(stats, 8);
	local_irq_save(flags);
	for (i = 0; i < 20; i++)
		time_stats_update_at(&stats[i % 8], 0, 1);
	local_irq_restore(flags);
	time_stats_exit(stats, 8);

	for_each_possible_cpu(cpu) {
		b = per_cpu_ptr(&time_stats_buffers, cpu);
		raw_spin_lock_irqsave(&b->lock, flags);
		for (i = 0; i < b->nr; i++)
			KUNIT_EXPECT_FALSE(test, b->event[i].stats >= stats &&
					   b->event[i].stats < stats + 8);
		raw_spin_unlock_irqrestore(&b->lock, flags);
	}
	raw_spin_lock_irqsave(&waiting_lock, flags);
	list_for_each_entry(pos, &waiting, node)
		KUNIT_EXPECT_FALSE(test, pos >= stats && pos < stats + 8);
	raw_spin_unlock_irqrestore(&waiting_lock, flags);
	for (i = 0; i < 8; i++)
		KUNIT_EXPECT_NULL(test, stats[i].histogram);
}

/* Interrupts */

static struct time_stats *irq_stats;
static unsigned long irq_events;

static enum hrtimer_restart irq_update(struct hrtimer *timer)
{
	unsigned int i;

	for (i = 0; i < 5; i++, irq_events++)
		time_stats_update(irq_stats, ktime_get_mono_fast_ns());
	hrtimer_forward_now(timer, ns_to_ktime(20000));
	return HRTIMER_RESTART;
}

static void test_interrupts_lose_nothing(struct kunit *test)
{
	struct time_stats *stats = new_stats(test);
	struct time_stats_report report;
	unsigned long until, events = 0;
	struct hrtimer timer;

	irq_stats = stats;
	irq_events = 0;
	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = irq_update;
	hrtimer_start(&timer, ns_to_ktime(20000), HRTIMER_MODE_REL_HARD);
	for (until = jiffies + HZ / 4; time_before(jiffies, until); events++) {
		time_stats_update(stats, ktime_get_mono_fast_ns());
		if (!(events % 1000))
			time_stats_flush();
	}
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);

	read_stats(stats, ktime_get_mono_fast_ns(), &report);
	kunit_info(test, "%lu events, %lu in interrupts\n", events, irq_events);
	KUNIT_EXPECT_GT(test, irq_events, 0);
	KUNIT_EXPECT_EQ(test, report.count, events + irq_events);
	KUNIT_EXPECT_EQ(test, report.unsorted, 0);
	KUNIT_EXPECT_EQ(test, stats->histogram->nr, report.count);
	time_stats_exit(stats, 1);
}

/* Text */

static void expect_text(struct kunit *test,
			const struct time_stats_report *report, const char *text)
{
	struct seq_file m = { .size = 1024 };

	m.buf = kunit_kzalloc(test, m.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m.buf);
	time_stats_show(&m, report);
	m.buf[m.count] = '\0';
	KUNIT_EXPECT_STREQ(test, m.buf, text);
}

/* The example of the specification, and the further lines. */
static void test_text(struct kunit *test)
{
	static const struct time_stats_report full = {
		.count = 61, .total = 38558344, .mean = 632104, .min = 270123,
		.max = 2314553, .span = 60 * 19ULL * NSEC_PER_SEC,
		.interval = 19ULL * NSEC_PER_SEC, .recent_mean = 298000,
		.recent_interval = 21400 * MS,
		.quantile = {
			274432, 288000, 288000, 296000, 296000, 296000, 296000,
			336000, 336000, 336000, 336000, 336000, 336000, 336000,
			2299500,
		},
	};
	static const struct time_stats_report small = {
		.count = 3, .unsorted = 1, .total = 1707, .mean = 569, .min = 7,
		.max = 1500, .span = 3000, .interval = 1500,
		.quantile = {
			7, 7, 7, 7, 499, 500, 700, 700, 12799, 12800, 99949,
			99950, 127999, 128000, 128500,
		},
	};
	static const struct time_stats_report none = { .count = 1, .unsorted = 1 };

	expect_text(test, &full,
		    "  count:          61\n"
		    "  rate:           0/sec\n"
		    "  frequency:    19 sec\n"
		    "  avg duration:   632 us\n"
		    "  max duration:   2 ms\n"
		    "  quantiles (us): 274 288 288 296 296 296 296 336 336 336 336 336 336 336 2300\n"
		    "  recent avg:     298 us\n"
		    "  recent freq:    21 sec\n"
		    "  exact (ns):     avg 632104 min 270123 max 2314553 total 38558344\n"
		    "  quantiles (ns): 274432 288000 288000 296000 296000 296000 296000 336000 336000 336000 336000 336000 336000 336000 2299500\n"
		    "  unsorted:       0\n");
	expect_text(test, &small,
		    "  count:          3\n"
		    "  rate:           666666/sec\n"
		    "  frequency:    2 us\n"
		    "  avg duration:   569 ns\n"
		    "  max duration:   2 us\n"
		    "  quantiles (us): 0 0 0 0 0 1 1 1 13 13 100 100 128 128 129\n"
		    "  recent avg:     0 ns\n"
		    "  recent freq:    0 ns\n"
		    "  exact (ns):     avg 569 min 7 max 1500 total 1707\n"
		    "  quantiles (ns): 7 7 7 7 499 500 700 700 12799 12800 99949 99950 127999 128000 128500\n"
		    "  unsorted:       1\n");
	expect_text(test, &none,
		    "  count:          1\n"
		    "  rate:           0/sec\n"
		    "  frequency:    0 ns\n"
		    "  avg duration:   0 ns\n"
		    "  max duration:   0 ns\n"
		    "  quantiles (us): - - - - - - - - - - - - - - -\n"
		    "  recent avg:     0 ns\n"
		    "  recent freq:    0 ns\n"
		    "  exact (ns):     avg 0 min 0 max 0 total 0\n"
		    "  quantiles (ns): - - - - - - - - - - - - - - -\n"
		    "  unsorted:       1\n");
}

static struct kunit_case time_stats_cases[] = {
	KUNIT_CASE(test_every_bucket_has_its_values),
	KUNIT_CASE(test_buckets_are_off_by_a_64th),
	KUNIT_CASE(test_late_events_are_old),
	KUNIT_CASE_PARAM(test_quantiles, distribution_gen_params),
	KUNIT_CASE(test_count_average_maximum),
	KUNIT_CASE(test_more_than_64_bits),
	KUNIT_CASE(test_end_before_start_is_no_time),
	KUNIT_CASE(test_reset_forgets_all),
	KUNIT_CASE(test_buffers_are_merged),
	KUNIT_CASE(test_recent_is_recent),
	KUNIT_CASE(test_recent_of_rare_events),
	KUNIT_CASE(test_recent_of_long_events),
	KUNIT_CASE(test_order_makes_no_difference),
	KUNIT_CASE(test_before_there_is_a_histogram),
	KUNIT_CASE(test_histogram_comes_by_itself),
	KUNIT_CASE(test_exit_leaves_nothing_behind),
	KUNIT_CASE(test_interrupts_lose_nothing),
	KUNIT_CASE(test_text),
	{}
};

static struct kunit_suite time_stats_suite = {
	.name = "time_stats",
	.test_cases = time_stats_cases,
};

kunit_test_suite(time_stats_suite);
