/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics of events that have a start and an end: their number, frequency
 * and duration. See lib/time_stats.c and Documentation/core-api/time-stats.rst.
 */
#ifndef _LINUX_TIME_STATS_H
#define _LINUX_TIME_STATS_H

#include <linux/list.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>

struct seq_file;
struct time_stats_histogram;

/* Number of quantiles: 1/16, 2/16 ... 15/16. */
#define TIME_STATS_QUANTILES	15

/**
 * struct time_stats - statistics of one kind of event
 *
 * Initialized by time_stats_init(). All members are private to
 * lib/time_stats.c; time_stats_read() fills a struct time_stats_report.
 */
struct time_stats {
	/* private: */
	raw_spinlock_t lock;
	bool asked;

	u64 count;
	u64 unsorted;
	u64 total_1024;
	u64 min;
	u64 max;
	u32 total_rest;

	/* When the first and the last event ended. */
	u64 first;
	u64 last;

	u64 origin;
	u64 epoch;
	u64 recent_count;
	u64 recent_duration;
	u64 recent_time;

	struct time_stats_histogram *histogram;
	struct list_head node;
};

/**
 * struct time_stats_report - statistics of events, all times in nanoseconds
 * @count: number of events
 * @unsorted: number of events that are missing from the quantiles, because the
 *	histogram was not allocated yet
 * @total: sum of all durations, U64_MAX if it is larger
 * @mean: mean duration
 * @min: shortest duration
 * @max: longest duration
 * @last: end of the last event, in time of ktime_get_mono_fast_ns()
 * @span: time from the end of the first event to the end of the last one
 * @interval: mean time from the end of an event to the end of the next, 0 for
 *	fewer than two events
 * @recent_mean: mean duration over the last seconds
 * @recent_interval: mean time between events over the last seconds, 0 if there
 *	were none
 * @quantile: quantiles of the duration, the smallest first. The error is at
 *	most 1/64 of the value. All are 0 if the histogram has no events.
 */
struct time_stats_report {
	u64 count;
	u64 unsorted;
	u64 total;
	u64 mean;
	u64 min;
	u64 max;
	u64 last;
	u64 span;
	u64 interval;
	u64 recent_mean;
	u64 recent_interval;
	u64 quantile[TIME_STATS_QUANTILES];
};

void time_stats_init(struct time_stats *stats, unsigned int nr);
void time_stats_exit(struct time_stats *stats, unsigned int nr);

void time_stats_update(struct time_stats *stats, u64 start);
void time_stats_update_at(struct time_stats *stats, u64 start, u64 end);

void time_stats_flush(void);
void time_stats_reset(struct time_stats *stats);
u64 time_stats_count(struct time_stats *stats, u64 *total);
void time_stats_read(struct time_stats *stats, u64 now,
		     struct time_stats_report *report);
void time_stats_show(struct seq_file *m, const struct time_stats_report *report);

#endif /* _LINUX_TIME_STATS_H */
