// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleeps for known times on a wait queue and measures these times itself, for the
 * tests of latency by line of code. Commands, see ctag_cmd.h:
 *
 *	short N		N sleeps of 2 to 5 ms, ended by a timer
 *	mixed N		N sleeps, seven in ten of 2 to 3 ms, the others of 20 to 30 ms
 *	timeouts N	N times wait_event_timeout() of 3 jiffies
 *	pieces N	N pieces of code between the two calls, one in a hundred of
 *			500 us, the others of 50 us
 *	hammer N	on each CPU N pieces in a thread, and meanwhile one in each of
 *			its interrupts and softirqs, all at one line
 *	old		a piece that began at the first "old"
 *
 * The table has "WHAT COUNT TOTAL MAX Q1 ... Q15" for the last run of each of the
 * first four commands, in nanoseconds, and "hammered COUNT" for all runs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/codetag_time_stats.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>

#include "ctag_cmd.h"

#define NR_QUANTILES	15

enum what { SHORT, MIXED, TIMEOUTS, PIECES, NR_WHAT };

static const char * const names[NR_WHAT] = {
	"short", "mixed", "timeouts", "pieces",
};

static struct measured {
	u64 count;
	u64 total;
	u64 max;
	u64 quantile[NR_QUANTILES];
} measured[NR_WHAT];

static DECLARE_WAIT_QUEUE_HEAD(queue);
static u64 random = 1;
static u64 old_start;
static atomic_long_t hammered;

/* The same sequence in each run */
static u32 draw(u32 range)
{
	random = random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(random >> 33) % range;
}

static enum hrtimer_restart wake_queue(struct hrtimer *timer)
{
	wake_up_all(&queue);
	return HRTIMER_NORESTART;
}

/* The lines; each measures from just before to just after. */
static noinline u64 sleep_short(u64 ns)
{
	struct hrtimer timer;
	DEFINE_WAIT(wait);
	u64 start, end;

	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer.function = wake_queue;
	start = ktime_get_mono_fast_ns();
	prepare_to_wait(&queue, &wait, TASK_UNINTERRUPTIBLE);
	hrtimer_start(&timer, ns_to_ktime(ns), HRTIMER_MODE_REL);
	schedule();
	finish_wait(&queue, &wait);
	end = ktime_get_mono_fast_ns();
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
	return end - start;
}

