// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of dynamic fault injection: the number of faults of a point, the
 * way fail-nth counts allocations, and the commands of the boot parameter.
 * Included by lib/dynamic_fault.c.
 */
#include <kunit/test.h>
#include <linux/hrtimer.h>
#include <linux/jiffies.h>

#define OURS	"module dynamic_fault func kunit_*_fail*"

static bool kunit_point(void)
{
	return dynamic_fault("kunit");
}

static bool kunit_other_point(void)
{
	return dynamic_fault("kunit other");
}

static bool kunit_slab_fails(void)
{
	/* failslab ignores allocations with direct reclaim. */
	void *p = kmalloc(64, GFP_NOWAIT);

	kfree(p);
	return !p;
}

static bool kunit_pages_fail(void)
{
	/* fail_page_alloc ignores single pages. */
	struct page *page = alloc_pages(GFP_NOWAIT, 1);

	if (page)
		__free_pages(page, 1);
	return !page;
}

static int kunit_command(const char *text)
{
	char *copy = kstrdup(text, GFP_KERNEL);
	struct codetag_words w;
	int ret = -ENOMEM;

	if (!copy)
		return ret;
	codetag_words_begin(&w, copy);
	ret = fault_command(&w);
	kfree(copy);
	return ret;
}

static unsigned int fires(bool (*point)(void), unsigned int nr)
{
	unsigned int fired = 0;

	while (nr--)
		fired += point();
	return fired;
}

static void fault_exit(struct kunit *test)
{
	current->fail_nth = 0;
	kunit_command("disable");
}

static void test_frequency(struct kunit *test)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(test, kunit_command("class kunit frequency 3"), 0);
	for (i = 1; i <= 12; i++)
		KUNIT_EXPECT_EQ(test, kunit_point(), i % 3 == 0);
	KUNIT_EXPECT_EQ(test, fires(kunit_other_point, 12), 0);
	KUNIT_ASSERT_EQ(test, kunit_command("class kunit frequency 3 times 2"), 0);
	KUNIT_EXPECT_EQ(test, fires(kunit_point, 12), 2);
	KUNIT_ASSERT_EQ(test, kunit_command("class kunit frequency 3 probability 0"), 0);
	KUNIT_EXPECT_EQ(test, fires(kunit_point, 12), 0);
}

/* Evaluations that fail-nth decides count for the frequency, too. */
static void test_frequency_and_nth(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, kunit_command("class kunit frequency 4"), 0);
	current->fail_nth = 2;
	KUNIT_EXPECT_FALSE(test, kunit_point());
	KUNIT_EXPECT_TRUE(test, kunit_point());
	KUNIT_EXPECT_EQ(test, current->fail_nth, 0);
	KUNIT_EXPECT_FALSE(test, kunit_point());
	KUNIT_EXPECT_TRUE(test, kunit_point());
	KUNIT_EXPECT_FALSE(test, kunit_point());
}

/* Find the struct fault_point of kunit_point(). */
static struct fault_point *kunit_point_found(void)
{
	struct fault_point *p;
	unsigned int i;

	hash_for_each(fault_points, i, p, node)
		if (!strcmp(p->ct->function, "kunit_point"))
			return p;
	return NULL;
}

#define INTERRUPTIONS	20000

struct kunit_race {
	struct hrtimer timer;
	atomic_t left;
};

static enum hrtimer_restart race_timer(struct hrtimer *timer)
{
	struct kunit_race *race = container_of(timer, struct kunit_race, timer);

	kunit_point();
	if (!atomic_dec_if_positive(&race->left))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(timer, ns_to_ktime(20 * NSEC_PER_USEC));
	return HRTIMER_RESTART;
}

/*
 * A softirq evaluates the point in the middle of another evaluation. So the
 * race between two CPUs happens on a machine with one CPU, too.
 */
