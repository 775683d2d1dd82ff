// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of latency by call site: a wait counts once, at the call site
 * that waits, for every kind of wait. A wait that began before timing was
 * enabled does not count. Included by lib/codetag_time_stats.c.
 */
#include <kunit/test.h>
#include <linux/buffer_head.h>
#include <linux/delay.h>
#include <linux/pagemap.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>
#include <linux/string.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>

/*
 * Nine entries fit on the stack of poll(), as many as without CONFIG_CODETAG_TIME_STATS. For
 * more entries, poll() allocates a page.
 */
static_assert(BITS_PER_LONG == 32 || N_INLINE_POLL_ENTRIES == 9);

static DECLARE_WAIT_QUEUE_HEAD(nobody_wakes);
static bool was_on;

static void switch_timing(bool on)
{
	mutex_lock(&time_stats_mutex);
	if (on)
		time_stats_enable();
	else
		time_stats_disable();
	mutex_unlock(&time_stats_mutex);
}

static int codetag_time_stats_begin(struct kunit *test)
{
	was_on = static_key_enabled(&codetag_time_stats_key);
	switch_timing(true);
	return was_on || static_key_enabled(&codetag_time_stats_key) ? 0 : -EIO;
}

static void codetag_time_stats_end(struct kunit *test)
{
	switch_timing(was_on);
}

/* Read the statistics of the only call site in a function. */
static void read_function(struct kunit *test, const char *function,
			  struct time_stats_report *report)
{
	struct codetag_time_stats *found = NULL;
	struct codetag_iterator iter;
	unsigned int nr = 0;
	bool more;

	time_stats_flush();
	codetag_lock(&time_stats_type);
	for (more = codetag_first(&iter, &time_stats_type); more;
	     more = codetag_next(&iter)) {
		if (strcmp(iter.ct->function, function))
			continue;
		found = to_time_stats(iter.ct);
		nr++;
	}
	codetag_unlock(&time_stats_type);
	KUNIT_ASSERT_EQ(test, nr, 1);
	KUNIT_ASSERT_NOT_NULL(test, found->stats);
	time_stats_read(found->stats, codetag_time_stats_now(), report);
}

static noinline void sleep_on_event(void)
{
	wait_event_timeout(nobody_wakes, false, HZ / 20);
}

static void test_a_wait_counts_at_its_line(struct kunit *test)
{
	struct time_stats_report was, is;
	u64 begin, took;

	read_function(test, "sleep_on_event", &was);
	begin = codetag_time_stats_now();
	sleep_on_event();
	took = codetag_time_stats_now() - begin;
	read_function(test, "sleep_on_event", &is);

	KUNIT_EXPECT_EQ(test, is.count, was.count + 1);
	KUNIT_EXPECT_LE(test, is.total - was.total, took);
	KUNIT_EXPECT_GE(test, is.total - was.total, 30 * NSEC_PER_MSEC);
}

static noinline void prepare_again_and_again(void)
{
	DEFINE_WAIT(wait);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		prepare_to_wait(&nobody_wakes, &wait, TASK_UNINTERRUPTIBLE);
		schedule_timeout(1);
		/* Do what autoremove_wake_function() does. */
		remove_wait_queue(&nobody_wakes, &wait);
		INIT_LIST_HEAD(&wait.entry);
	}
	finish_wait(&nobody_wakes, &wait);
	finish_wait(&nobody_wakes, &wait);
}

static void test_a_loop_is_one_wait(struct kunit *test)
{
	struct time_stats_report was, is;

	read_function(test, "prepare_again_and_again", &was);
	prepare_again_and_again();
	read_function(test, "prepare_again_and_again", &is);
	KUNIT_EXPECT_EQ(test, is.count, was.count + 1);
	KUNIT_EXPECT_GE(test, is.total - was.total,
			2 * (u64)jiffies_to_nsecs(1));
}

