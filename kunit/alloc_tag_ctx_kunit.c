// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of allocation context capture: a capture allocates nothing,
 * counts the allocations it cannot keep, and all its memory is freed at the
 * end. Included by lib/alloc_tag_ctx.c.
 *
 * Most tests account references without any memory behind them.
 */
#include <kunit/test.h>
#include <linux/stop_machine.h>

/* More than the smallest cap has room for, with any page size. */
#define NR_REFS		(8000 * (PAGE_SIZE / SZ_4K))
#define NR_FEW		400	/* a reserve has room for these */
#define REF_BYTES	64

DEFINE_ALLOC_TAG_FOR(kunit_tag, "alloc_tag_ctx_kunit");
DEFINE_ALLOC_TAG_FOR(kunit_other_tag, "alloc_tag_ctx_kunit_other");

static struct alloc_tag_ref *refs;
static unsigned long cap;

static int command(const char *text)
{
	struct codetag_words words;
	char line[64];

	strscpy(line, text, sizeof(line));
	codetag_words_begin(&words, line);
	return context_command(&words);
}

/* Set the cap, as alloc_tag.ctx_mem= does, and enable the site. */
static void choose(struct kunit *test, unsigned long mem)
{
	context_mem_max = mem;
	KUNIT_ASSERT_EQ(test, command("func alloc_tag_ctx_kunit enable"), 0);
}

static struct context_site *site_of(const struct alloc_tag *tag)
{
	return xa_load(&context_sites, tag->ct.index);
}

static unsigned long dropped(enum context_drop why)
{
	return atomic_long_read(&site_of(&kunit_tag)->dropped[why]);
}

static unsigned long kept(const struct alloc_tag *tag)
{
	unsigned long count;
	u64 bytes;

	mutex_lock(&context_mutex);
	context_sum(site_of(tag), &count, &bytes);
	mutex_unlock(&context_mutex);
	return bytes == count * REF_BYTES ? count : ULONG_MAX;
}

static void allocate(struct alloc_tag *tag, unsigned int first, unsigned int nr)
{
	struct alloc_tag *old = alloc_tag_save(current, tag);
	unsigned int i;

	for (i = first; i < first + nr; i++)
		alloc_tag_add(&refs[i], REF_BYTES);
	alloc_tag_restore(current, old);
}

static void release(unsigned int first, unsigned int nr)
{
	unsigned int i;

	for (i = first; i < first + nr; i++)
		alloc_tag_sub(&refs[i], REF_BYTES);
}

/* Number of live allocations of all call sites. */
static long all_calls(void)
{
	unsigned long i, nr = READ_ONCE(alloc_tag_nr);
	long calls, sum = 0;
	s64 bytes;

	for (i = 1; i < nr; i++) {
		if (!alloc_tag_chunks[i >> ALLOC_TAG_CHUNK_SHIFT])
			continue;
		lazy_percpu_counter_read(alloc_tag_counter(i), &bytes, &calls);
		sum += calls;
	}
	return sum;
}

/* Bytes held by the call sites in lib/alloc_tag_ctx.c. */
static s64 own_bytes(void)
{
	struct codetag_iterator it;
	s64 bytes, sum = 0;
	long calls;
	bool more;

	codetag_lock(&alloc_tag_type);
	for (more = codetag_first(&it, &alloc_tag_type); more;
	     more = codetag_next(&it)) {
		if (strcmp(it.ct->filename, "lib/alloc_tag_ctx.c"))
			continue;
		alloc_tag_read(it.ct, &bytes, &calls);
		sum += bytes;
	}
	codetag_unlock(&alloc_tag_type);
	return sum;
}

static int need_contexts(struct kunit *test)
{
	if (!alloc_tag_available || !mem_alloc_profiling_enabled())
		kunit_skip(test, "memory allocation profiling is not on");
	refs = kunit_kcalloc(test, NR_REFS, sizeof(*refs), GFP_KERNEL);
	if (!refs)
		return -ENOMEM;
	cap = context_mem_max;
	return 0;
}

static void no_contexts(struct kunit *test)
{
	if (!refs)
		return;
	command("disable");
	context_mem_max = cap;
	refs = NULL;
}

/* While the machine is stopped, nobody else allocates, and nobody refills. */
static int count_calls(void *data)
{
	long *calls = data;

	*calls = -all_calls();
	allocate(&kunit_tag, 0, NR_FEW);
	*calls += all_calls();
	return 0;
}

