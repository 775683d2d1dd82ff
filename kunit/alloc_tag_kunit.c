// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of allocation tags: the counter of a call site equals the memory
 * that it holds, through everything that can happen to memory between
 * allocation and free. Included by lib/alloc_tag.c.
 */
#include <kunit/test.h>

#include <linux/gfp.h>
#include <linux/init_task.h>
#include <linux/vmalloc.h>

static void tag_value(const struct alloc_tag *tag, s64 *bytes, long *calls)
{
	lazy_percpu_counter_read(alloc_tag_counter(tag->ct.index), bytes, calls);
}

#define EXPECT_TAG(test, tag, _bytes, _calls)				\
do {									\
	long c;								\
	s64 b;								\
									\
	tag_value(tag, &b, &c);						\
	KUNIT_EXPECT_EQ(test, b, (s64)(_bytes));			\
	KUNIT_EXPECT_EQ(test, c, (long)(_calls));			\
} while (0)

static bool was_enabled;

static int need_profiling(struct kunit *test)
{
	if (!alloc_tag_available)
		kunit_skip(test, "booted with sysctl.vm.mem_profiling=never");
	was_enabled = static_key_enabled(&mem_alloc_profiling_key);
	mem_profiling_enable();
	return 0;
}

static void put_profiling_back(struct kunit *test)
{
	if (alloc_tag_available && !was_enabled)
		mem_profiling_disable();
}

static void test_every_tag_has_an_index(struct kunit *test)
{
	struct codetag_iterator it;
	unsigned int n = 0;
	bool more;

	codetag_lock(&alloc_tag_type);
	for (more = codetag_first(&it, &alloc_tag_type); more;
	     more = codetag_next(&it)) {
		if (it.range != &alloc_tag_kernel)
			break;
		KUNIT_EXPECT_EQ(test, it.ct->index, SHARED_INDEX + ++n);
		KUNIT_EXPECT_NOT_NULL(test, it.ct->filename);
		KUNIT_EXPECT_NOT_NULL(test, it.ct->function);
	}
	codetag_unlock(&alloc_tag_type);
	KUNIT_EXPECT_EQ(test, n, __stop_alloc_tags - __start_alloc_tags);
	KUNIT_EXPECT_GT(test, n, 100);
}

/* An index that an overrun left behind: a warning, and nothing is counted. */
static void test_index_of_no_site(struct kunit *test)
{
	unsigned int index = alloc_tag_nr;
	long calls;
	s64 bytes;

	if (index >= ALLOC_TAG_NR_PARTS ||
	    !alloc_tag_chunks[index >> ALLOC_TAG_CHUNK_SHIFT])
		kunit_skip(test, "the last chunk of counters is full");
	alloc_tag_count(index, 64, 1);
	lazy_percpu_counter_read(alloc_tag_counter(index), &bytes, &calls);
	KUNIT_EXPECT_EQ(test, bytes, 0);
	KUNIT_EXPECT_EQ(test, calls, 0);
}

static void test_kmalloc_sizes(struct kunit *test)
{
	static const size_t sizes[] = { 1, 8, 100, 192, 1024, 2048, 4096, 8192 };
	DEFINE_ALLOC_TAG(tag);
	unsigned int i;
	size_t real;
	void *p;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		real = kmalloc_size_roundup(sizes[i]);
		p = alloc_hooks_tag(&tag, kmalloc_noprof(sizes[i], GFP_KERNEL));
		KUNIT_ASSERT_NOT_NULL(test, p);
		EXPECT_TAG(test, &tag, real, 1);
		kfree(p);
		EXPECT_TAG(test, &tag, 0, 0);
	}

	/* Too large for a slab: kmalloc() uses pages. */
	p = alloc_hooks_tag(&tag, kmalloc_noprof(5 * PAGE_SIZE, GFP_KERNEL));
	KUNIT_ASSERT_NOT_NULL(test, p);
	EXPECT_TAG(test, &tag, 8 * PAGE_SIZE, 1);
	kfree(p);
	EXPECT_TAG(test, &tag, 0, 0);

	/* A size of 0 allocates no memory and counts no call. */
	p = alloc_hooks_tag(&tag, kmalloc_noprof(0, GFP_KERNEL));
	EXPECT_TAG(test, &tag, 0, 0);
	kfree(p);
}

#define NR_OBJECTS	500