static noinline void exclusive_on_garbage(void)
{
	struct wait_queue_entry wait;

	memset(&wait, 0xff, sizeof(wait));
	init_wait(&wait);
	finish_wait(&nobody_wakes, &wait);

	memset(&wait, 0xff, sizeof(wait));
	init_wait_entry(&wait, 0);
	finish_wait(&nobody_wakes, &wait);

	memset(&wait, 0xff, sizeof(wait));
	init_waitqueue_entry(&wait, current);
	INIT_LIST_HEAD(&wait.entry);
	finish_wait(&nobody_wakes, &wait);

	memset(&wait, 0xff, sizeof(wait));
	init_waitqueue_func_entry(&wait, autoremove_wake_function);
	INIT_LIST_HEAD(&wait.entry);
	finish_wait(&nobody_wakes, &wait);

	prepare_to_wait_exclusive(&nobody_wakes, &wait, TASK_UNINTERRUPTIBLE);
	__set_current_state(TASK_RUNNING);
	finish_wait(&nobody_wakes, &wait);
}

static void test_entries_begin_untimed(struct kunit *test)
{
	struct time_stats_report was, is;

	read_function(test, "exclusive_on_garbage", &was);
	exclusive_on_garbage();
	read_function(test, "exclusive_on_garbage", &is);
	KUNIT_EXPECT_EQ(test, is.count, was.count + 1);
}

static noinline long until_a_signal(void)
{
	return wait_event_interruptible_timeout(nobody_wakes, false, 10 * HZ);
}

static noinline int until_a_signal_locked(void)
{
	int ret;

	spin_lock(&nobody_wakes.lock);
	ret = wait_event_interruptible_locked(nobody_wakes, false);
	spin_unlock(&nobody_wakes.lock);
	return ret;
}

static void test_a_signal_ends_a_wait(struct kunit *test)
{
	struct time_stats_report was, is, was_locked, is_locked;

	read_function(test, "until_a_signal", &was);
	read_function(test, "until_a_signal_locked", &was_locked);
	allow_signal(SIGUSR1);
	KUNIT_EXPECT_EQ(test, send_sig(SIGUSR1, current, 1), 0);
	KUNIT_EXPECT_EQ(test, until_a_signal(), -ERESTARTSYS);
	KUNIT_EXPECT_EQ(test, until_a_signal_locked(), -ERESTARTSYS);
	flush_signals(current);
	disallow_signal(SIGUSR1);
	read_function(test, "until_a_signal", &is);
	read_function(test, "until_a_signal_locked", &is_locked);
	KUNIT_EXPECT_EQ(test, is.count, was.count + 1);
	KUNIT_EXPECT_EQ(test, is_locked.count, was_locked.count + 1);
}

static noinline void sleep_woken(void)
{
	DEFINE_WAIT_FUNC(wait, woken_wake_function);

	add_wait_queue(&nobody_wakes, &wait);
	wait_woken(&wait, TASK_UNINTERRUPTIBLE, 2);
	remove_wait_queue(&nobody_wakes, &wait);
}

static void test_woken_counts_each_sleep(struct kunit *test)
{
	struct time_stats_report was, is;

	read_function(test, "sleep_woken", &was);
	sleep_woken();
	sleep_woken();
	read_function(test, "sleep_woken", &is);
	KUNIT_EXPECT_EQ(test, is.count, was.count + 2);
}

/* An object to wait for, which is released a while later. */
struct held {
	struct delayed_work work;
	unsigned long word;
	struct folio *folio;
	struct buffer_head bh;
};

static void let_go_of_bit(struct work_struct *work)
{
	struct held *held = container_of(work, struct held, work.work);

	clear_and_wake_up_bit(0, &held->word);
}

static void let_go_of_folio(struct work_struct *work)
{
	folio_unlock(container_of(work, struct held, work.work)->folio);
}

static struct held *hold(struct kunit *test, work_func_t let_go)
{
	struct held *held = kunit_kzalloc(test, sizeof(*held), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, held);
	INIT_DELAYED_WORK(&held->work, let_go);
	return held;
}

static void let_go_later(struct held *held)
{
	flush_delayed_work(&held->work);
	schedule_delayed_work(&held->work, HZ / 2);
}

static noinline void until_a_bit(unsigned long *word)
{
	wait_on_bit(word, 0, TASK_UNINTERRUPTIBLE);
}

static noinline void until_a_bit_is_ours(unsigned long *word)
{
	wait_on_bit_lock(word, 0, TASK_UNINTERRUPTIBLE);
}

static noinline int until_a_bit_or_late(unsigned long *word)
{
	return wait_on_bit_timeout(word, 0, TASK_UNINTERRUPTIBLE, 2);
}

