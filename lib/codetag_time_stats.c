// SPDX-License-Identifier: GPL-2.0-only
/*
 * Latency by call site.
 *
 * Each call site that is timed is a code tag: a code_tag_time_stats_finish(),
 * or a prepare_to_wait() and the like. While timing is off there is only this
 * static record, and a static branch skips the code. Statistics for all call
 * sites are allocated when timing is enabled, and those of a module also when
 * it is loaded later. So nothing is allocated when an event is counted, and no
 * event is lost. Statistics stay until their tags go away.
 *
 * An event that began before timing was last enabled is not counted. So a start
 * time that was stored before that does no harm, however old it is.
 *
 * After a module is unloaded none of its code runs, so no further events come,
 * and the buffers are emptied before its statistics are freed. A wait that
 * began at a call site of a module must end before the unload. It does: a task
 * in a function of a module holds a reference to the module, and a wait queue
 * entry that outlives the function is in an object that belongs to the module.
 *
 * time_stats_mutex protects the switch and the order of the list. It is taken
 * before the lock of the tags. Events are counted in any context but NMI. All
 * else runs in process context.
 */
#define pr_fmt(fmt) "time_stats: " fmt

#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/codetag.h>
#include <linux/codetag_query.h>
#include <linux/codetag_time_stats.h>
#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/sched/debug.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/time_stats.h>
#include <linux/timekeeping.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

/* Data */

extern struct codetag_time_stats __start_time_stats_tags[],
				 __stop_time_stats_tags[];

/* Not EXPORT_SYMBOL_GPL: linux/wait.h uses it inline in every module. */
DEFINE_STATIC_KEY_FALSE(codetag_time_stats_key);
EXPORT_SYMBOL(codetag_time_stats_key);

static DEFINE_MUTEX(time_stats_mutex);
static bool time_stats_on;		/* writers lock the tags as well */
static bool time_stats_by_time;		/* order of the list */
static atomic64_t time_stats_since;	/* when timing was last enabled */

static int time_stats_load(struct codetag_type *type,
			   struct codetag_range *range);
static void time_stats_unload(struct codetag_type *type,
			      struct codetag_range *range);

static struct codetag_type time_stats_type = {
	.section	= "time_stats_tags",
	.tag_size	= sizeof(struct codetag_time_stats),
	.module_load	= time_stats_load,
	.module_unload	= time_stats_unload,
};

static struct codetag_range time_stats_kernel;

/* Internals: counting */

/**
 * codetag_time_stats_now - read the clock of all events
 *
 * Context: any.
 * Return: the time in nanoseconds.
 */
u64 codetag_time_stats_now(void)
{
	return ktime_get_mono_fast_ns();
}
EXPORT_SYMBOL(codetag_time_stats_now);

/**
 * codetag_time_stats_count - slow path of code_tag_time_stats_finish()
 * @tag: the call site
 * @start: time of the start
 *
 * Context: any but NMI.
 */
void codetag_time_stats_count(struct codetag_time_stats *tag, u64 start)
{
	struct time_stats *stats = READ_ONCE(tag->stats);

	/*
	 * Drop an event that began before timing was enabled. If timing was off
	 * at the start of the event, @start is 0. The comparison includes equal
	 * times, because the clock can stand still for a while.
	 */
	if (!stats || start <= atomic64_read(&time_stats_since))
		return;
	time_stats_update(stats, start);
}
EXPORT_SYMBOL(codetag_time_stats_count);

/**
 * __wait_timing_start - slow path of wait_timing_start()
 * @wq_entry: the entry that is about to be queued
 * @tag: the call site
 *
 * Only the waiter changes the flags, as in prepare_to_wait().
 */
void __wait_timing_start(struct wait_queue_entry *wq_entry,
			 struct codetag_time_stats *tag)
{
	/*
	 * Keep the start of a wait that goes on. If it began before the last
	 * on/off switch, it is stale: begin again.
	 */
	if (wq_entry->flags & WQ_FLAG_TIMED &&
	    wq_entry->timing.start > atomic64_read(&time_stats_since))
		return;
	wq_entry->timing.tag = tag;
	wq_entry->timing.start = codetag_time_stats_now();
	/* A waker may read the flags meanwhile, but tests only other flags. */
	data_race(wq_entry->flags |= WQ_FLAG_TIMED);
}
EXPORT_SYMBOL(__wait_timing_start);

/**
 * __wait_timing_finish - slow path of wait_timing_finish()
 * @wq_entry: the entry; a waker may still find it in its queue
 */