/* Objects of a page and more share the map of pages with their slab. */
static void test_objects_side_by_side(struct kunit *test)
{
	static const size_t sizes[] = { 8, 64, 96, 1000, 2048, 4096, 6000 };
	struct kmem_cache *cache;
	struct alloc_tag *tag;
	DEFINE_ALLOC_TAG(even);
	DEFINE_ALLOC_TAG(odd);
	unsigned int i, j;
	long size, calls;
	s64 bytes;
	void **p;

	p = kunit_kcalloc(test, NR_OBJECTS, sizeof(*p), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, p);
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		cache = kmem_cache_create("alloc_tag_kunit", sizes[i], 0,
					  0, NULL);
		KUNIT_ASSERT_NOT_NULL(test, cache);
		for (j = 0; j < NR_OBJECTS; j++) {
			tag = j % 2 ? &odd : &even;
			p[j] = alloc_hooks_tag(tag, kmem_cache_alloc_noprof(cache, GFP_KERNEL));
			KUNIT_ASSERT_NOT_NULL(test, p[j]);
			memset(p[j], 0xff, sizes[i]);
		}
		tag_value(&even, &bytes, &calls);
		size = (long)bytes / (NR_OBJECTS / 2);
		KUNIT_EXPECT_GE(test, size, (long)sizes[i]);
		EXPECT_TAG(test, &even, size * NR_OBJECTS / 2, NR_OBJECTS / 2);
		EXPECT_TAG(test, &odd, size * NR_OBJECTS / 2, NR_OBJECTS / 2);
		for (j = 0; j < NR_OBJECTS; j += 2)
			kmem_cache_free(cache, p[j]);
		EXPECT_TAG(test, &even, 0, 0);
		EXPECT_TAG(test, &odd, size * NR_OBJECTS / 2, NR_OBJECTS / 2);
		for (j = 1; j < NR_OBJECTS; j += 2)
			kmem_cache_free(cache, p[j]);
		EXPECT_TAG(test, &odd, 0, 0);
		kmem_cache_destroy(cache);
	}
}

static void test_bulk_objects(struct kunit *test)
{
	DEFINE_ALLOC_TAG(tag);
	struct kmem_cache *cache;
	void *p[32];
	int n;

	cache = kmem_cache_create("alloc_tag_kunit", 200, 8, 0, NULL);
	KUNIT_ASSERT_NOT_NULL(test, cache);
	n = alloc_hooks_tag(&tag, kmem_cache_alloc_bulk_noprof(cache, GFP_KERNEL,
							       32, p));
	KUNIT_ASSERT_EQ(test, n, 32);
	EXPECT_TAG(test, &tag, 32 * kmem_cache_size(cache), 32);
	kmem_cache_free_bulk(cache, 32, p);
	EXPECT_TAG(test, &tag, 0, 0);
	kmem_cache_destroy(cache);
}

static void test_krealloc_kvmalloc_vmalloc(struct kunit *test)
{
	DEFINE_ALLOC_TAG(first);
	DEFINE_ALLOC_TAG(second);
	void *p, *q;

	/* On arm64, kmalloc() has no object smaller than 128 bytes. */
	p = alloc_hooks_tag(&first, kmalloc_noprof(128, GFP_KERNEL));
	q = alloc_hooks_tag(&second, krealloc_noprof(p, 100, GFP_KERNEL));
	KUNIT_EXPECT_PTR_EQ(test, p, q);
	EXPECT_TAG(test, &first, 128, 1);
	q = alloc_hooks_tag(&second, krealloc_noprof(p, 600, GFP_KERNEL));
	EXPECT_TAG(test, &first, 0, 0);
	EXPECT_TAG(test, &second, 1024, 1);
	kfree(q);

	p = alloc_hooks_tag(&first, vmalloc_noprof(5 * PAGE_SIZE));
	EXPECT_TAG(test, &first, 5 * PAGE_SIZE, 5);
	vfree(p);
	EXPECT_TAG(test, &first, 0, 0);

	/* More than the page allocator can allocate in one piece. */
	p = alloc_hooks_tag(&first, kvmalloc_noprof(8UL << 20, GFP_KERNEL));
	if (p)
		EXPECT_TAG(test, &first, 8UL << 20,
			   is_vmalloc_addr(p) ? (8UL << 20) >> PAGE_SHIFT : 1);
	kvfree(p);
	EXPECT_TAG(test, &first, 0, 0);
	EXPECT_TAG(test, &second, 0, 0);
}

