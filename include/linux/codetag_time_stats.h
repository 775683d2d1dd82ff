/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long pieces of code take, and how long the kernel sleeps, by line of code.
 * See lib/codetag_time_stats.c and Documentation/core-api/time-stats.rst.
 *
 * linux/wait.h includes this; it must not include anything that needs that.
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
 * struct codetag_time_stats - a line that is timed
 * @ct: where it is
 * @stats: what is known of it, NULL as long as nothing was ever timed
 */
struct codetag_time_stats {
	struct codetag ct;
	struct time_stats *stats;
} __aligned(8);

/**
 * struct wait_timing - what a wait queue entry knows of the wait it is used for
 * @tag: the line
 * @start: when that began
 *
 * Holds good while the entry has WQ_FLAG_TIMED, so that nobody has to initialize
 * it.
 */
struct wait_timing {
	struct codetag_time_stats *tag;
	u64 start;
};

/* Is anything timed? */
DECLARE_STATIC_KEY_FALSE(codetag_time_stats_key);

u64 codetag_time_stats_now(void);
void codetag_time_stats_count(struct codetag_time_stats *tag, u64 start);

void __wait_timing_start(struct wait_queue_entry *wq_entry,
			 struct codetag_time_stats *tag);
void __wait_timing_finish(struct wait_queue_entry *wq_entry);
long __wait_woken_timed(struct wait_queue_entry *wq_entry, unsigned int mode,
			long timeout, struct codetag_time_stats *tag);

/* Said of the variable, or the compiler aligns it to 32, and leaves gaps. */
#define CODETAG_TIME_STATS_TAG(_name)					\
	static struct codetag_time_stats __used __aligned(8)		\
	__section("time_stats_tags") _name = { .ct = CODETAG_INIT }

/**
 * code_tag_time_stats_start - here begins what is timed
 *
 * Context: any but NMI.
 * Return: what code_tag_time_stats_finish() wants.
 */
static __always_inline u64 code_tag_time_stats_start(void)
{
	if (static_branch_unlikely(&codetag_time_stats_key))
		return codetag_time_stats_now();
	return 0;
}

/**
 * code_tag_time_stats_finish - here ends what is timed
 * @_start: what code_tag_time_stats_start() returned; 0 for nothing to count
 *
 * The statistics are those of the line that this stands on.
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
 * code_tag_timed - make a call, and time it by the line that this stands on
 * @_call: an expression with a value
 *
 * For what sleeps on behalf of its callers, and would show one line for all of
 * them: a macro with this, of the name of the function, shows theirs.
 *
 * Context: any but NMI.
 * Return: the value.
 */
#define code_tag_timed(_call)						\
({									\
	u64 _timed_start = code_tag_time_stats_start();			\
	__auto_type _timed_ret = (_call);				\
									\
	code_tag_time_stats_finish(_timed_start);			\
	_timed_ret;							\
})

/* A wait begins here, unless it is one that goes on. */
#define wait_timing_start(_wq_entry)					\
do {									\
	CODETAG_TIME_STATS_TAG(_time_stats_tag);			\
									\
	if (static_branch_unlikely(&codetag_time_stats_key))		\
		__wait_timing_start((_wq_entry), &_time_stats_tag);	\
} while (0)

/* A wait is over, if one was. */
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