void __wait_timing_finish(struct wait_queue_entry *wq_entry)
{
	if (!(wq_entry->flags & WQ_FLAG_TIMED))
		return;
	/* As in __wait_timing_start(). */
	data_race(wq_entry->flags &= ~WQ_FLAG_TIMED);
	codetag_time_stats_count(wq_entry->timing.tag, wq_entry->timing.start);
}

/**
 * __wait_woken_timed - wait_woken() while timing is on
 * @wq_entry: the entry
 * @mode: state to sleep in
 * @timeout: maximum time to sleep, in jiffies
 * @tag: the call site
 *
 * The entry stays in its queue, where the waker changes its flags as well. So
 * WQ_FLAG_TIMED cannot be used here.
 *
 * Return: the rest of @timeout, in jiffies.
 */
long __sched __wait_woken_timed(struct wait_queue_entry *wq_entry,
				unsigned int mode, long timeout,
				struct codetag_time_stats *tag)
{
	u64 start = codetag_time_stats_now();

	timeout = (wait_woken)(wq_entry, mode, timeout);
	codetag_time_stats_count(tag, start);
	return timeout;
}
EXPORT_SYMBOL(__wait_woken_timed);

/* Internals: the tags */

static struct codetag_time_stats *to_time_stats(struct codetag *ct)
{
	return container_of(ct, struct codetag_time_stats, ct);
}

static struct time_stats *tag_stats(struct codetag *ct)
{
	return READ_ONCE(to_time_stats(ct)->stats);
}

/* The statistics of a range are one array, to which its first tag points. */
static struct time_stats *range_stats(struct codetag_type *type,
				      struct codetag_range *range)
{
	return tag_stats(codetag_of_range(type, range, 0));
}

static int range_begin(struct codetag_type *type, struct codetag_range *range)
{
	struct time_stats *stats;
	unsigned int i;

	lockdep_assert_held(&type->lock);

	if (!range->nr || range_stats(type, range))
		return 0;
	stats = kvcalloc(range->nr, sizeof(*stats), GFP_KERNEL);
	if (!stats)
		return -ENOMEM;
	time_stats_init(stats, range->nr);
	for (i = 0; i < range->nr; i++)
		/* Pairs with READ_ONCE(): a reader that finds @stats sees it initialized. */
		smp_store_release(&to_time_stats(codetag_of_range(type, range, i))->stats,
				  stats + i);
	return 0;
}

static int time_stats_load(struct codetag_type *type,
			   struct codetag_range *range)
{
	lockdep_assert_held_write(&type->lock);

	return time_stats_on ? range_begin(type, range) : 0;
}

static void time_stats_unload(struct codetag_type *type,
			      struct codetag_range *range)
{
	struct time_stats *stats = range_stats(type, range);

	lockdep_assert_held_write(&type->lock);

	if (!stats)
		return;
	time_stats_exit(stats, range->nr);
	kvfree(stats);
}

/* Internals: commands */

static int time_stats_enable(void)
{
	struct codetag_iterator iter;
	int err = 0;
	bool more;

	lockdep_assert_held(&time_stats_mutex);

	if (time_stats_on)
		return 0;
	codetag_lock(&time_stats_type);
	for (more = codetag_first(&iter, &time_stats_type); more && !err;
	     more = codetag_skip(&iter, iter.range->nr))
		err = range_begin(&time_stats_type, iter.range);
	time_stats_on = !err;
	codetag_unlock(&time_stats_type);
	if (err)
		return err;

	atomic64_set(&time_stats_since, codetag_time_stats_now());
	static_branch_enable(&codetag_time_stats_key);
	return 0;
}

static void time_stats_disable(void)
{
	lockdep_assert_held(&time_stats_mutex);

	if (!time_stats_on)
		return;
	static_branch_disable(&codetag_time_stats_key);
	codetag_lock(&time_stats_type);
	time_stats_on = false;
	codetag_unlock(&time_stats_type);
}

static int time_stats_reset_all(struct codetag_query *query)
{
	struct codetag_iterator iter;
	struct time_stats *stats;
	bool more, found = false;

	time_stats_flush();
	codetag_lock(&time_stats_type);
	for (more = codetag_first(&iter, &time_stats_type); more;
	     more = codetag_next(&iter)) {
		if (!codetag_query_match(query, iter.ct, codetag_modname(&iter),
					 NULL))
			continue;
		found = true;
		stats = tag_stats(iter.ct);
		if (stats)
			time_stats_reset(stats);
		cond_resched();
	}
	codetag_unlock(&time_stats_type);
	if (!found)
		pr_err("no such call site\n");
	return found ? 0 : -ENOENT;
}