static void expect_no_allocation(struct kunit *test, unsigned long mem)
{
	long calls;

	choose(test, mem);
	stop_machine(count_calls, &calls, NULL);
	KUNIT_EXPECT_EQ(test, calls, (long)NR_FEW);
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag), (unsigned long)NR_FEW);
	release(0, NR_FEW);
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag), 0UL);
	command("disable");
}

/* With the larger cap, most allocations are the first ones of their group. */
static void test_capture_allocates_nothing(struct kunit *test)
{
	expect_no_allocation(test, SZ_4M);
	expect_no_allocation(test, SZ_64M);
}

/* A refill that comes when the reserve is full, or after the tables are gone. */
static void test_late_refill(struct kunit *test)
{
	void *page = (void *)__get_free_page(GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, page);
	choose(test, SZ_4M);
	KUNIT_EXPECT_EQ(test, context_reserve.nr, context_reserve.want);
	/* If it is added, we must not free it: stop the test. */
	KUNIT_ASSERT_FALSE(test, context_reserve_put(page));
	KUNIT_EXPECT_EQ(test, context_reserve.nr, context_reserve.want);
	command("disable");
	KUNIT_ASSERT_FALSE(test, context_reserve_put(page));
	KUNIT_EXPECT_NULL(test, context_reserve.free);
	KUNIT_EXPECT_EQ(test, context_reserve.nr, 0U);
	free_page((unsigned long)page);
}

static void test_empty_reserve(struct kunit *test)
{
	unsigned long flags, lost;

	choose(test, SZ_4M);
	KUNIT_EXPECT_EQ(test, context_reserve.nr, context_reserve.want);
	local_irq_save(flags);
	allocate(&kunit_tag, 0, NR_REFS);
	KUNIT_EXPECT_EQ(test, context_reserve.nr, 0U);
	local_irq_restore(flags);
	lost = dropped(DROP_RESERVE);
	KUNIT_EXPECT_GT(test, lost, 0UL);
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag) + lost, (unsigned long)NR_REFS);
	KUNIT_EXPECT_EQ(test, dropped(DROP_MEMORY), 0UL);
	release(0, NR_REFS);
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag), 0UL);

	irq_work_sync(&context_refill_work);
	KUNIT_EXPECT_EQ(test, context_reserve.nr, context_reserve.want);
	allocate(&kunit_tag, 0, NR_FEW);
	KUNIT_EXPECT_EQ(test, dropped(DROP_RESERVE), lost);
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag), (unsigned long)NR_FEW);
	release(0, NR_FEW);
}

/* All memory up to the cap is used, but no more; then the reason is memory. */
static void test_cap(struct kunit *test)
{
	unsigned int i;

	choose(test, CONTEXT_MEM_MIN);
	for (i = 0; i < NR_REFS; i += 50) {
		allocate(&kunit_tag, i, 50);
		irq_work_sync(&context_refill_work);
		KUNIT_EXPECT_LE(test, atomic_long_read(&context_mem),
				(long)CONTEXT_MEM_MIN);
	}
	KUNIT_EXPECT_EQ(test, context_reserve.nr, 0U);
	KUNIT_EXPECT_FALSE(test, context_fits(PAGE_SIZE));
	KUNIT_EXPECT_GT(test, dropped(DROP_MEMORY), 0UL);
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag) + dropped(DROP_MEMORY) +
			dropped(DROP_RESERVE), (unsigned long)NR_REFS);
	release(0, NR_REFS);
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag), 0UL);
}

static void test_tables_follow_the_cap(struct kunit *test)
{
	static const unsigned long pages[] = { 16, 256, 1024, 4096, 16384, 65536 };
	struct context_tables t, last = { };
	unsigned long mem, reserve;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(pages); i++) {
		mem = pages[i] * PAGE_SIZE;
		if (mem > SZ_256M)
			break;
		KUNIT_ASSERT_EQ(test, context_alloc_tables(&t, mem), 0);
		/* A chain is short even if all of the cap is entries. */
		KUNIT_EXPECT_LE(test, mem / sizeof(struct context_entry),
				8 * BIT(t.entry_bits));
		KUNIT_EXPECT_LE(test, mem / SZ_1K, 2 * BIT(t.stack_bits));
		KUNIT_EXPECT_LT(test, context_tables_size(&t), mem / 8);
		/* Limit of the partly used pages of all groups. */
		KUNIT_EXPECT_LE(test, 3UL << t.group_bits, pages[i] / 4);
		reserve = context_reserve_size(mem, t.group_bits);
		KUNIT_EXPECT_GE(test, reserve, 3UL << t.group_bits);
		KUNIT_EXPECT_LE(test, reserve, pages[i] / 4);
		KUNIT_EXPECT_LE(test, t.group_bits, t.stack_bits);
		KUNIT_EXPECT_LE(test, t.group_bits, t.entry_bits);
		KUNIT_EXPECT_GT(test, t.entry_bits, last.entry_bits);
		KUNIT_EXPECT_GT(test, t.stack_bits, last.stack_bits);
		/* There are at most 256 groups. */
		if (i && pages[i] <= 16384)
			KUNIT_EXPECT_GT(test, t.group_bits, last.group_bits);
		context_free_tables(&t);
		last = t;
	}
}