static void test_page_orders(struct kunit *test)
{
	DEFINE_ALLOC_TAG(tag);
	struct page *page;
	unsigned int order;

	for (order = 0; order < 5; order++) {
		page = alloc_hooks_tag(&tag, alloc_pages_noprof(GFP_KERNEL, order));
		KUNIT_ASSERT_NOT_NULL(test, page);
		EXPECT_TAG(test, &tag, PAGE_SIZE << order, 1);
		__free_pages(page, order);
		EXPECT_TAG(test, &tag, 0, 0);
	}
}

static void test_bulk_pages(struct kunit *test)
{
	DEFINE_ALLOC_TAG(tag);
	struct page *pages[16] = { };
	unsigned long n, i;

	n = alloc_hooks_tag(&tag, alloc_pages_bulk_array_noprof(GFP_KERNEL, 16,
								pages));
	KUNIT_ASSERT_GT(test, n, 0);
	EXPECT_TAG(test, &tag, n * PAGE_SIZE, n);
	for (i = 0; i < n; i++)
		__free_page(pages[i]);
	EXPECT_TAG(test, &tag, 0, 0);
}

/* Only the new heads get the tag, and each is one call. */
static void test_split_r07(struct kunit *test)
{
	DEFINE_ALLOC_TAG(tag);
	struct page *page;
	unsigned int i;

	page = alloc_hooks_tag(&tag, alloc_pages_noprof(GFP_KERNEL, 3));
	KUNIT_ASSERT_NOT_NULL(test, page);
	split_page(page, 3);
	for (i = 0; i < 8; i++) {
		EXPECT_TAG(test, &tag, (8 - i) * PAGE_SIZE, 8 - i);
		__free_page(page + i);
	}
	EXPECT_TAG(test, &tag, 0, 0);
}

static void test_pages_exact(struct kunit *test)
{
	DEFINE_ALLOC_TAG(tag);
	void *p;

	p = alloc_hooks_tag(&tag, alloc_pages_exact_noprof(5 * PAGE_SIZE,
							   GFP_KERNEL));
	KUNIT_ASSERT_NOT_NULL(test, p);
	EXPECT_TAG(test, &tag, 5 * PAGE_SIZE, 5);
	free_pages_exact(p, 5 * PAGE_SIZE);
	EXPECT_TAG(test, &tag, 0, 0);
}

/* A non-compound block is freed while its first page has another holder. */
static void test_free_with_extra_reference_r11(struct kunit *test)
{
	DEFINE_ALLOC_TAG(tag);
	struct page *page;

	page = alloc_hooks_tag(&tag, alloc_pages_noprof(GFP_KERNEL, 2));
	KUNIT_ASSERT_NOT_NULL(test, page);
	get_page(page);
	__free_pages(page, 2);
	EXPECT_TAG(test, &tag, PAGE_SIZE, 1);
	put_page(page);
	EXPECT_TAG(test, &tag, 0, 0);
}

/* Pages accounted one by one become blocks, as when a gigantic page is demoted. */
static void test_regroup_r07(struct kunit *test)
{
	DEFINE_ALLOC_TAG(tag);
	struct page *page;
	unsigned int i;

	page = alloc_hooks_tag(&tag, alloc_pages_noprof(GFP_KERNEL, 3));
	KUNIT_ASSERT_NOT_NULL(test, page);
	split_page(page, 3);
	EXPECT_TAG(test, &tag, 8 * PAGE_SIZE, 8);
	pgalloc_tag_regroup(page, 8, 4);
	EXPECT_TAG(test, &tag, 8 * PAGE_SIZE, 2);
	KUNIT_EXPECT_EQ(test, pgalloc_tag_ref(page + 1)->index, 0);
	KUNIT_EXPECT_EQ(test, pgalloc_tag_ref(page + 4)->index, tag.ct.index);
	/* And back, so that the pages are freed as they were allocated. */
	pgalloc_tag_split(page, 4);
	pgalloc_tag_split(page + 4, 4);
	EXPECT_TAG(test, &tag, 8 * PAGE_SIZE, 8);
	for (i = 0; i < 8; i++)
		__free_page(page + i);
	EXPECT_TAG(test, &tag, 0, 0);
}

