// SPDX-License-Identifier: GPL-2.0-only
/*
 * Statistics of events that have a start and an end.
 *
 * An event first goes into the buffer of its CPU; all statistics share these
 * buffers. An event that finds its buffer full empties it into the statistics,
 * and every reader empties all buffers. So an event is in exactly one place,
 * and none is ever lost.
 *
 * The quantiles come from a histogram with fixed buckets. A value of up to six
 * bits has a bucket of its own. Larger values are sorted by their six highest
 * bits, which makes 32 buckets for each power of two. A quantile is the middle
 * of its bucket, so its error is at most half of the width of a bucket: 1/64 of
 * the value, less than 1.6 %, over the whole range of 64 bits. Durations are
 * neither sampled nor cut to a maximum.
 *
 * A histogram must be allocated, but events can happen where that is
 * impossible. So statistics begin without one. The first event requests it, by
 * an irq_work and a work item, and waits in its buffer like any other. A buffer
 * may be emptied before the histogram exists. Its events are then counted as
 * unsorted and do not enter the quantiles. The work item first allocates a
 * histogram. Then it takes the first statistics off the queue, under the lock of
 * the queue, so it never refers to statistics that may be freed meanwhile.
 *
 * In the recent means, an event loses an eighth of its weight for every second
 * of its age. Ages are counted in whole epochs, and include the time that an
 * event was in a buffer. So the order in which the buffers are emptied makes a
 * difference of less than an epoch.
 *
 * Events may happen in any context but NMI: there are only raw spinlocks, taken
 * with interrupts off and held for a short time. The order is buffer, then
 * statistics. The lock of the queue is taken under that of a buffer, and no
 * lock is taken under it.
 *
 * The clock is ktime_get_mono_fast_ns(), the only one that can be read in all
 * these contexts. ktime_get() would spin for ever if it interrupted the update
 * of the clock on its own CPU, and warns while timekeeping is suspended.
 */
#include <linux/bits.h>
#include <linux/bitops.h>
#include <linux/build_bug.h>
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/time64.h>
#include <linux/time_stats.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

/* Data */

#define SUB_BITS	5	/* 32 buckets for each power of two */
#define SUB_BUCKETS	BIT(SUB_BITS)
#define NR_BUCKETS	((64 - SUB_BITS + 1) * SUB_BUCKETS)

/**
 * struct time_stats_histogram - the durations of events
 * @nr: number of events in all buckets
 * @bucket: number of events in each bucket
 */
struct time_stats_histogram {
	u64 nr;
	u64 bucket[NR_BUCKETS];
};

static_assert(sizeof(struct time_stats_histogram) <= 16384);

/* Recent means: a weight falls to 7/8 with every epoch, of about a second. */
#define EPOCH_SHIFT	30
#define EPOCH_NS	BIT_ULL(EPOCH_SHIFT)
#define FRACTION_BITS	31			/* of a weight */
#define FRACTION_ONE	BIT(FRACTION_BITS)
#define EPOCH_LEFT	(FRACTION_ONE / 8 * 7)
#define EPOCHS_IN_ALL	7			/* 7/8 + (7/8)^2 + (7/8)^3 ... */
#define COUNT_BITS	16			/* fraction of a recent count */

#define BUFFERED	32

/**
 * struct time_stats_event - an event that is not in its statistics yet
 * @stats: the statistics it belongs to
 * @start: time of its start
 * @end: time of its end
 */
struct time_stats_event {
	struct time_stats *stats;
	u64 start;
	u64 end;
};

/**
 * struct time_stats_buffer - events of a CPU
 * @lock: protects the other members; another CPU takes it to empty the buffer
 * @nr: number of events
 * @event: the events, in the order in which they ended
 */
struct time_stats_buffer {
	raw_spinlock_t lock;
	unsigned int nr;
	struct time_stats_event event[BUFFERED];
};

static DEFINE_PER_CPU(struct time_stats_buffer, time_stats_buffers) = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(time_stats_buffers.lock),
};

/* Statistics that have events but no histogram yet, first come first served. */
static DEFINE_RAW_SPINLOCK(waiting_lock);
static LIST_HEAD(waiting);

/* Internals: the histogram */

static unsigned int bucket_of(u64 value)
{
	unsigned int shift;

	if (value < 2 * SUB_BUCKETS)
		return value;
	shift = fls64(value) - (SUB_BITS + 1);
	return shift * SUB_BUCKETS + (value >> shift);
}