enum time_stats_word {
	WORD_ENABLE,
	WORD_DISABLE,
	WORD_RESET,
	WORD_SORT,
};

static const char * const time_stats_words[] = {
	[WORD_ENABLE]	= "enable",
	[WORD_DISABLE]	= "disable",
	[WORD_RESET]	= "reset",
	[WORD_SORT]	= "sort",
};

static const char * const time_stats_orders[] = { "place", "time" };

/* @all: the command has no query. */
static int time_stats_parse(struct codetag_words *w, bool all, int *order)
{
	int word;

	if (!w->word)
		return codetag_words_wrong(w, "a command is missing");
	word = match_string(time_stats_words, ARRAY_SIZE(time_stats_words),
			    w->word);
	if (word < 0)
		return codetag_words_wrong(w, "no such command");
	if (word != WORD_RESET && !all)
		return codetag_words_wrong(w, "this command takes no query");
	codetag_words_next(w);
	if (word == WORD_SORT) {
		if (w->error)
			return -EINVAL;
		if (!w->word)
			return codetag_words_wrong(w, "an order is missing");
		*order = match_string(time_stats_orders,
				      ARRAY_SIZE(time_stats_orders), w->word);
		if (*order < 0)
			return codetag_words_wrong(w, "neither place nor time");
		codetag_words_next(w);
	}
	if (w->word && !w->error)
		return codetag_words_wrong(w, "more than a command");
	return w->error ? -EINVAL : word;
}

static int time_stats_command(struct codetag_words *w)
{
	const char *first = w->word;
	struct codetag_query query;
	int word, order = 0, err = 0;

	if (codetag_query_parse(&query, w))
		return -EINVAL;
	word = time_stats_parse(w, w->word == first, &order);
	if (word < 0)
		return word;

	mutex_lock(&time_stats_mutex);
	switch (word) {
	case WORD_ENABLE:
		err = time_stats_enable();
		break;
	case WORD_DISABLE:
		time_stats_disable();
		break;
	case WORD_RESET:
		err = time_stats_reset_all(&query);
		break;
	case WORD_SORT:
		WRITE_ONCE(time_stats_by_time, order);
		break;
	}
	mutex_unlock(&time_stats_mutex);
	return err;
}

/* Interface: debugfs and procfs */

/**
 * struct time_stats_row - a call site in the list
 * @total: sum of the durations of its events
 * @pos: position of its tag, which never names another one
 * @ct: its tag, valid only while the list is made and sorted
 */
struct time_stats_row {
	u64 total;
	u64 pos;
	const struct codetag *ct;
};

/**
 * struct time_stats_reader - an open file
 * @row: the call sites that had events when reading began, sorted
 * @nr: number of @row
 */
struct time_stats_reader {
	struct time_stats_row *row;
	unsigned int nr;
};

static int compare_places(const void *a, const void *b)
{
	const struct time_stats_row *x = a, *y = b;
	int diff = strcmp(x->ct->filename, y->ct->filename);

	if (diff)
		return diff;
	if (x->ct->lineno != y->ct->lineno)
		return x->ct->lineno < y->ct->lineno ? -1 : 1;
	return x->pos < y->pos ? -1 : x->pos > y->pos;
}

static int compare_times(const void *a, const void *b)
{
	const struct time_stats_row *x = a, *y = b;

	if (x->total != y->total)
		return x->total > y->total ? -1 : 1;
	return compare_places(a, b);
}

/* Find at most @size call sites with events. Without @row, only count them. */
static unsigned int find_rows(struct time_stats_row *row, unsigned int size)
{
	struct codetag_iterator iter;
	struct time_stats *stats;
	unsigned int nr = 0;
	u64 total;
	bool more;

	lockdep_assert_held(&time_stats_type.lock);

	for (more = codetag_first(&iter, &time_stats_type); more && nr < size;
	     more = codetag_next(&iter)) {
		stats = tag_stats(iter.ct);
		if (!stats || !time_stats_count(stats, &total))
			continue;
		if (row)
			row[nr] = (struct time_stats_row) {
				total, codetag_pos(&iter), iter.ct };
		nr++;
	}
	return nr;
}

static int collect_rows(struct time_stats_reader *r)
{
	unsigned int nr = find_rows(NULL, UINT_MAX);

	kvfree(r->row);
	r->nr = 0;
	r->row = kvmalloc_array(max(nr, 1U), sizeof(*r->row), GFP_KERNEL);
	if (!r->row)
		return -ENOMEM;
	r->nr = find_rows(r->row, nr);
	sort(r->row, r->nr, sizeof(*r->row), READ_ONCE(time_stats_by_time) ?
	     compare_times : compare_places, NULL);
	return 0;
}