/* All pages are accounted even if profiling goes off after the check. */
static void test_range_is_decided_once(struct kunit *test)
{
	DEFINE_ALLOC_TAG(tag);
	struct alloc_tag *old;
	struct page *page;
	unsigned int i;

	mem_profiling_disable();
	page = alloc_pages_noprof(GFP_KERNEL, 2);
	KUNIT_ASSERT_NOT_NULL(test, page);
	split_page(page, 2);
	old = alloc_tag_save(current, &tag);
	__pgalloc_tag_add_range(page, 4);
	alloc_tag_restore(current, old);
	EXPECT_TAG(test, &tag, 4 * PAGE_SIZE, 4);
	for (i = 0; i < 4; i++)
		__free_page(page + i);
	EXPECT_TAG(test, &tag, 0, 0);
	mem_profiling_enable();
}

static struct page *tagged_pages(struct kunit *test, struct alloc_tag *tag,
				 unsigned int order)
{
	struct page *page;

	page = alloc_hooks_tag(tag, alloc_pages_noprof(GFP_KERNEL, order));
	KUNIT_ASSERT_NOT_NULL(test, page);
	return page;
}

/* The tag moves with the contents, and each page is released by its own tag. */
static void expect_move(struct kunit *test, struct alloc_tag *owner,
			struct page *from, struct alloc_tag *mover,
			struct page *to)
{
	pgalloc_tag_move(to, from);
	__free_page(from);
	EXPECT_TAG(test, mover, 0, 0);
	EXPECT_TAG(test, owner, PAGE_SIZE, 1);
	__free_page(to);
	EXPECT_TAG(test, owner, 0, 0);
}

static void test_migrate_r08_r09(struct kunit *test)
{
	DEFINE_ALLOC_TAG(owner);
	DEFINE_ALLOC_TAG(mover);
	struct page *from = tagged_pages(test, &owner, 0);
	struct page *to = tagged_pages(test, &mover, 0);

	expect_move(test, &owner, from, &mover, to);
}

static void *inner_alloc(struct alloc_tag *inner)
{
	return alloc_hooks_tag(inner, kmalloc_noprof(128, GFP_KERNEL));
}

static void test_nesting(struct kunit *test)
{
	struct alloc_tag *before = current->alloc_tag;
	DEFINE_ALLOC_TAG(outer);
	DEFINE_ALLOC_TAG(inner);
	void *p, *q;

	p = alloc_hooks_tag(&outer, ({
		q = inner_alloc(&inner);
		KUNIT_EXPECT_PTR_EQ(test, current->alloc_tag, &outer);
		kmalloc_noprof(256, GFP_KERNEL);
	}));
	KUNIT_EXPECT_PTR_EQ(test, current->alloc_tag, before);
	EXPECT_TAG(test, &inner, 128, 1);
	EXPECT_TAG(test, &outer, 256, 1);
	kfree(p);
	kfree(q);
	EXPECT_TAG(test, &inner, 0, 0);
	EXPECT_TAG(test, &outer, 0, 0);
}

struct recorder {
	struct alloc_tag *tag;
	void *p;
};

static int recorder_init_noprof(struct recorder *r)
{
	alloc_tag_record(r->tag);
	return 0;
}

#define recorder_init(...)						\
	alloc_hooks_record(recorder_init_noprof(__VA_ARGS__))

static void recorder_grow(struct recorder *r)
{
	r->p = alloc_hooks_tag(r->tag, kmalloc_noprof(128, GFP_KERNEL));
}

static void test_record(struct kunit *test)
{
	struct recorder one = { }, two = { };

	recorder_init(&one);
	recorder_init(&two);
	KUNIT_ASSERT_NOT_NULL(test, one.tag);
	KUNIT_EXPECT_PTR_NE(test, one.tag, two.tag);
	KUNIT_EXPECT_STREQ(test, one.tag->ct.function, "test_record");
	KUNIT_EXPECT_EQ(test, one.tag->ct.lineno + 1, two.tag->ct.lineno);
	recorder_grow(&one);
	EXPECT_TAG(test, one.tag, 128, 1);
	EXPECT_TAG(test, two.tag, 0, 0);
	kfree(one.p);
	EXPECT_TAG(test, one.tag, 0, 0);
}

