/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics on events that have a start and an end: how many, how often, how
 * long. See lib/time_stats.c and Documentation/core-api/time-stats.rst.
 */
#ifndef _LINUX_TIME_STATS_H
#define _LINUX_TIME_STATS_H

#include <linux/list.h>
#include <linux/spinlock_types.h>
#include <linux/types.h>

struct seq_file;
struct time_stats_histogram;

/* How many quantiles there are: of 1/16, 2/16 ... 15/16 of the events. */
#define TIME_STATS_QUANTILES	15

/**
 * struct time_stats - statistics on events of a kind
 *
 * Made by time_stats_init(). All of it is private to lib/time_stats.c, see
 * struct time_stats_report for what can be known.
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

	/* Of the ends of events. */
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
 * struct time_stats_report - what is known of events, all times in nanoseconds
 * @count: how many there were
 * @unsorted: how many of them are not in the quantiles, as they came before
 *	there was memory for that
 * @total: how long all of them took; U64_MAX for more than fits
 * @mean: how long one took on average
 * @min: how long the shortest took
 * @max: how long the longest took
 * @last: when the last one ended, of ktime_get_mono_fast_ns()
 * @span: from the end of the first to the end of the last
 * @interval: mean time from the end of one to the end of the next, 0 for fewer
 *	than two
 * @recent_mean: how long one took on average, of the last seconds
 * @recent_interval: mean time between them, of the last seconds; 0 when there was
 *	none
 * @quantile: by increasing time; off by at most 1/64 of the value, all 0 when
 *	no event is in them
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
