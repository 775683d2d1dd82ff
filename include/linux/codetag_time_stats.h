/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Latency by call site: the duration of pieces of code, and of sleeps. See
 * lib/codetag_time_stats.c and Documentation/core-api/time-stats.rst.
 *
 * linux/wait.h includes this header, so it must not include any other that
 * needs linux/wait.h.
 */
#ifndef _LINUX_CODETAG_TIME_STATS_H
#define _LINUX_CODETAG_TIME_STATS_H

#include <linux/types.h>

struct wait_queue_entry;

#ifdef CONFIG_CODETAG_TIME_STATS

#include <linux/codetag.h>
#include <linux/jump_label.h>

struct time_stats;

/**
 * struct codetag_time_stats - a call site that is timed
 * @ct: its place in the source
 * @stats: its statistics, NULL until timing is first enabled
 */
struct codetag_time_stats {
	struct codetag ct;
	struct time_stats *stats;
} __aligned(8);

/**
 * struct wait_timing - timing of the current wait of a wait queue entry
 * @tag: the call site that waits
 * @start: time at which the wait began
 *
 * Valid while the entry has WQ_FLAG_TIMED. So it needs no initialization.
 */
struct wait_timing {
	struct codetag_time_stats *tag;
	u64 start;
};

/* On while timing is enabled. */
DECLARE_STATIC_KEY_FALSE(codetag_time_stats_key);

u64 codetag_time_stats_now(void);
void codetag_time_stats_count(struct codetag_time_stats *tag, u64 start);

void __wait_timing_start(struct wait_queue_entry *wq_entry,
			 struct codetag_time_stats *tag);
void __wait_timing_finish(struct wait_queue_entry *wq_entry);
long __wait_woken_timed(struct wait_queue_entry *wq_entry, unsigned int mode,
			long timeout, struct codetag_time_stats *tag);

/*
 * The variable needs the attribute as well, or the compiler aligns it to 32
 * bytes, which leaves gaps in the section.
 */
#define CODETAG_TIME_STATS_TAG(_name)					\
	static struct codetag_time_stats __used __aligned(8)		\
	__section("time_stats_tags") _name = { .ct = CODETAG_INIT }

/**
 * code_tag_time_stats_start - start timing a piece of code
 *
 * Context: any but NMI.
 * Return: the start time, for code_tag_time_stats_finish(); 0 while timing is
 * off.
 */
static __always_inline u64 code_tag_time_stats_start(void)
{
	if (static_branch_unlikely(&codetag_time_stats_key))
		return codetag_time_stats_now();
	return 0;
}

/**
 * code_tag_time_stats_finish - finish timing a piece of code
 * @_start: value of code_tag_time_stats_start(); 0 counts nothing
 *
 * The time is added to the statistics of this call site.
 *
 * Context: any but NMI.
 */
#define code_tag_time_stats_finish(_start)				\
do {									\
	CODETAG_TIME_STATS_TAG(_time_stats_tag);			\
									\
	if (static_branch_unlikely(&codetag_time_stats_key))		\
		codetag_time_stats_count(&_time_stats_tag, (_start));	\
} while (0)

/**
 * code_tag_timed - make a call and time it at this call site
 * @_call: an expression with a value
 *
 * For functions that sleep on behalf of their callers. Define a macro with the
 * name of the function, and call the function inside of code_tag_timed() there:
 * then each caller is timed at its own call site.
 *
 * Context: any but NMI.
 * Return: the value of @_call.
 */
#define code_tag_timed(_call)						\
({									\
	u64 _timed_start = code_tag_time_stats_start();			\
	__auto_type _timed_ret = (_call);				\
									\
	code_tag_time_stats_finish(_timed_start);			\
	_timed_ret;							\
})

/* A wait begins at this call site, unless the entry is in a wait already. */
#define wait_timing_start(_wq_entry)					\
do {									\
	CODETAG_TIME_STATS_TAG(_time_stats_tag);			\
									\
	if (static_branch_unlikely(&codetag_time_stats_key))		\
		__wait_timing_start((_wq_entry), &_time_stats_tag);	\
} while (0)

/* The wait of an entry is over, if it was timed. */
static __always_inline void
wait_timing_finish(struct wait_queue_entry *wq_entry)
{
	if (static_branch_unlikely(&codetag_time_stats_key))
		__wait_timing_finish(wq_entry);
}

#else /* CONFIG_CODETAG_TIME_STATS */

struct wait_timing { };

static __always_inline u64 code_tag_time_stats_start(void)
{
	return 0;
}

#define code_tag_time_stats_finish(_start)	((void)(_start))
#define code_tag_timed(_call)			(_call)
#define wait_timing_start(_wq_entry)		((void)(_wq_entry))

static __always_inline void
wait_timing_finish(struct wait_queue_entry *wq_entry)
{
}

#endif /* CONFIG_CODETAG_TIME_STATS */

#endif /* _LINUX_CODETAG_TIME_STATS_H */