static void test_frequency_interrupted(struct kunit *test)
{
	struct kunit_race *race = kunit_kzalloc(test, sizeof(*race), GFP_KERNEL);
	unsigned long end = jiffies + 5 * HZ;
	struct fault_point *p;

	KUNIT_ASSERT_NOT_NULL(test, race);
	KUNIT_ASSERT_EQ(test, kunit_command("class kunit frequency 7"), 0);
	p = kunit_point_found();
	KUNIT_ASSERT_NOT_NULL(test, p);
	atomic_set(&race->left, INTERRUPTIONS);
	hrtimer_init(&race->timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	race->timer.function = race_timer;
	hrtimer_start(&race->timer, ns_to_ktime(20 * NSEC_PER_USEC), HRTIMER_MODE_REL_SOFT);
	while (atomic_read(&race->left) > 0 && time_before(jiffies, end))
		kunit_point();
	hrtimer_cancel(&race->timer);
	kunit_info(test, "%d interruptions of %lld evaluations\n",
		   INTERRUPTIONS - atomic_read(&race->left),
		   (s64)atomic64_read(&p->evaluated));
	KUNIT_EXPECT_LT(test, atomic_read(&race->left), INTERRUPTIONS);
	KUNIT_EXPECT_EQ(test, (u64)atomic_long_read(&p->fired),
			div_u64(atomic64_read(&p->evaluated), 7));
}

/* fail-nth must count each call of @fails once. */
static void check_nth(struct kunit *test, bool (*fails)(void))
{
	/* The first call may fill caches, so make it before the count. */
	KUNIT_EXPECT_FALSE(test, fails());
	current->fail_nth = 10;
	KUNIT_EXPECT_FALSE(test, fails());
	KUNIT_EXPECT_EQ(test, current->fail_nth, 9);
	KUNIT_EXPECT_FALSE(test, fails());
	KUNIT_EXPECT_EQ(test, current->fail_nth, 8);
	current->fail_nth = 2;
	KUNIT_EXPECT_FALSE(test, fails());
	KUNIT_EXPECT_TRUE(test, fails());
	KUNIT_EXPECT_EQ(test, current->fail_nth, 0);
	KUNIT_EXPECT_FALSE(test, fails());
}

static void test_nth_of_slab(struct kunit *test)
{
	if (!alloc_tag_available)
		kunit_skip(test, "no allocation tags");
	if (IS_ENABLED(CONFIG_FAILSLAB))
		check_nth(test, kunit_slab_fails);
	KUNIT_ASSERT_EQ(test, kunit_command(OURS " probability 0"), 0);
	check_nth(test, kunit_slab_fails);
}

static void test_nth_of_pages(struct kunit *test)
{
	if (!alloc_tag_available)
		kunit_skip(test, "no allocation tags");
	if (IS_ENABLED(CONFIG_FAIL_PAGE_ALLOC))
		check_nth(test, kunit_pages_fail);
	KUNIT_ASSERT_EQ(test, kunit_command(OURS " probability 0"), 0);
	check_nth(test, kunit_pages_fail);
}

/* A point that fires fails the allocation, even if no other part wants that. */
static void test_allocations_fail(struct kunit *test)
{
	if (!alloc_tag_available)
		kunit_skip(test, "no allocation tags");
	KUNIT_ASSERT_EQ(test, kunit_command(OURS " oneshot"), 0);
	KUNIT_EXPECT_TRUE(test, kunit_slab_fails());
	KUNIT_EXPECT_FALSE(test, kunit_slab_fails());
	KUNIT_EXPECT_TRUE(test, kunit_pages_fail());
	KUNIT_EXPECT_FALSE(test, kunit_pages_fail());
}

static void boot_commands(const char *text)
{
	char *copy = kstrdup(text, GFP_KERNEL);

	if (copy)
		fault_boot_text_run(copy);
	kfree(copy);
}

/* Only a successful enabling command of a user changes the keepers. */
static void test_failed_command(struct kunit *test)
{
	const pid_t other = INT_MAX;

	KUNIT_ASSERT_EQ(test, kunit_command("class kunit enable"), 0);
	KUNIT_EXPECT_EQ(test, fault_keepers[0], current->tgid);
	WRITE_ONCE(fault_keepers[0], other);
	KUNIT_EXPECT_EQ(test, kunit_command("class nosuch enable"), -ENOENT);
	KUNIT_EXPECT_EQ(test, kunit_command("class kunit enabel"), -EINVAL);
	KUNIT_EXPECT_EQ(test, fault_keepers[0], other);
	boot_commands("class kunit oneshot");
	KUNIT_EXPECT_EQ(test, fires(kunit_point, 2), 1);
	KUNIT_EXPECT_EQ(test, fault_keepers[0], other);
	KUNIT_ASSERT_EQ(test, kunit_command("class kunit disable"), 0);
	KUNIT_EXPECT_EQ(test, fault_keepers[0], other);
	KUNIT_ASSERT_EQ(test, kunit_command("class kunit enable"), 0);
	KUNIT_EXPECT_EQ(test, fault_keepers[0], current->tgid);
}

static unsigned int nr_boot_commands(void)
{
	struct fault_boot_command *b;
	unsigned int nr = 0;

	list_for_each_entry(b, &fault_boot_commands, node)
		nr++;
	return nr;
}

static void test_boot_commands(struct kunit *test)
{
	unsigned int before = nr_boot_commands();

	boot_commands("class kunit enable; class 'kunit other' oneshot");
	KUNIT_EXPECT_EQ(test, nr_boot_commands(), before + 2);
	KUNIT_EXPECT_EQ(test, fires(kunit_point, 5), 5);
	KUNIT_EXPECT_EQ(test, fires(kunit_other_point, 5), 1);

	/* A command for some points does not cancel the boot parameter. */
	KUNIT_ASSERT_EQ(test, kunit_command("class kunit disable"), 0);
	KUNIT_EXPECT_EQ(test, nr_boot_commands(), before + 2);
	KUNIT_EXPECT_EQ(test, fires(kunit_point, 5), 0);
	KUNIT_ASSERT_EQ(test, kunit_command("disable"), 0);
	KUNIT_EXPECT_EQ(test, nr_boot_commands(), 0);
}

/* A quoted semicolon ends no command. Commands without a point are kept. */
static void test_boot_cuts(struct kunit *test)
{
	boot_commands(";; class 'a;b' enable ;\t; module nothing \"enable\";");
	KUNIT_EXPECT_EQ(test, nr_boot_commands(), 2);
	KUNIT_EXPECT_EQ(test, fires(kunit_point, 5), 0);
}

/* Invalid commands are ignored, and the others are run. */
static void test_boot_junk(struct kunit *test)
{
	boot_commands("class kunit enabel; class 'kunit; enable");
	KUNIT_EXPECT_EQ(test, nr_boot_commands(), 0);
	boot_commands("class kunit; line x enable; class kunit times 2; times 0");
	KUNIT_EXPECT_EQ(test, nr_boot_commands(), 1);
	KUNIT_EXPECT_EQ(test, fires(kunit_point, 5), 2);
}

/* A boot command that finds no memory is dropped, even for later modules. */
static void test_boot_without_memory(struct kunit *test)
{
	if (!alloc_tag_available)
		kunit_skip(test, "no allocation tags");
	KUNIT_ASSERT_EQ(test, kunit_command("func fault_new oneshot"), 0);
	boot_commands("class kunit enable; class 'kunit other' enable");
	KUNIT_EXPECT_EQ(test, nr_boot_commands(), 1);
	KUNIT_EXPECT_EQ(test, fires(kunit_point, 5), 0);
	KUNIT_EXPECT_EQ(test, fires(kunit_other_point, 5), 5);
}

static struct kunit_case fault_cases[] = {
	KUNIT_CASE(test_frequency),
	KUNIT_CASE(test_frequency_and_nth),
	KUNIT_CASE(test_frequency_interrupted),
	KUNIT_CASE(test_nth_of_slab),
	KUNIT_CASE(test_nth_of_pages),
	KUNIT_CASE(test_allocations_fail),
	KUNIT_CASE(test_failed_command),
	KUNIT_CASE(test_boot_commands),
	KUNIT_CASE(test_boot_cuts),
	KUNIT_CASE(test_boot_junk),
	KUNIT_CASE(test_boot_without_memory),
	{}
};

static struct kunit_suite fault_suite = {
	.name = "dynamic_fault",
	.test_cases = fault_cases,
	.exit = fault_exit,
};

kunit_test_suite(fault_suite);
