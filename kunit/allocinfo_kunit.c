// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of /proc/allocinfo: names that do not fit, the filter, and the
 * moves of a cursor. The guest tests cover system calls and real modules.
 * Included by lib/allocinfo.c.
 */
#include <kunit/test.h>

#include <linux/kmsg_dump.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define SIXTY	"_10_______20________30________40________50________60________"

static void test_tail(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, allocinfo_tail(""), "");
	KUNIT_EXPECT_STREQ(test, allocinfo_tail("mm/slub.c"), "mm/slub.c");
	KUNIT_EXPECT_STREQ(test, allocinfo_tail("abc" SIXTY), "abc" SIXTY);
	KUNIT_EXPECT_STREQ(test, allocinfo_tail("xabc" SIXTY), "abc" SIXTY);
	KUNIT_EXPECT_STREQ(test, allocinfo_tail(SIXTY "abc" SIXTY),
			   "abc" SIXTY);
}

static struct codetag tag_of_a_module = {
	.filename	= "drivers/x/" SIXTY ".c",
	.function	= "some_function",
	.lineno		= 123,
};

static struct codetag_range range_of_a_module = {
	.tags		= &tag_of_a_module,
	.nr		= 1,
	.modname	= "x_mod",
	.mod		= (struct module *)&range_of_a_module,
};

static const struct allocinfo_walk walk_in_a_module = {
	.it.range	= &range_of_a_module,
	.it.ct		= &tag_of_a_module,
	.ct		= &tag_of_a_module,
	.bytes		= 4096,
	.calls		= 2,
};

static void test_record(struct kunit *test)
{
	struct allocinfo_tag_data data = { };
	unsigned int i;

	allocinfo_fill(&data, &walk_in_a_module);
	KUNIT_EXPECT_STREQ(test, data.tag.modname, "x_mod");
	KUNIT_EXPECT_STREQ(test, data.tag.function, "some_function");
	KUNIT_EXPECT_STREQ(test, data.tag.filename, "/" SIXTY ".c");
	KUNIT_EXPECT_EQ(test, data.tag.lineno, 123ULL);
	KUNIT_EXPECT_EQ(test, data.counter.bytes, 4096ULL);
	KUNIT_EXPECT_EQ(test, data.counter.calls, 2ULL);
	KUNIT_EXPECT_EQ(test, data.counter.accurate, 1);
	for (i = sizeof("some_function"); i < ALLOCINFO_STR_SIZE; i++)
		KUNIT_EXPECT_EQ(test, data.tag.function[i], 0);
}

static void test_record_of_catch_all_r26(struct kunit *test)
{
	struct allocinfo_walk w = { .ct = &alloc_tag_catch_all.ct };
	struct allocinfo_tag_data data = { };

	allocinfo_fill(&data, &w);
	KUNIT_EXPECT_STREQ(test, data.tag.modname, "");
	KUNIT_EXPECT_STREQ(test, data.tag.function, "lines_without_index");
	KUNIT_EXPECT_EQ(test, data.counter.accurate, 0);
}

static bool match(const struct allocinfo_filter *f)
{
	struct allocinfo_walk w = walk_in_a_module;

	return allocinfo_match_module(&w, f) && allocinfo_match_tag(&w, f) &&
	       allocinfo_match_size(&w, f);
}