/* A wait counts once, at the caller, and not if the bit was clear already. */
static void test_bits_count_at_the_caller(struct kunit *test)
{
	struct time_stats_report was, was_ours, was_late, is, is_ours, is_late;
	struct held *held = hold(test, let_go_of_bit);

	read_function(test, "until_a_bit", &was);
	read_function(test, "until_a_bit_is_ours", &was_ours);
	read_function(test, "until_a_bit_or_late", &was_late);

	until_a_bit_is_ours(&held->word);
	let_go_later(held);
	until_a_bit(&held->word);
	KUNIT_EXPECT_EQ(test, held->word, 0);
	until_a_bit(&held->word);
	KUNIT_EXPECT_EQ(test, until_a_bit_or_late(&held->word), 0);

	until_a_bit_is_ours(&held->word);
	let_go_later(held);
	until_a_bit_is_ours(&held->word);
	KUNIT_EXPECT_EQ(test, held->word, 1);
	KUNIT_EXPECT_EQ(test, until_a_bit_or_late(&held->word), -EAGAIN);
	flush_delayed_work(&held->work);

	read_function(test, "until_a_bit", &is);
	read_function(test, "until_a_bit_is_ours", &is_ours);
	read_function(test, "until_a_bit_or_late", &is_late);
	KUNIT_EXPECT_EQ(test, is.count, was.count + 1);
	KUNIT_EXPECT_GE(test, is.total - was.total, 30 * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, is_ours.count, was_ours.count + 1);
	KUNIT_EXPECT_EQ(test, is_late.count, was_late.count + 1);
}

static noinline void until_a_folio_is_ours(struct folio *folio)
{
	folio_lock(folio);
}

static noinline int until_a_folio_is_unlocked(struct folio *folio)
{
	return folio_wait_locked_killable(folio);
}

static void test_folios_count_at_the_caller(struct kunit *test)
{
	struct time_stats_report was, was_ours, is, is_ours;
	struct held *held = hold(test, let_go_of_folio);

	held->folio = folio_alloc(GFP_KERNEL, 0);
	KUNIT_ASSERT_NOT_NULL(test, held->folio);
	read_function(test, "until_a_folio_is_ours", &was_ours);
	read_function(test, "until_a_folio_is_unlocked", &was);

	until_a_folio_is_ours(held->folio);
	let_go_later(held);
	until_a_folio_is_ours(held->folio);
	let_go_later(held);
	KUNIT_EXPECT_EQ(test, until_a_folio_is_unlocked(held->folio), 0);
	KUNIT_EXPECT_FALSE(test, folio_test_locked(held->folio));
	KUNIT_EXPECT_EQ(test, until_a_folio_is_unlocked(held->folio), 0);
	flush_delayed_work(&held->work);
	folio_put(held->folio);

	read_function(test, "until_a_folio_is_ours", &is_ours);
	read_function(test, "until_a_folio_is_unlocked", &is);
	KUNIT_EXPECT_EQ(test, is_ours.count, was_ours.count + 1);
	KUNIT_EXPECT_EQ(test, is.count, was.count + 1);
}

static void let_go_of_buffer(struct work_struct *work)
{
	unlock_buffer(&container_of(work, struct held, work.work)->bh);
}

static noinline void until_a_buffer_is_unlocked(struct buffer_head *bh)
{
	wait_on_buffer(bh);
}

static noinline void until_a_buffer_is_ours(struct buffer_head *bh)
{
	lock_buffer(bh);
}

static void test_buffers_count_at_the_caller(struct kunit *test)
{
	struct time_stats_report was, was_ours, is, is_ours;
	struct held *held = hold(test, let_go_of_buffer);

	read_function(test, "until_a_buffer_is_ours", &was_ours);
	read_function(test, "until_a_buffer_is_unlocked", &was);

	until_a_buffer_is_unlocked(&held->bh);
	until_a_buffer_is_ours(&held->bh);
	let_go_later(held);
	until_a_buffer_is_ours(&held->bh);
	let_go_later(held);
	until_a_buffer_is_unlocked(&held->bh);
	flush_delayed_work(&held->work);

	read_function(test, "until_a_buffer_is_ours", &is_ours);
	read_function(test, "until_a_buffer_is_unlocked", &is);
	KUNIT_EXPECT_EQ(test, is_ours.count, was_ours.count + 1);
	KUNIT_EXPECT_EQ(test, is.count, was.count + 1);
}