/* The value in the middle of a bucket. */
static u64 bucket_value(unsigned int bucket)
{
	unsigned int shift;
	u64 value;

	if (bucket < 2 * SUB_BUCKETS)
		return bucket;
	shift = bucket / SUB_BUCKETS - 1;
	value = (u64)(bucket % SUB_BUCKETS + SUB_BUCKETS) << shift;
	return value + (BIT_ULL(shift) >> 1);
}

static void histogram_add(struct time_stats_histogram *h, u64 value)
{
	h->bucket[bucket_of(value)]++;
	h->nr++;
}

/*
 * quantile[k] is the duration of the event with rank nr * (k + 1) / 16, rounded
 * up. The event is in the first bucket at which the running number of events
 * reaches the rank.
 */
static void histogram_quantiles(const struct time_stats_histogram *h,
				u64 quantile[TIME_STATS_QUANTILES])
{
	unsigned int k = 0, i;
	u64 seen = 0, rank;

	for (i = 0; i < NR_BUCKETS && k < TIME_STATS_QUANTILES; i++) {
		seen += h->bucket[i];
		for (; k < TIME_STATS_QUANTILES; k++) {
			rank = (h->nr / 16) * (k + 1) +
			       DIV_ROUND_UP((h->nr % 16) * (k + 1), 16);
			if (!rank || seen < rank)
				break;
			quantile[k] = bucket_value(i);
		}
	}
}

/* Internals: recent means */

/* The weight left of 1 after some epochs, in units of 1 / FRACTION_ONE. */
static u32 epochs_left(u64 epochs)
{
	u64 left = FRACTION_ONE, factor = EPOCH_LEFT;

	if (epochs > 255)
		return 0;
	for (; epochs; epochs >>= 1) {
		if (epochs & 1)
			left = left * factor >> FRACTION_BITS;
		factor = factor * factor >> FRACTION_BITS;
	}
	return left;
}

static u64 epoch_of(const struct time_stats *stats, u64 time)
{
	return time > stats->origin ? (time - stats->origin) >> EPOCH_SHIFT : 0;
}

/*
 * The value of recent_time after some epochs; @left is epochs_left() for their
 * number. recent_time is the time that recent_count covers, weighted like the
 * events.
 */
static u64 recent_time_after(const struct time_stats *stats, u32 left)
{
	return mul_u64_u32_shr(stats->recent_time, left, FRACTION_BITS) +
	       mul_u64_u32_shr(EPOCHS_IN_ALL * EPOCH_NS, FRACTION_ONE - left,
			       FRACTION_BITS);
}

/* The age of an event in epochs, relative to the youngest event. */
static u64 epochs_late(const struct time_stats *stats, u64 end)
{
	if (end < stats->origin)
		return stats->epoch + ((stats->origin - end) >> EPOCH_SHIFT);
	return stats->epoch - min(epoch_of(stats, end), stats->epoch);
}

static void recent_age(struct time_stats *stats, u64 epoch)
{
	u32 left;

	if (epoch <= stats->epoch)
		return;
	left = epochs_left(epoch - stats->epoch);
	stats->recent_count = mul_u64_u32_shr(stats->recent_count, left,
					      FRACTION_BITS);
	stats->recent_duration = mul_u64_u32_shr(stats->recent_duration, left,
						 FRACTION_BITS);
	stats->recent_time = recent_time_after(stats, left);
	stats->epoch = epoch;
}

static void recent_add(struct time_stats *stats, u64 end, u64 duration)
{
	u32 left;

	recent_age(stats, epoch_of(stats, end));
	left = epochs_left(epochs_late(stats, end));
	stats->recent_count += mul_u64_u32_shr(1 << COUNT_BITS, left,
					       FRACTION_BITS);
	duration = mul_u64_u32_shr(duration, left, FRACTION_BITS);
	if (stats->recent_duration + duration >= duration)
		stats->recent_duration += duration;
	else
		stats->recent_duration = U64_MAX;
}

/* The mean time between events, including the time from the last one to now. */
static u64 recent_interval(const struct time_stats *stats, u64 now)
{
	u64 epoch = max(epoch_of(stats, now), stats->epoch);
	u32 left = epochs_left(epoch - stats->epoch);
	u64 count, time;

	count = mul_u64_u32_shr(stats->recent_count, left, FRACTION_BITS);
	if (!count)
		return 0;
	time = recent_time_after(stats, left);
	if (now > stats->origin)
		time += (now - stats->origin) & (EPOCH_NS - 1);
	return div64_u64(time << COUNT_BITS, count);
}

static u64 recent_mean(const struct time_stats *stats)
{
	u64 count = max_t(u64, stats->recent_count, 1), mean, rest;

	/* Divide before the shift: a shifted sum of days would overflow. */
	mean = div64_u64_rem(stats->recent_duration, count, &rest);
	return (mean << COUNT_BITS) + div64_u64(rest << COUNT_BITS, count);
}