static void test_filter_by_name(struct kunit *test)
{
	struct allocinfo_filter f = {
		.fields = {
			.modname	= "x_mod",
			.function	= "some_function",
			.filename	= "/" SIXTY ".c",
		},
	};

	f.mask = ALLOCINFO_FILTER_MASK_MODNAME |
		 ALLOCINFO_FILTER_MASK_FUNCTION | ALLOCINFO_FILTER_MASK_FILENAME;
	KUNIT_EXPECT_TRUE(test, match(&f));
	f.fields.filename[0] = 'x';
	KUNIT_EXPECT_FALSE(test, match(&f));
	f.mask &= ~ALLOCINFO_FILTER_MASK_FILENAME;
	KUNIT_EXPECT_TRUE(test, match(&f));
	/* Only an equal name matches, no prefix or suffix. */
	strcpy(f.fields.function, "some_functio");
	KUNIT_EXPECT_FALSE(test, match(&f));
	strcpy(f.fields.function, "some_function_");
	KUNIT_EXPECT_FALSE(test, match(&f));
	f.mask &= ~ALLOCINFO_FILTER_MASK_FUNCTION;
	KUNIT_EXPECT_TRUE(test, match(&f));
	f.fields.modname[0] = '\0';
	KUNIT_EXPECT_FALSE(test, match(&f));
}

static void test_filter_by_number(struct kunit *test)
{
	struct allocinfo_filter f = { .mask = ALLOCINFO_FILTER_MASK_LINENO };

	f.fields.lineno = 123;
	KUNIT_EXPECT_TRUE(test, match(&f));
	f.fields.lineno += 1ULL << 32;
	KUNIT_EXPECT_FALSE(test, match(&f));

	f.mask = ALLOCINFO_FILTER_MASK_MIN_SIZE | ALLOCINFO_FILTER_MASK_MAX_SIZE;
	f.min_size = 4096;
	f.max_size = 4096;
	KUNIT_EXPECT_TRUE(test, match(&f));
	f.min_size = 4097;
	KUNIT_EXPECT_FALSE(test, match(&f));
	f.max_size = U64_MAX;
	KUNIT_EXPECT_FALSE(test, match(&f));
	f.min_size = 0;
	f.max_size = 4095;
	KUNIT_EXPECT_FALSE(test, match(&f));

	f.mask = ALLOCINFO_FILTER_MASK_INACCURATE;
	KUNIT_EXPECT_TRUE(test, match(&f));
	f.inaccurate = 1ULL << 63;
	KUNIT_EXPECT_FALSE(test, match(&f));
}

/* The memo has the result for the last name only. */
static void test_memo(struct kunit *test)
{
	struct allocinfo_memo memo = { };
	const char *a = "mm/a.c", *b = "mm/b.c";
	char wanted[ALLOCINFO_STR_SIZE] = "mm/a.c";

	KUNIT_EXPECT_TRUE(test, allocinfo_same(&memo, a, wanted));
	KUNIT_EXPECT_TRUE(test, allocinfo_same(&memo, a, wanted));
	KUNIT_EXPECT_FALSE(test, allocinfo_same(&memo, b, wanted));
	KUNIT_EXPECT_FALSE(test, allocinfo_same(&memo, b, wanted));
	/* Bytes after the end of a name are ignored. */
	memset(wanted + 7, 'x', sizeof(wanted) - 8);
	KUNIT_EXPECT_TRUE(test, allocinfo_same(&memo, a, wanted));
	KUNIT_EXPECT_FALSE(test, allocinfo_same(&memo, b, wanted));
}

/* Record n is n steps after the first one. */
static void test_go_to(struct kunit *test)
{
	struct allocinfo_walk step = { }, jump = { };
	u64 n = 0;

	if (!alloc_tag_available)
		kunit_skip(test, "booted with sysctl.vm.mem_profiling=never");

	codetag_lock(&alloc_tag_type);
	for (allocinfo_seek(&step, 0); step.ct; allocinfo_next(&step)) {
		if (!allocinfo_read(&step))
			continue;
		allocinfo_go_to(&jump, n++);
		if (jump.ct != step.ct)
			break;
	}
	KUNIT_EXPECT_PTR_EQ(test, step.ct, NULL);
	KUNIT_EXPECT_GT(test, n, 100ULL);
	allocinfo_go_to(&jump, n);
	KUNIT_EXPECT_PTR_EQ(test, jump.ct, NULL);
	allocinfo_go_to(&jump, U64_MAX);
	KUNIT_EXPECT_PTR_EQ(test, jump.ct, NULL);
	KUNIT_EXPECT_EQ(test, allocinfo_pos(&jump), ALLOCINFO_END);
	codetag_unlock(&alloc_tag_type);
}