/* All memory is freed, including stacks. */
static void test_all_is_given_back(struct kunit *test)
{
	unsigned int i;
	long mem;
	s64 own;

	/* Make the site first, because it is never freed. */
	choose(test, SZ_4M);
	command("disable");
	mem = atomic_long_read(&context_mem);
	own = own_bytes();
	KUNIT_EXPECT_EQ(test, mem, 0L);
	for (i = 0; i < 3; i++) {
		choose(test, SZ_4M);
		KUNIT_EXPECT_GT(test, atomic_long_read(&context_mem), 0L);
		KUNIT_EXPECT_GE(test, own_bytes(),
				own + atomic_long_read(&context_mem));
		allocate(&kunit_tag, 0, NR_FEW);
		KUNIT_EXPECT_EQ(test, kept(&kunit_tag), (unsigned long)NR_FEW);
		if (i != 1)
			release(0, NR_FEW);
		command("disable");
		if (i == 1)
			release(0, NR_FEW);
		KUNIT_EXPECT_EQ(test, atomic_long_read(&context_mem), mem);
		KUNIT_EXPECT_EQ(test, own_bytes(), own);
		KUNIT_EXPECT_TRUE(test,
				  list_empty(&site_of(&kunit_tag)->stacks));
	}
}

/* Both call sites are on. An entry that moves keeps its call site and stack. */
static void test_move(struct kunit *test)
{
	struct alloc_tag_ref *a, *b, *c;
	unsigned int i;

	choose(test, SZ_4M);
	KUNIT_ASSERT_EQ(test, command("func alloc_tag_ctx_kunit_other enable"), 0);
	a = &refs[0];
	b = &refs[NR_FEW];
	c = &refs[2 * NR_FEW];
	allocate(&kunit_tag, 0, NR_FEW);
	allocate(&kunit_other_tag, NR_FEW, NR_FEW);
	for (i = 0; i < NR_FEW; i++) {
		context_move(&a[i], &b[i]);
		swap(a[i].index, b[i].index);
		context_move(&b[i], &c[i]);
		swap(b[i].index, c[i].index);
	}
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag), (unsigned long)NR_FEW);
	KUNIT_EXPECT_EQ(test, kept(&kunit_other_tag), (unsigned long)NR_FEW);
	/* By now, these belong to the other call site. */
	release(0, NR_FEW);
	KUNIT_EXPECT_EQ(test, kept(&kunit_other_tag), 0UL);
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag), (unsigned long)NR_FEW);
	release(2 * NR_FEW, NR_FEW);
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag), 0UL);
}

/* While a reader is at a stack, all stacks are freed and new ones made. */
static void test_reader_across_a_disable(struct kunit *test)
{
	struct context_reader *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);
	struct seq_file m = { .private = r };
	struct context_site *site;
	loff_t pos = 0;
	void *v;

	KUNIT_ASSERT_NOT_NULL(test, r);
	choose(test, SZ_4M);
	site = site_of(&kunit_tag);
	allocate(&kunit_tag, 0, 1);
	for (v = context_seq_start(&m, &pos); v && (r->site != site || !r->stack);
	     v = context_seq_next(&m, v, &pos))
		;
	context_seq_stop(&m, v);
	KUNIT_ASSERT_NOT_NULL(test, r->stack);
	release(0, 1);

	command("disable");
	choose(test, SZ_4M);
	allocate(&kunit_tag, 0, 1);
	v = context_seq_start(&m, &pos);
	KUNIT_EXPECT_TRUE(test, r->site != site);
	KUNIT_EXPECT_NULL(test, r->stack);
	context_seq_stop(&m, v);
	/* Read from the start: the site has a stack again. */
	pos = 0;
	for (v = context_seq_start(&m, &pos); v && (r->site != site || !r->stack);
	     v = context_seq_next(&m, v, &pos))
		;
	KUNIT_EXPECT_NOT_NULL(test, v);
	context_seq_stop(&m, v);
	release(0, 1);
}

static unsigned int nr_spied, nr_irqs_off;