/* Internals: statistics */

static void stats_add_times(struct time_stats *stats, u64 end, u64 duration)
{
	if (!stats->count) {
		stats->min = duration;
		stats->first = end;
		stats->origin = end;
	}
	stats->count++;
	stats->min = min(stats->min, duration);
	stats->max = max(stats->max, duration);
	stats->first = min(stats->first, end);
	stats->last = max(stats->last, end);

	/* The sum over all tasks can exceed 64 bits of nanoseconds. */
	stats->total_rest += duration % 1024;
	stats->total_1024 += duration / 1024 + stats->total_rest / 1024;
	stats->total_rest %= 1024;
}

static void stats_add(struct time_stats *stats, u64 start, u64 end)
{
	u64 duration = end > start ? end - start : 0;
	struct time_stats_histogram *h;

	lockdep_assert_irqs_disabled();

	raw_spin_lock(&stats->lock);
	stats_add_times(stats, end, duration);
	recent_add(stats, end, duration);
	/* Pairs with the release in give_histogram(). */
	h = smp_load_acquire(&stats->histogram);
	if (h)
		histogram_add(h, duration);
	else
		stats->unsorted++;
	raw_spin_unlock(&stats->lock);
}

static void buffer_drain(struct time_stats_buffer *b)
{
	unsigned int i;

	lockdep_assert_held(&b->lock);

	for (i = 0; i < b->nr; i++)
		stats_add(b->event[i].stats, b->event[i].start, b->event[i].end);
	b->nr = 0;
}

static void drain_all(void)
{
	struct time_stats_buffer *b;
	unsigned long flags;
	int cpu;

	/* Include offline CPUs: nothing else empties their buffers. */
	for_each_possible_cpu(cpu) {
		b = per_cpu_ptr(&time_stats_buffers, cpu);
		raw_spin_lock_irqsave(&b->lock, flags);
		buffer_drain(b);
		raw_spin_unlock_irqrestore(&b->lock, flags);
	}
}

/* Internals: allocation of histograms */

/*
 * Give a histogram to the first statistics in the queue. Return false if the
 * queue is empty by then, or if there is no memory.
 */
static bool give_histogram(void)
{
	struct time_stats_histogram *h;
	struct time_stats *stats;
	unsigned long flags;
	bool more;

	if (list_empty_careful(&waiting))
		return false;
	h = kvzalloc(sizeof(*h), GFP_KERNEL | __GFP_NOWARN);
	if (!h)
		return false;

	raw_spin_lock_irqsave(&waiting_lock, flags);
	stats = list_first_entry_or_null(&waiting, struct time_stats, node);
	if (stats) {
		list_del_init(&stats->node);
		/* Readers never see a histogram that is not zeroed. */
		smp_store_release(&stats->histogram, h);
		h = NULL;
	}
	more = !list_empty(&waiting);
	raw_spin_unlock_irqrestore(&waiting_lock, flags);

	kvfree(h);
	return more;
}

static void give_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(give_work, give_work_fn);

static void give_work_fn(struct work_struct *work)
{
	while (give_histogram())
		;
	/* No memory: try again later. */
	if (!list_empty_careful(&waiting))
		schedule_delayed_work(&give_work, HZ);
}

static void give_irq_work_fn(struct irq_work *irq_work)
{
	schedule_delayed_work(&give_work, 0);
}

/* lib/lazy-percpu-counter.c says at hot_irq_work why this is a hard irq_work. */
static struct irq_work give_irq_work = IRQ_WORK_INIT_HARD(give_irq_work_fn);

static void ask_for_histogram(struct time_stats *stats)
{
	lockdep_assert_irqs_disabled();

	raw_spin_lock(&waiting_lock);
	if (stats->asked) {
		raw_spin_unlock(&waiting_lock);
		return;
	}
	WRITE_ONCE(stats->asked, true);
	list_add_tail(&stats->node, &waiting);
	raw_spin_unlock(&waiting_lock);
	irq_work_queue(&give_irq_work);
}

/* Interface: events */

/**
 * time_stats_init - initialize an array of statistics
 * @stats: the first element
 * @nr: number of elements
 *
 * Context: any.
 */
void time_stats_init(struct time_stats *stats, unsigned int nr)
{
	for (; nr; nr--, stats++) {
		memset(stats, 0, sizeof(*stats));
		raw_spin_lock_init(&stats->lock);
		INIT_LIST_HEAD(&stats->node);
	}
}
EXPORT_SYMBOL_GPL(time_stats_init);