/* A cursor finds the catch-all by its name, once, and only if it has memory. */
static void test_cursor_r26(struct kunit *test)
{
	struct allocinfo_tag_data data = { };
	struct allocinfo_cursor cursor = { };
	const u64 start = 0;
	void *p;

	if (!alloc_tag_available || !mem_alloc_profiling_enabled())
		kunit_skip(test, "profiling is off");

	cursor.filter.mask = ALLOCINFO_FILTER_MASK_FUNCTION;
	strcpy(cursor.filter.fields.function, "lines_without_index");
	p = alloc_hooks_tag(&alloc_tag_catch_all, kmalloc_noprof(512, GFP_KERNEL));
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_EQ(test, allocinfo_fetch(&cursor, &start, &data), 0);
	KUNIT_EXPECT_EQ(test, data.counter.bytes, 512ULL);
	KUNIT_EXPECT_EQ(test, data.counter.accurate, 0);
	kfree(p);
	KUNIT_EXPECT_EQ(test, allocinfo_fetch(&cursor, NULL, &data), -ENOENT);
	KUNIT_EXPECT_EQ(test, allocinfo_fetch(&cursor, NULL, &data), -ENOENT);
	/* Without memory, the catch-all is not a record. */
	KUNIT_EXPECT_EQ(test, allocinfo_fetch(&cursor, &start, &data), -ENOENT);
	cursor.filter.mask = 0;
	KUNIT_EXPECT_EQ(test, allocinfo_fetch(&cursor, NULL, &data), -ENOENT);
	KUNIT_EXPECT_EQ(test, allocinfo_fetch(&cursor, &start, &data), 0);
}

/* The list is sorted by size, in whatever order the tags come. */
static void test_top(struct kunit *test)
{
	struct allocinfo_top top[ALLOCINFO_TOP];
	struct alloc_tag *tag;
	unsigned int nr, i;
	bool seen = false;
	void *p;

	if (!alloc_tag_available || !mem_alloc_profiling_enabled())
		kunit_skip(test, "profiling is off");

	/* Make the catch-all the largest. */
	p = alloc_hooks_tag(&alloc_tag_catch_all,
			    vmalloc_noprof(16 << 20));
	KUNIT_ASSERT_NOT_NULL(test, p);
	codetag_lock(&alloc_tag_type);
	nr = allocinfo_find_top(top);
	codetag_unlock(&alloc_tag_type);
	vfree(p);

	KUNIT_ASSERT_EQ(test, nr, (unsigned int)ALLOCINFO_TOP);
	for (i = 0; i < nr; i++) {
		tag = container_of(top[i].ct, struct alloc_tag, ct);
		if (tag == &alloc_tag_catch_all) {
			seen = true;
			KUNIT_EXPECT_EQ(test, top[i].bytes, 16L << 20);
			KUNIT_EXPECT_EQ(test, top[i].calls, 16L << (20 - PAGE_SHIFT));
		}
		if (i)
			KUNIT_EXPECT_GE(test, top[i - 1].bytes, top[i].bytes);
	}
	KUNIT_EXPECT_TRUE(test, seen);
}