/* A free releases the reference whether profiling is on or off by then. */
static void test_switched_off_in_between_r28(struct kunit *test)
{
	DEFINE_ALLOC_TAG(tag);
	struct page *page;
	void *p, *q;

	p = alloc_hooks_tag(&tag, kmalloc_noprof(256, GFP_KERNEL));
	page = alloc_hooks_tag(&tag, alloc_pages_noprof(GFP_KERNEL, 1));
	EXPECT_TAG(test, &tag, 256 + 2 * PAGE_SIZE, 2);

	mem_profiling_disable();
	q = alloc_hooks_tag(&tag, kmalloc_noprof(256, GFP_KERNEL));
	EXPECT_TAG(test, &tag, 256 + 2 * PAGE_SIZE, 2);
	kfree(p);
	EXPECT_TAG(test, &tag, 2 * PAGE_SIZE, 1);
	__free_pages(page, 1);
	EXPECT_TAG(test, &tag, 0, 0);

	mem_profiling_enable();
	kfree(q);
	EXPECT_TAG(test, &tag, 0, 0);
}

/* References follow their pages while profiling is off, too. */
static void test_pages_while_off_r28(struct kunit *test)
{
	DEFINE_ALLOC_TAG(parts_tag);
	DEFINE_ALLOC_TAG(shared_tag);
	DEFINE_ALLOC_TAG(owner);
	DEFINE_ALLOC_TAG(mover);
	struct page *parts = tagged_pages(test, &parts_tag, 3);
	struct page *shared = tagged_pages(test, &shared_tag, 2);
	struct page *from = tagged_pages(test, &owner, 0);
	struct page *to = tagged_pages(test, &mover, 0);
	unsigned int i;

	mem_profiling_disable();

	split_page(parts, 3);
	EXPECT_TAG(test, &parts_tag, 8 * PAGE_SIZE, 8);
	pgalloc_tag_regroup(parts, 8, 4);
	EXPECT_TAG(test, &parts_tag, 8 * PAGE_SIZE, 2);
	pgalloc_tag_split(parts, 4);
	pgalloc_tag_split(parts + 4, 4);
	for (i = 0; i < 8; i++) {
		EXPECT_TAG(test, &parts_tag, (8 - i) * PAGE_SIZE, 8 - i);
		__free_page(parts + i);
	}
	EXPECT_TAG(test, &parts_tag, 0, 0);

	get_page(shared);
	__free_pages(shared, 2);
	EXPECT_TAG(test, &shared_tag, PAGE_SIZE, 1);
	put_page(shared);
	EXPECT_TAG(test, &shared_tag, 0, 0);

	expect_move(test, &owner, from, &mover, to);

	mem_profiling_enable();
}

/* Outside of any hook nothing is accounted, and nothing breaks. */
static void test_no_tag_r17(struct kunit *test)
{
	struct alloc_tag *old = alloc_tag_save(current, &alloc_tag_none);
	struct page *page;
	void *p;

	/* The test runs in a new thread, so this was the tag of a new task. */
	KUNIT_EXPECT_PTR_EQ(test, old, &alloc_tag_none);
	KUNIT_EXPECT_PTR_EQ(test, init_task.alloc_tag, &alloc_tag_none);
	p = kmalloc_noprof(64, GFP_KERNEL);
	page = alloc_pages_noprof(GFP_KERNEL, 0);
	alloc_tag_restore(current, old);
	KUNIT_ASSERT_NOT_NULL(test, page);
	KUNIT_EXPECT_EQ(test, pgalloc_tag_ref(page)->index, 0);
	kfree(p);
	__free_page(page);
}

/* With high memory, a call site can hold more bytes than fit in a long. */
static void test_more_than_32_bits(struct kunit *test)
{
	DEFINE_ALLOC_TAG(tag);
	struct lazy_percpu_counter *c = alloc_tag_counter(tag.ct.index);
	unsigned int i;
	long calls;
	s64 bytes;

	for (i = 0; i < 6; i++)
		alloc_tag_count(tag.ct.index, SZ_512M, 1);
	alloc_tag_read(&tag.ct, &bytes, &calls);
	KUNIT_EXPECT_EQ(test, bytes, 6LL * SZ_512M);
	KUNIT_EXPECT_EQ(test, calls, 6);

	for (i = 0; i < 2 * LAZY_PERCPU_COUNTER_HOT; i++)
		alloc_tag_count(tag.ct.index, 0, 0);
	lazy_percpu_counter_flush();
	KUNIT_EXPECT_NOT_NULL(test, c->parts);
	for (i = 0; i < 12; i++)
		alloc_tag_count(tag.ct.index, SZ_512M - 1, 1);
	alloc_tag_read(&tag.ct, &bytes, &calls);
	KUNIT_EXPECT_EQ(test, bytes, 18LL * SZ_512M - 12);
	KUNIT_EXPECT_EQ(test, calls, 18);

	for (i = 0; i < 18; i++)
		alloc_tag_count(tag.ct.index, -SZ_512M, -1);
	EXPECT_TAG(test, &tag, -12, 0);
	alloc_tag_count(tag.ct.index, 12, 0);
}