/**
 * time_stats_exit - free the histograms of an array of statistics
 * @stats: the first element
 * @nr: number of elements
 *
 * No further events may come. Empties the buffers, so that nothing refers to
 * the statistics afterwards.
 *
 * Context: process context.
 */
void time_stats_exit(struct time_stats *stats, unsigned int nr)
{
	unsigned long flags;
	unsigned int i;

	drain_all();
	for (i = 0; i < nr; i++) {
		raw_spin_lock_irqsave(&waiting_lock, flags);
		list_del_init(&stats[i].node);
		raw_spin_unlock_irqrestore(&waiting_lock, flags);
		kvfree(stats[i].histogram);
		stats[i].histogram = NULL;
	}
}
EXPORT_SYMBOL_GPL(time_stats_exit);

/**
 * time_stats_update_at - count an event
 * @stats: its statistics
 * @start: time of its start, in nanoseconds of ktime_get_mono_fast_ns()
 * @end: time of its end; an end before @start counts as a duration of 0
 *
 * Context: any but NMI, from core initcalls on.
 */
void time_stats_update_at(struct time_stats *stats, u64 start, u64 end)
{
	struct time_stats_buffer *b;
	unsigned long flags;

	local_irq_save(flags);
	b = this_cpu_ptr(&time_stats_buffers);
	raw_spin_lock(&b->lock);
	if (unlikely(b->nr == BUFFERED))
		buffer_drain(b);
	b->event[b->nr++] = (struct time_stats_event) { stats, start, end };
	if (unlikely(!READ_ONCE(stats->asked)))
		ask_for_histogram(stats);
	raw_spin_unlock(&b->lock);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(time_stats_update_at);

/**
 * time_stats_update - count an event that ends now
 * @stats: its statistics
 * @start: time of its start, in nanoseconds of ktime_get_mono_fast_ns()
 *
 * Context: any but NMI, from core initcalls on.
 */
void time_stats_update(struct time_stats *stats, u64 start)
{
	time_stats_update_at(stats, start, ktime_get_mono_fast_ns());
}
EXPORT_SYMBOL_GPL(time_stats_update);

/* Interface: reading */

/**
 * time_stats_flush - move all events from the buffers into their statistics
 *
 * A later time_stats_read() includes all events that were counted before this
 * call, and a later time_stats_reset() forgets them.
 *
 * Context: process context, may sleep.
 */
void time_stats_flush(void)
{
	while (give_histogram())
		;
	drain_all();
}
EXPORT_SYMBOL_GPL(time_stats_flush);

/**
 * time_stats_reset - forget all events
 * @stats: the statistics; other CPUs may count events meanwhile
 *
 * Call time_stats_flush() first. Otherwise older events can still come out of
 * the buffers afterwards.
 *
 * Context: process context.
 */
void time_stats_reset(struct time_stats *stats)
{
	struct time_stats_histogram *h;
	unsigned long flags;

	raw_spin_lock_irqsave(&stats->lock, flags);
	stats->count = 0;
	stats->unsorted = 0;
	stats->total_1024 = 0;
	stats->total_rest = 0;
	stats->max = 0;
	stats->last = 0;
	stats->epoch = 0;
	stats->recent_count = 0;
	stats->recent_duration = 0;
	stats->recent_time = 0;
	/* Pairs with the release in give_histogram(). */
	h = smp_load_acquire(&stats->histogram);
	if (h)
		memset(h, 0, sizeof(*h));
	raw_spin_unlock_irqrestore(&stats->lock, flags);
}
EXPORT_SYMBOL_GPL(time_stats_reset);

static u64 stats_total(const struct time_stats *stats)
{
	if (stats->total_1024 > U64_MAX / 1024)
		return U64_MAX;
	return stats->total_1024 * 1024 + stats->total_rest;
}

static u64 stats_mean(const struct time_stats *stats)
{
	u64 mean, rest;

	mean = div64_u64_rem(stats->total_1024, stats->count, &rest);
	return mean * 1024 + div64_u64(rest * 1024 + stats->total_rest,
				       stats->count);
}

/**
 * time_stats_count - get the number of events and the sum of their durations
 * @stats: the statistics
 * @total: returns the sum in nanoseconds, U64_MAX if it is larger
 *
 * Context: any but NMI.
 * Return: the number of events.
 */
u64 time_stats_count(struct time_stats *stats, u64 *total)
{
	unsigned long flags;
	u64 count;

	raw_spin_lock_irqsave(&stats->lock, flags);
	count = stats->count;
	*total = stats_total(stats);
	raw_spin_unlock_irqrestore(&stats->lock, flags);
	return count;
}
EXPORT_SYMBOL_GPL(time_stats_count);

/**
 * time_stats_read - read statistics
 * @stats: the statistics
 * @now: the current time, from ktime_get_mono_fast_ns()
 * @report: returns the values, all of the same moment
 *
 * Call time_stats_flush() first. Otherwise the events in the buffers are
 * missing.
 *
 * Context: any but NMI.
 */
void time_stats_read(struct time_stats *stats, u64 now,
		     struct time_stats_report *report)
{
	struct time_stats_histogram *h;
	unsigned long flags;
	unsigned int k;

	memset(report, 0, sizeof(*report));
	raw_spin_lock_irqsave(&stats->lock, flags);
	if (!stats->count)
		goto out;
	report->count = stats->count;
	report->unsorted = stats->unsorted;
	report->total = stats_total(stats);
	report->mean = stats_mean(stats);
	report->min = stats->min;
	report->max = stats->max;
	report->last = stats->last;
	report->span = stats->last - stats->first;
	if (stats->count > 1)
		report->interval = div64_u64(report->span, stats->count - 1);
	report->recent_mean = recent_mean(stats);
	report->recent_interval = recent_interval(stats, now);
	/* Pairs with the release in give_histogram(). */
	h = smp_load_acquire(&stats->histogram);
	if (!h)
		goto out;
	histogram_quantiles(h, report->quantile);
	/* The middle of a bucket can be outside of minimum and maximum. */
	if (h->nr)
		for (k = 0; k < TIME_STATS_QUANTILES; k++)
			report->quantile[k] = clamp(report->quantile[k],
						    stats->min, stats->max);
out:
	raw_spin_unlock_irqrestore(&stats->lock, flags);
}
EXPORT_SYMBOL_GPL(time_stats_read);

/* Interface: text */

static void show_time(struct seq_file *m, const char *label, u64 ns)
{
	static const struct {
		const char *name;
		u32 ns;
	} units[] = {
		{ "sec", NSEC_PER_SEC },
		{ "ms", NSEC_PER_MSEC },
		{ "us", NSEC_PER_USEC },
		{ "ns", 1 },
	};
	unsigned int i = 0;
	u64 number;
	u32 rest;

	while (i < ARRAY_SIZE(units) - 1 && ns < units[i].ns)
		i++;
	number = div_u64_rem(ns, units[i].ns, &rest);
	if (rest >= units[i].ns / 2 && rest)
		number++;
	seq_printf(m, "  %s%llu %s\n", label, number, units[i].name);
}

/* Show the quantiles, rounded to units of @unit nanoseconds. */
static void show_quantiles(struct seq_file *m, const char *label, u32 unit,
			   const struct time_stats_report *report)
{
	unsigned int k;
	u64 number;
	u32 rest;

	seq_printf(m, "  quantiles (%s):", label);
	for (k = 0; k < TIME_STATS_QUANTILES; k++) {
		if (report->count == report->unsorted) {
			seq_puts(m, " -");
			continue;
		}
		number = div_u64_rem(report->quantile[k], unit, &rest);
		seq_printf(m, " %llu", number + (rest >= (unit + 1) / 2));
	}
	seq_putc(m, '\n');
}

/**
 * time_stats_show - write a report as text
 * @m: the file to write to
 * @report: a report from time_stats_read()
 */
void time_stats_show(struct seq_file *m, const struct time_stats_report *report)
{
	u64 rate = 0;

	if (report->span)
		rate = mul_u64_u64_div_u64(report->count - 1, NSEC_PER_SEC,
					   report->span);

	seq_printf(m, "  count:          %llu\n", report->count);
	seq_printf(m, "  rate:           %llu/sec\n", rate);
	show_time(m, "frequency:    ", report->interval);
	show_time(m, "avg duration:   ", report->mean);
	show_time(m, "max duration:   ", report->max);
	show_quantiles(m, "us", NSEC_PER_USEC, report);
	show_time(m, "recent avg:     ", report->recent_mean);
	show_time(m, "recent freq:    ", report->recent_interval);
	seq_printf(m, "  exact (ns):     avg %llu min %llu max %llu total %llu\n",
		   report->mean, report->min, report->max, report->total);
	show_quantiles(m, "ns", 1, report);
	seq_printf(m, "  unsorted:       %llu\n", report->unsorted);
}
EXPORT_SYMBOL_GPL(time_stats_show);

#ifdef CONFIG_TIME_STATS_KUNIT_TEST
#include "time_stats_kunit.c"
#endif