/* Functions that wait for callers have no tag: a wait would count twice. */
static void test_who_waits_for_others_has_no_line(struct kunit *test)
{
	static const char * const functions[] = {
		"__wait_on_bit", "__wait_on_bit_lock", "out_of_line_wait_on_bit",
		"out_of_line_wait_on_bit_timeout", "out_of_line_wait_on_bit_lock",
		"__lock_buffer", "__wait_on_buffer", "folio_wait_bit_common",
		"folio_wait_bit", "folio_wait_bit_killable", "__folio_lock",
		"__folio_lock_killable", "folio_put_wait_locked",
		"folio_wait_writeback", "folio_wait_writeback_killable",
	};
	struct codetag_iterator iter;
	bool more;

	codetag_lock(&time_stats_type);
	for (more = codetag_first(&iter, &time_stats_type); more;
	     more = codetag_next(&iter))
		KUNIT_EXPECT_LT_MSG(test, match_string(functions,
						       ARRAY_SIZE(functions),
						       iter.ct->function), 0,
				    "%s()", iter.ct->function);
	codetag_unlock(&time_stats_type);
}

static noinline void two_calls(u64 start)
{
	code_tag_time_stats_finish(start);
}

static void test_two_calls(struct kunit *test)
{
	struct time_stats_report was, is;
	u64 start;

	read_function(test, "two_calls", &was);
	start = code_tag_time_stats_start();
	KUNIT_EXPECT_NE(test, start, 0);
	usleep_range(100, 200);
	two_calls(start);
	read_function(test, "two_calls", &is);
	KUNIT_EXPECT_EQ(test, is.count, was.count + 1);
	KUNIT_EXPECT_GE(test, is.total - was.total, 100 * NSEC_PER_USEC);
}

static void test_stale_start_is_ignored(struct kunit *test)
{
	struct time_stats_report was, is;
	u64 start;

	read_function(test, "two_calls", &was);
	two_calls(0);
	two_calls(1);
	start = code_tag_time_stats_start();
	switch_timing(false);
	KUNIT_EXPECT_EQ(test, code_tag_time_stats_start(), 0);
	two_calls(start);
	switch_timing(true);
	two_calls(start);
	read_function(test, "two_calls", &is);
	KUNIT_EXPECT_EQ(test, is.count, was.count);
}

static noinline void switched_meanwhile(bool off, bool on)
{
	DEFINE_WAIT(wait);

	prepare_to_wait(&nobody_wakes, &wait, TASK_UNINTERRUPTIBLE);
	__set_current_state(TASK_RUNNING);
	if (off)
		switch_timing(false);
	if (on)
		switch_timing(true);
	finish_wait(&nobody_wakes, &wait);
}

static void test_wait_over_a_switch(struct kunit *test)
{
	struct time_stats_report was, is;

	read_function(test, "switched_meanwhile", &was);
	switched_meanwhile(true, true);		/* off and on in between */
	switched_meanwhile(true, false);	/* ends while timing is off */
	switched_meanwhile(false, true);	/* begins while timing is off */
	read_function(test, "switched_meanwhile", &is);
	KUNIT_EXPECT_EQ(test, is.count, was.count);
	switched_meanwhile(false, false);
	read_function(test, "switched_meanwhile", &is);
	KUNIT_EXPECT_EQ(test, is.count, was.count + 1);
}

static struct kunit_case codetag_time_stats_cases[] = {
	KUNIT_CASE(test_a_wait_counts_at_its_line),
	KUNIT_CASE(test_a_loop_is_one_wait),
	KUNIT_CASE(test_entries_begin_untimed),
	KUNIT_CASE(test_a_signal_ends_a_wait),
	KUNIT_CASE(test_woken_counts_each_sleep),
	KUNIT_CASE(test_bits_count_at_the_caller),
	KUNIT_CASE(test_folios_count_at_the_caller),
	KUNIT_CASE(test_buffers_count_at_the_caller),
	KUNIT_CASE(test_who_waits_for_others_has_no_line),
	KUNIT_CASE(test_two_calls),
	KUNIT_CASE(test_stale_start_is_ignored),
	KUNIT_CASE(test_wait_over_a_switch),
	{}
};

static struct kunit_suite codetag_time_stats_suite = {
	.name = "codetag_time_stats",
	.init = codetag_time_stats_begin,
	.exit = codetag_time_stats_end,
	.test_cases = codetag_time_stats_cases,
};

kunit_test_suite(codetag_time_stats_suite);