/* A module without indices shares the catch-all, and its tags are marked. */
static void test_shared_r26(struct kunit *test)
{
	struct alloc_tag *tags = kunit_kcalloc(test, 2, sizeof(*tags), GFP_KERNEL);
	struct codetag_range range = { .tags = tags, .nr = 2, .modname = "full" };
	long calls;
	s64 bytes;
	void *p;

	KUNIT_ASSERT_NOT_NULL(test, tags);
	KUNIT_ASSERT_EQ(test, alloc_tag_module_load(&alloc_tag_type, &range), 0);
	KUNIT_EXPECT_TRUE(test, tags[1].ct.flags & ALLOC_TAG_SHARED);
	p = alloc_hooks_tag(&tags[1], kmalloc_noprof(512, GFP_KERNEL));
	EXPECT_TAG(test, &alloc_tag_catch_all, 512, 1);
	alloc_tag_read(&tags[1].ct, &bytes, &calls);
	KUNIT_EXPECT_EQ(test, bytes, 0);
	KUNIT_EXPECT_FALSE(test, alloc_tag_in_use(&alloc_tag_type, &tags[1].ct));
	kfree(p);
	EXPECT_TAG(test, &alloc_tag_catch_all, 0, 0);
}

static void test_boot_parameter(struct kunit *test)
{
	static const struct {
		const char *text;
		int mode;
	} cases[] = {
		{ "0", MEM_PROFILING_OFF },
		{ "1", MEM_PROFILING_ON },
		{ "never", MEM_PROFILING_NEVER },
		{ "0,compressed", MEM_PROFILING_OFF },
		{ "1,compressed", MEM_PROFILING_ON },
		{ "never,compressed", MEM_PROFILING_NEVER },
		{ "", -EINVAL },
		{ "2", -EINVAL },
		{ "01", -EINVAL },
		{ "on", -EINVAL },
		{ "nevermore", -EINVAL },
		{ "neve", -EINVAL },
		{ ",compressed", -EINVAL },
		{ "1,", -EINVAL },
		{ "1,compresse", -EINVAL },
		{ "1,compressed,compressed", -EINVAL },
		{ " 1", -EINVAL },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, mem_profiling_parse(cases[i].text),
				    cases[i].mode, "\"%s\"", cases[i].text);
}

static struct kunit_case alloc_tag_cases[] = {
	KUNIT_CASE(test_every_tag_has_an_index),
	KUNIT_CASE(test_index_of_no_site),
	KUNIT_CASE(test_kmalloc_sizes),
	KUNIT_CASE(test_objects_side_by_side),
	KUNIT_CASE(test_bulk_objects),
	KUNIT_CASE(test_krealloc_kvmalloc_vmalloc),
	KUNIT_CASE(test_page_orders),
	KUNIT_CASE(test_bulk_pages),
	KUNIT_CASE(test_split_r07),
	KUNIT_CASE(test_regroup_r07),
	KUNIT_CASE(test_pages_exact),
	KUNIT_CASE(test_free_with_extra_reference_r11),
	KUNIT_CASE(test_range_is_decided_once),
	KUNIT_CASE(test_migrate_r08_r09),
	KUNIT_CASE(test_nesting),
	KUNIT_CASE(test_record),
	KUNIT_CASE(test_switched_off_in_between_r28),
	KUNIT_CASE(test_pages_while_off_r28),
	KUNIT_CASE(test_no_tag_r17),
	KUNIT_CASE(test_more_than_32_bits),
	KUNIT_CASE(test_shared_r26),
	KUNIT_CASE(test_boot_parameter),
	{ }
};

static struct kunit_suite alloc_tag_suite = {
	.name		= "alloc_tag",
	.init		= need_profiling,
	.exit		= put_profiling_back,
	.test_cases	= alloc_tag_cases,
};

kunit_test_suite(alloc_tag_suite);