static void spy_on_count(unsigned long index, struct alloc_tag_ref *ref,
			 long bytes, long calls)
{
	if (calls > 0) {
		nr_spied++;
		nr_irqs_off += irqs_disabled();
	}
	context_count(index, ref, bytes, calls);
}

/*
 * pcpu_lock is taken with interrupts off, and so is the lock of the page
 * allocator's lists on a single CPU. No stack is captured under these locks.
 */
static void test_no_capture_under_a_lock_of_an_allocator(struct kunit *test)
{
	struct page *pages[8] = { };
	void __percpu *area;
	unsigned int i, nr;

	choose(test, SZ_4M);
	nr_spied = 0;
	nr_irqs_off = 0;
	static_call_update(alloc_tag_watch_count, spy_on_count);
	area = alloc_hooks_tag(&kunit_tag, __alloc_percpu_noprof(64, 8));
	KUNIT_EXPECT_EQ(test, nr_spied, 1U);
	nr = alloc_hooks_tag(&kunit_tag,
			     alloc_pages_bulk_array_noprof(GFP_KERNEL,
							   ARRAY_SIZE(pages),
							   pages));
	static_call_update(alloc_tag_watch_count, context_count);
	KUNIT_EXPECT_NOT_NULL(test, area);
	KUNIT_EXPECT_GT(test, nr, 1U);
	KUNIT_EXPECT_EQ(test, nr_spied, 1 + nr);
	KUNIT_EXPECT_EQ(test, nr_irqs_off, 0U);

	free_percpu(area);
	for (i = 0; i < ARRAY_SIZE(pages); i++)
		if (pages[i])
			__free_page(pages[i]);
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag), 0UL);
}

/* Pages allocated in bulk are accounted like others, captured or not. */
static void test_pages_in_bulk(struct kunit *test)
{
	struct page *pages[8] = { };
	unsigned int round, i, nr;
	unsigned long count;
	s64 bytes, b;
	long calls, c;
	u64 sum;

	lazy_percpu_counter_read(alloc_tag_counter(kunit_tag.ct.index), &bytes,
				 &calls);
	for (round = 0; round < 2; round++) {
		/* Two pieces of the array, with an existing page in between. */
		pages[3] = alloc_page(GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, pages[3]);
		for (nr = 0; nr < ARRAY_SIZE(pages); )
			nr = alloc_hooks_tag(&kunit_tag,
					     alloc_pages_bulk_array_noprof(GFP_KERNEL,
									   ARRAY_SIZE(pages),
									   pages));
		lazy_percpu_counter_read(alloc_tag_counter(kunit_tag.ct.index),
					 &b, &c);
		KUNIT_EXPECT_EQ(test, b - bytes, (s64)(7 * PAGE_SIZE));
		KUNIT_EXPECT_EQ(test, c - calls, 7L);
		if (round) {
			mutex_lock(&context_mutex);
			context_sum(site_of(&kunit_tag), &count, &sum);
			mutex_unlock(&context_mutex);
			KUNIT_EXPECT_EQ(test, count, 7UL);
			KUNIT_EXPECT_EQ(test, sum, (u64)(7 * PAGE_SIZE));
		}
		for (i = 0; i < ARRAY_SIZE(pages); i++) {
			__free_page(pages[i]);
			pages[i] = NULL;
		}
		lazy_percpu_counter_read(alloc_tag_counter(kunit_tag.ct.index),
					 &b, &c);
		KUNIT_EXPECT_EQ(test, b, bytes);
		KUNIT_EXPECT_EQ(test, c, calls);
		if (!round)
			choose(test, SZ_4M);
	}
	KUNIT_EXPECT_EQ(test, kept(&kunit_tag), 0UL);
}

static struct kunit_case context_test_cases[] = {
	KUNIT_CASE(test_capture_allocates_nothing),
	KUNIT_CASE(test_late_refill),
	KUNIT_CASE(test_empty_reserve),
	KUNIT_CASE(test_cap),
	KUNIT_CASE(test_tables_follow_the_cap),
	KUNIT_CASE(test_all_is_given_back),
	KUNIT_CASE(test_move),
	KUNIT_CASE(test_reader_across_a_disable),
	KUNIT_CASE(test_no_capture_under_a_lock_of_an_allocator),
	KUNIT_CASE(test_pages_in_bulk),
	{}
};

static struct kunit_suite context_test_suite = {
	.name = "alloc_tag_ctx",
	.init = need_contexts,
	.exit = no_contexts,
	.test_cases = context_test_cases,
};

kunit_test_suite(context_test_suite);