static noinline u64 sleep_mixed(u64 ns)
{
	struct hrtimer timer;
	DEFINE_WAIT(wait);
	u64 start, end;

	hrtimer_init_on_stack(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	timer.function = wake_queue;
	start = ktime_get_mono_fast_ns();
	prepare_to_wait_exclusive(&queue, &wait, TASK_UNINTERRUPTIBLE);
	hrtimer_start(&timer, ns_to_ktime(ns), HRTIMER_MODE_REL);
	schedule();
	finish_wait(&queue, &wait);
	end = ktime_get_mono_fast_ns();
	hrtimer_cancel(&timer);
	destroy_hrtimer_on_stack(&timer);
	return end - start;
}

static noinline u64 sleep_timeout(u64 ns)
{
	u64 start = ktime_get_mono_fast_ns();

	wait_event_timeout(queue, false, 3);
	return ktime_get_mono_fast_ns() - start;
}

static noinline u64 one_piece(u64 ns)
{
	u64 start, end, ours;

	start = ktime_get_mono_fast_ns();
	ours = code_tag_time_stats_start();
	udelay((u32)ns / 1000);
	code_tag_time_stats_finish(ours);
	end = ktime_get_mono_fast_ns();
	return end - start;
}

static noinline void hammer_piece(void)
{
	u64 start = code_tag_time_stats_start();

	atomic_long_inc(&hammered);
	code_tag_time_stats_finish(start);
}

static noinline void old_piece(void)
{
	if (!old_start)
		old_start = ktime_get_mono_fast_ns();
	code_tag_time_stats_finish(old_start);
}

static u64 do_one(enum what what)
{
	switch (what) {
	case SHORT:
		return sleep_short(2000000 + draw(3000000));
	case MIXED:
		if (draw(10) < 7)
			return sleep_mixed(2000000 + draw(1000000));
		return sleep_mixed(20000000 + draw(10000000));
	case TIMEOUTS:
		return sleep_timeout(0);
	default:
		return one_piece(draw(100) ? 50000 : 500000);
	}
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static int measure(enum what what, unsigned long nr)
{
	struct measured m = { .count = nr };
	unsigned long i;
	u64 *times;

	if (!nr || nr > 100000)
		return -EINVAL;
	times = kvmalloc_array(nr, sizeof(*times), GFP_KERNEL);
	if (!times)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		times[i] = do_one(what);
		m.total += times[i];
		m.max = max(m.max, times[i]);
		cond_resched();
	}
	sort(times, nr, sizeof(*times), compare, NULL);
	for (i = 0; i < NR_QUANTILES; i++)
		m.quantile[i] = times[DIV_ROUND_UP(nr * (i + 1), 16) - 1];
	kvfree(times);
	measured[what] = m;
	return 0;
}

/* All contexts that a CPU can have, under a raw spinlock */

static void hammer_softirq(struct tasklet_struct *t)
{
	hammer_piece();
}

struct hammer {
	struct hrtimer timer;
	struct tasklet_struct tasklet;
	struct completion done;
	unsigned long nr;
};

static DEFINE_RAW_SPINLOCK(hammer_lock);

static enum hrtimer_restart hammer_hardirq(struct hrtimer *timer)
{
	struct hammer *h = container_of(timer, struct hammer, timer);
	unsigned int i;

	for (i = 0; i < 7; i++)
		hammer_piece();
	tasklet_schedule(&h->tasklet);
	hrtimer_forward_now(timer, ns_to_ktime(100000));
	return HRTIMER_RESTART;
}

static int hammer_thread(void *data)
{
	struct hammer *h = data;
	unsigned long flags, i;

	hrtimer_init(&h->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	h->timer.function = hammer_hardirq;
	tasklet_setup(&h->tasklet, hammer_softirq);
	hrtimer_start(&h->timer, ns_to_ktime(100000),
		      HRTIMER_MODE_REL_PINNED_HARD);
	for (i = 0; i < h->nr; i++) {
		if (i % 8) {
			hammer_piece();
			continue;
		}
		raw_spin_lock_irqsave(&hammer_lock, flags);
		hammer_piece();
		raw_spin_unlock_irqrestore(&hammer_lock, flags);
		cond_resched();
	}
	hrtimer_cancel(&h->timer);
	tasklet_kill(&h->tasklet);
	complete(&h->done);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static int hammer(unsigned long nr)
{
	struct task_struct *task[8] = { };
	struct hammer *hammers;
	int cpu, err = 0;

	hammers = kcalloc(ARRAY_SIZE(task), sizeof(*hammers), GFP_KERNEL);
	if (!hammers)
		return -ENOMEM;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (cpu >= ARRAY_SIZE(task))
			break;
		hammers[cpu].nr = nr;
		init_completion(&hammers[cpu].done);
		task[cpu] = kthread_create_on_cpu(hammer_thread, &hammers[cpu],
						  cpu, "ctag_sleep/%u");
		if (IS_ERR(task[cpu])) {
			err = PTR_ERR(task[cpu]);
			task[cpu] = NULL;
			break;
		}
		wake_up_process(task[cpu]);
	}
	for (cpu = 0; cpu < ARRAY_SIZE(task); cpu++)
		if (task[cpu]) {
			/* A thread that is stopped before it ran never runs. */
			wait_for_completion(&hammers[cpu].done);
			kthread_stop(task[cpu]);
		}
	cpus_read_unlock();
	kfree(hammers);
	return err;
}

static int command(char *line)
{
	unsigned long nr = 0;
	char verb[16];
	int what;

	if (sscanf(line, "%15s %lu", verb, &nr) < 1)
		return -EINVAL;
	if (!strcmp(verb, "hammer"))
		return hammer(nr);
	if (!strcmp(verb, "old")) {
		old_piece();
		return 0;
	}
	what = match_string(names, NR_WHAT, verb);
	return what < 0 ? what : measure(what, nr);
}

static void show_table(struct seq_file *m)
{
	unsigned int what, i;

	for (what = 0; what < NR_WHAT; what++) {
		seq_printf(m, "%s %llu %llu %llu", names[what],
			   measured[what].count, measured[what].total,
			   measured[what].max);
		for (i = 0; i < NR_QUANTILES; i++)
			seq_printf(m, " %llu", measured[what].quantile[i]);
		seq_putc(m, '\n');
	}
	seq_printf(m, "hammered %ld\n", atomic_long_read(&hammered));
}
DEFINE_SHOW_ATTRIBUTE(table);

static int __init ctag_sleep_init(void)
{
	cmd_init();
	return 0;
}
module_init(ctag_sleep_init);

static void __exit ctag_sleep_exit(void)
{
	debugfs_remove(cmd_dir);
}
module_exit(ctag_sleep_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Sleeps for known times at known lines");