static void test_row_of_more_than_32_bits(struct kunit *test)
{
	const s64 bytes = (3LL << 30) + 4096;
	struct allocinfo_tag_data data = { };
	struct allocinfo_walk w = walk_in_a_module;
	struct allocinfo_filter f = {
		.mask		= ALLOCINFO_FILTER_MASK_MIN_SIZE,
		.min_size	= 1ULL << 31,
	};
	char *row = kunit_kzalloc(test, 256, GFP_KERNEL);
	struct seq_buf s;

	KUNIT_ASSERT_NOT_NULL(test, row);
	seq_buf_init(&s, row, 255);
	allocinfo_row(&s, w.ct, NULL, bytes, 786433);
	row[seq_buf_used(&s)] = '\0';
	KUNIT_EXPECT_EQ(test, strncmp(row, "  3221229568   786433 drivers/x/", 32), 0);

	w.bytes = bytes;
	allocinfo_fill(&data, &w);
	KUNIT_EXPECT_EQ(test, data.counter.bytes, (u64)bytes);
	KUNIT_EXPECT_TRUE(test, allocinfo_match_size(&w, &f));
	f.mask = ALLOCINFO_FILTER_MASK_MAX_SIZE;
	f.max_size = U32_MAX;
	KUNIT_EXPECT_TRUE(test, allocinfo_match_size(&w, &f));
}

static bool in_the_log(const char *text)
{
	struct kmsg_dump_iter iter;
	char line[256];
	size_t len;

	kmsg_dump_rewind(&iter);
	while (kmsg_dump_get_line(&iter, false, line, sizeof(line), &len))
		if (strnstr(line, text, len))
			return true;
	return false;
}

/* The report of show_mem() has the same rows as the file. */
static void test_show_mem_row(struct kunit *test)
{
	void *p;

	if (!alloc_tag_available || !mem_alloc_profiling_enabled() ||
	    !IS_ENABLED(CONFIG_PRINTK))
		kunit_skip(test, "there is no report");
	p = alloc_hooks_tag(&alloc_tag_catch_all, vmalloc_noprof(16 << 20));
	KUNIT_ASSERT_NOT_NULL(test, p);
	alloc_tag_show_mem();
	vfree(p);
	KUNIT_EXPECT_TRUE(test, in_the_log(" func:lines_without_index accurate:no"));
}

/* The report must not wait for the lock: this test would hang. */
static void test_show_mem_while_locked(struct kunit *test)
{
	if (!alloc_tag_available)
		kunit_skip(test, "profiling is unavailable");
	down_write(&alloc_tag_type.lock);
	alloc_tag_show_mem();
	KUNIT_EXPECT_FALSE(test, codetag_trylock(&alloc_tag_type));
	up_write(&alloc_tag_type.lock);
	KUNIT_EXPECT_TRUE(test, codetag_trylock(&alloc_tag_type));
	codetag_unlock(&alloc_tag_type);
}

/* The report must neither need interrupts nor enable them. */
static void test_show_mem_without_interrupts(struct kunit *test)
{
	unsigned long flags;
	bool off;

	if (!alloc_tag_available)
		kunit_skip(test, "profiling is unavailable");
	local_irq_save(flags);
	alloc_tag_show_mem();
	off = irqs_disabled();
	local_irq_restore(flags);
	KUNIT_EXPECT_TRUE(test, off);
	KUNIT_EXPECT_TRUE(test, codetag_trylock(&alloc_tag_type));
	codetag_unlock(&alloc_tag_type);
}

static struct kunit_case allocinfo_cases[] = {
	KUNIT_CASE(test_tail),
	KUNIT_CASE(test_record),
	KUNIT_CASE(test_record_of_catch_all_r26),
	KUNIT_CASE(test_filter_by_name),
	KUNIT_CASE(test_filter_by_number),
	KUNIT_CASE(test_memo),
	KUNIT_CASE(test_go_to),
	KUNIT_CASE(test_cursor_r26),
	KUNIT_CASE(test_top),
	KUNIT_CASE(test_row_of_more_than_32_bits),
	KUNIT_CASE(test_show_mem_row),
	KUNIT_CASE(test_show_mem_while_locked),
	KUNIT_CASE(test_show_mem_without_interrupts),
	{ }
};

static struct kunit_suite allocinfo_suite = {
	.name		= "allocinfo",
	.test_cases	= allocinfo_cases,
};

kunit_test_suite(allocinfo_suite);