static void *time_stats_seq_start(struct seq_file *m, loff_t *pos)
{
	struct time_stats_reader *r = m->private;
	int err;

	if (!*pos)
		time_stats_flush();
	codetag_lock(&time_stats_type);
	if (!*pos) {
		err = collect_rows(r);
		if (err)
			return ERR_PTR(err);
	}
	return *pos < r->nr ? r->row + *pos : NULL;
}

static void *time_stats_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct time_stats_reader *r = m->private;

	++*pos;
	return *pos < r->nr ? r->row + *pos : NULL;
}

static void time_stats_seq_stop(struct seq_file *m, void *v)
{
	codetag_unlock(&time_stats_type);
}

static int time_stats_seq_show(struct seq_file *m, void *v)
{
	const struct time_stats_row *row = v;
	struct time_stats_report report;
	struct codetag_iterator iter;
	struct time_stats *stats;

	/* The module may have been unloaded since the list was made. */
	if (!codetag_seek(&iter, &time_stats_type, row->pos) ||
	    codetag_pos(&iter) != row->pos)
		return SEQ_SKIP;
	stats = tag_stats(iter.ct);
	if (!stats)
		return SEQ_SKIP;
	time_stats_read(stats, codetag_time_stats_now(), &report);
	if (!report.count)
		return SEQ_SKIP;

	seq_printf(m, "  %s:%u module:%s func:%s\n", iter.ct->filename,
		   iter.ct->lineno, codetag_modname(&iter), iter.ct->function);
	time_stats_show(m, &report);
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations time_stats_seq_ops = {
	.start	= time_stats_seq_start,
	.next	= time_stats_seq_next,
	.stop	= time_stats_seq_stop,
	.show	= time_stats_seq_show,
};

static int time_stats_open(struct inode *inode, struct file *file)
{
	return seq_open_private(file, &time_stats_seq_ops,
				sizeof(struct time_stats_reader));
}

static int time_stats_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct time_stats_reader *r = m->private;

	kvfree(r->row);
	return seq_release_private(inode, file);
}

static ssize_t time_stats_write(struct file *file, const char __user *buf,
				size_t count, loff_t *pos)
{
	return codetag_command("time_stats", buf, count, time_stats_command);
}

static const struct file_operations time_stats_fops = {
	.owner		= THIS_MODULE,
	.open		= time_stats_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.write		= time_stats_write,
	.release	= time_stats_release,
};

/* A container has /proc, and its root is no administrator of this machine. */
static int time_stats_proc_open(struct inode *inode, struct file *file)
{
	return perfmon_capable() ? time_stats_open(inode, file) : -EPERM;
}

static const struct proc_ops time_stats_proc_ops = {
	.proc_open	= time_stats_proc_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_write	= time_stats_write,
	.proc_release	= time_stats_release,
};

/* Init */

static bool time_stats_at_boot __initdata;

static int __init time_stats_boot_param(char *value)
{
	if (!strcmp(value, "0"))
		time_stats_at_boot = false;
	else if (!strcmp(value, "1"))
		time_stats_at_boot = true;
	else
		pr_err("codetag_time_stats=%s: neither 0 nor 1\n", value);
	return 1;
}
__setup("codetag_time_stats=", time_stats_boot_param);

static int __init codetag_time_stats_init_tags(void)
{
	int err = 0;

	codetag_register_type(&time_stats_type, &time_stats_kernel,
			      __start_time_stats_tags, __stop_time_stats_tags);
	mutex_lock(&time_stats_mutex);
	if (time_stats_at_boot)
		err = time_stats_enable();
	mutex_unlock(&time_stats_mutex);
	if (err)
		pr_err("cannot enable timing at boot: error %d\n", err);
	return 0;
}
core_initcall(codetag_time_stats_init_tags);

static int __init codetag_time_stats_init(void)
{
	debugfs_create_file("time_stats", 0600, NULL, NULL, &time_stats_fops);
	/* Under lockdown, debugfs does not open files that can be written. */
	proc_create("time_stats", 0600, NULL, &time_stats_proc_ops);
	return 0;
}
late_initcall(codetag_time_stats_init);

#ifdef CONFIG_CODETAG_TIME_STATS_KUNIT_TEST
#include "codetag_time_stats_kunit.c"
#endif
