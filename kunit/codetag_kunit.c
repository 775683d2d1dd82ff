// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the code tag library: numbering, walks while ranges come and
 * go, and tags that outlive their module. A module is represented by its tags
 * only; the guest tests load real ones. Included by lib/codetag.c.
 */
#include <kunit/test.h>

struct fake_tag {
	struct codetag ct;
	bool in_use;
	u64 payload;
};

struct fake {
	struct codetag_type type;
	struct codetag_range kernel;
	struct fake_tag tags[4];
	DECLARE_BITMAP(map, 17);
	int load_error;
	unsigned int loads;
	unsigned int first_seen;
};

struct fake_module {
	struct module mod;
	char text[16];
	struct fake_tag tags[3];
};

static int fake_load(struct codetag_type *type, struct codetag_range *range)
{
	struct fake *f = container_of(type, struct fake, type);

	f->loads++;
	f->first_seen = range->first_index;
	return f->load_error;
}

static bool fake_in_use(struct codetag_type *type, const struct codetag *ct)
{
	return container_of(ct, struct fake_tag, ct)->in_use;
}

static void fake_fill(struct fake_tag *tags, unsigned int nr, const char *file)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		tags[i] = (struct fake_tag) {
			.ct = {
				.filename	= file,
				.function	= "func",
				.lineno		= 10 * i,
			},
			.payload = i,
		};
}

static struct fake *fake_type(struct kunit *test)
{
	struct fake *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->type.section = "no_such_section";
	f->type.tag_size = sizeof(struct fake_tag);
	f->type.index_map = f->map;
	f->type.max_index = 16;
	f->type.module_load = fake_load;
	f->type.in_use = fake_in_use;
	fake_fill(f->tags, ARRAY_SIZE(f->tags), "kernel.c");
	return f;
}

static struct fake *fake_registered(struct kunit *test)
{
	struct fake *f = fake_type(test);

	codetag_register_type(&f->type, &f->kernel, f->tags,
			      f->tags + ARRAY_SIZE(f->tags));
	return f;
}

static void fake_unregister(struct fake *f)
{
	struct codetag_range *range, *next;

	mutex_lock(&codetag_types_lock);
	list_del(&f->type.node);
	mutex_unlock(&codetag_types_lock);

	list_for_each_entry_safe(range, next, &f->type.ranges, node) {
		list_del(&range->node);
		if (range->modname)
			codetag_free_range(range);
	}
}

static struct fake_module *fake_module(struct kunit *test, const char *name)
{
	struct fake_module *m = kunit_kzalloc(test, sizeof(*m), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, m);
	strscpy(m->mod.name, name, sizeof(m->mod.name));
	snprintf(m->text, sizeof(m->text), "%s.c", name);
	fake_fill(m->tags, ARRAY_SIZE(m->tags), m->text);
	return m;
}

static int fake_insmod(struct fake *f, struct fake_module *m)
{
	return codetag_load_range(&f->type, &m->mod, m->tags,
				  ARRAY_SIZE(m->tags));
}

/* Unload a module, and overwrite its memory to catch later uses. */
static void fake_rmmod(struct fake *f, struct fake_module *m)
{
	codetag_unload_type(&f->type, &m->mod);
	memset(m, 0x5a, sizeof(*m));
}

static unsigned int fake_count(struct fake *f)
{
	struct codetag_iterator iter;
	unsigned int n = 0;
	bool more;

	codetag_lock(&f->type);
	for (more = codetag_first(&iter, &f->type); more;
	     more = codetag_next(&iter))
		n++;
	codetag_unlock(&f->type);
	return n;
}

static void test_text(struct kunit *test)
{
	struct codetag ct = { "mm/foo.c", "bar", 42 };
	struct seq_buf s;
	char buf[64];

	seq_buf_init(&s, buf, sizeof(buf));
	codetag_to_text(&s, &ct, NULL);
	KUNIT_EXPECT_STREQ(test, buf, "mm/foo.c:42 func:bar");
	seq_buf_init(&s, buf, sizeof(buf));
	codetag_to_text(&s, &ct, "mod");
	KUNIT_EXPECT_STREQ(test, buf, "mm/foo.c:42 [mod] func:bar");
	seq_buf_init(&s, buf, 8);
	codetag_to_text(&s, &ct, "mod");
	KUNIT_EXPECT_TRUE(test, seq_buf_has_overflowed(&s));
}

/* Built-in code has the module name that it would have as a module. */
static void test_modname(struct kunit *test)
{
	static const struct codetag here = CODETAG_INIT;
	struct fake *f = fake_registered(test);
	struct fake_module *m = fake_module(test, "gone");
	struct codetag_iterator iter;

	KUNIT_EXPECT_STREQ(test, here.filename, __FILE__);
	KUNIT_EXPECT_STREQ(test, codetag_kbuild_modname(&here), "codetag");

	f->tags[0].ct.filename = here.filename;
	fake_insmod(f, m);
	m->tags[1].in_use = true;
	fake_rmmod(f, m);

	codetag_lock(&f->type);
	KUNIT_ASSERT_TRUE(test, codetag_first(&iter, &f->type));
	KUNIT_EXPECT_STREQ(test, codetag_modname(&iter), "codetag");
	KUNIT_ASSERT_TRUE(test, codetag_skip(&iter, ARRAY_SIZE(f->tags)));
	KUNIT_EXPECT_STREQ(test, codetag_modname(&iter), "gone");
	codetag_unlock(&f->type);
	fake_unregister(f);
}

static void test_numbers(struct kunit *test)
{
	struct fake *f = fake_registered(test);
	struct fake_module *a = fake_module(test, "a");
	struct fake_module *b = fake_module(test, "b");
	unsigned int i;

	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ(test, f->tags[i].ct.index, i + 1);
	KUNIT_ASSERT_EQ(test, fake_insmod(f, a), 0);
	KUNIT_ASSERT_EQ(test, fake_insmod(f, b), 0);
	KUNIT_EXPECT_EQ(test, f->first_seen, 8);
	for (i = 0; i < 3; i++) {
		KUNIT_EXPECT_EQ(test, a->tags[i].ct.index, 5 + i);
		KUNIT_EXPECT_EQ(test, b->tags[i].ct.index, 8 + i);
	}

	codetag_lock(&f->type);
	KUNIT_EXPECT_PTR_EQ(test, codetag_from_index(&f->type, 0), NULL);
	KUNIT_EXPECT_PTR_EQ(test, codetag_from_index(&f->type, 4),
			    &f->tags[3].ct);
	KUNIT_EXPECT_PTR_EQ(test, codetag_from_index(&f->type, 9),
			    &b->tags[1].ct);
	KUNIT_EXPECT_PTR_EQ(test, codetag_from_index(&f->type, 11), NULL);
	codetag_unlock(&f->type);

	/* The next module gets the indices that this one had. */
	fake_rmmod(f, a);
	a = fake_module(test, "c");
	KUNIT_ASSERT_EQ(test, fake_insmod(f, a), 0);
	KUNIT_EXPECT_EQ(test, a->tags[0].ct.index, 5);
	fake_unregister(f);
}

/* When the indices run out, modules load without any. */
static void test_numbers_run_out_r26(struct kunit *test)
{
	struct fake *f = fake_registered(test);
	struct fake_module *m[5];
	unsigned int i;

	/* 4 for the kernel and 3 for each of 4 modules: all 16 are used. */
	for (i = 0; i < 5; i++) {
		m[i] = fake_module(test, "m");
		KUNIT_ASSERT_EQ(test, fake_insmod(f, m[i]), 0);
	}
	KUNIT_EXPECT_EQ(test, m[3]->tags[2].ct.index, 16);
	KUNIT_EXPECT_EQ(test, m[4]->tags[0].ct.index, 0);
	KUNIT_EXPECT_EQ(test, f->first_seen, 0);
	KUNIT_EXPECT_EQ(test, fake_count(f), 4 + 5 * 3);

	fake_rmmod(f, m[4]);
	fake_rmmod(f, m[1]);
	KUNIT_EXPECT_EQ(test, bitmap_weight(f->map, 17), 13);
	m[1] = fake_module(test, "n");
	KUNIT_ASSERT_EQ(test, fake_insmod(f, m[1]), 0);
	KUNIT_EXPECT_EQ(test, m[1]->tags[0].ct.index, 8);
	fake_unregister(f);
}

static void test_more_kernel_tags_than_numbers(struct kunit *test)
{
	struct fake *f = fake_type(test);

	f->type.max_index = 3;
	codetag_register_type(&f->type, &f->kernel, f->tags,
			      f->tags + ARRAY_SIZE(f->tags));
	KUNIT_EXPECT_EQ(test, f->tags[2].ct.index, 3);
	KUNIT_EXPECT_EQ(test, f->tags[3].ct.index, 0);
	KUNIT_EXPECT_EQ(test, f->kernel.nr_index, 3);
	KUNIT_EXPECT_EQ(test, fake_count(f), 4);
	fake_unregister(f);
}

/* After an error at load the module is not listed, and its indices are free. */
static void test_load_error_r02_r03(struct kunit *test)
{
	struct fake *f = fake_registered(test);
	struct fake_module *m = fake_module(test, "m");

	f->load_error = -ENOMEM;
	KUNIT_EXPECT_EQ(test, fake_insmod(f, m), -ENOMEM);
	KUNIT_EXPECT_EQ(test, fake_count(f), 4);
	KUNIT_EXPECT_EQ(test, bitmap_weight(f->map, 17), 4);

	/* The loader undoes a load that failed half-way. */
	fake_rmmod(f, m);

	f->load_error = 0;
	m = fake_module(test, "m");
	KUNIT_EXPECT_EQ(test, fake_insmod(f, m), 0);
	KUNIT_EXPECT_EQ(test, m->tags[0].ct.index, 5);
	fake_unregister(f);
}

/* A position names the same tag after other modules came or went. */
static void test_walk_across_changes_r05(struct kunit *test)
{
	struct fake *f = fake_registered(test);
	struct fake_module *a = fake_module(test, "a");
	struct fake_module *b = fake_module(test, "b");
	struct fake_module *c = fake_module(test, "c");
	struct codetag_iterator iter;
	u64 in_a, in_b, gen;

	fake_insmod(f, a);
	fake_insmod(f, b);
	codetag_lock(&f->type);
	KUNIT_ASSERT_TRUE(test, codetag_first(&iter, &f->type));
	while (iter.ct != &a->tags[1].ct)
		KUNIT_ASSERT_TRUE(test, codetag_next(&iter));
	in_a = codetag_pos(&iter);
	while (iter.ct != &b->tags[1].ct)
		KUNIT_ASSERT_TRUE(test, codetag_next(&iter));
	in_b = codetag_pos(&iter);
	gen = codetag_generation(&f->type);
	codetag_unlock(&f->type);

	fake_rmmod(f, a);
	fake_insmod(f, c);

	codetag_lock(&f->type);
	KUNIT_EXPECT_GT(test, codetag_generation(&f->type), gen);
	KUNIT_ASSERT_TRUE(test, codetag_seek(&iter, &f->type, in_b));
	KUNIT_EXPECT_PTR_EQ(test, iter.ct, &b->tags[1].ct);
	/* A position in a range that is gone: continue with the next range. */
	KUNIT_ASSERT_TRUE(test, codetag_seek(&iter, &f->type, in_a));
	KUNIT_EXPECT_PTR_EQ(test, iter.ct, &b->tags[0].ct);
	/* A module that came meanwhile is behind all older ones. */
	while (iter.ct != &b->tags[2].ct)
		KUNIT_ASSERT_TRUE(test, codetag_next(&iter));
	KUNIT_ASSERT_TRUE(test, codetag_next(&iter));
	KUNIT_EXPECT_PTR_EQ(test, iter.ct, &c->tags[0].ct);
	KUNIT_ASSERT_TRUE(test, codetag_next(&iter));
	KUNIT_ASSERT_TRUE(test, codetag_next(&iter));
	KUNIT_EXPECT_FALSE(test, codetag_next(&iter));
	KUNIT_EXPECT_PTR_EQ(test, iter.ct, NULL);
	KUNIT_EXPECT_FALSE(test, codetag_seek(&iter, &f->type, U64_MAX));
	codetag_unlock(&f->type);
	fake_unregister(f);
}

/* A tag in use outlives its module, with strings of its own. */
static void test_tag_outlives_module_r04(struct kunit *test)
{
	struct fake *f = fake_registered(test);
	struct fake_module *m = fake_module(test, "gone");
	struct codetag_iterator iter;
	struct fake_tag *kept;

	fake_insmod(f, m);
	m->tags[1].in_use = true;
	fake_rmmod(f, m);

	KUNIT_EXPECT_EQ(test, fake_count(f), 5);
	codetag_lock(&f->type);
	kept = (struct fake_tag *)codetag_from_index(&f->type, 6);
	KUNIT_ASSERT_NOT_NULL(test, kept);
	KUNIT_EXPECT_STREQ(test, kept->ct.filename, "gone.c");
	KUNIT_EXPECT_STREQ(test, kept->ct.function, "func");
	KUNIT_EXPECT_EQ(test, kept->ct.lineno, 10);
	KUNIT_EXPECT_EQ(test, kept->payload, 1);
	KUNIT_EXPECT_PTR_EQ(test, codetag_from_index(&f->type, 5), NULL);
	KUNIT_ASSERT_TRUE(test, codetag_first(&iter, &f->type));
	while (iter.ct != &kept->ct)
		KUNIT_ASSERT_TRUE(test, codetag_next(&iter));
	KUNIT_EXPECT_STREQ(test, iter.range->modname, "gone");
	KUNIT_EXPECT_PTR_EQ(test, iter.range->mod, NULL);
	codetag_unlock(&f->type);

	/* No other module gets its indices until it is out of use. */
	m = fake_module(test, "next");
	fake_insmod(f, m);
	KUNIT_EXPECT_EQ(test, m->tags[0].ct.index, 8);
	kept->in_use = false;
	fake_rmmod(f, m);
	KUNIT_EXPECT_EQ(test, fake_count(f), 4);
	KUNIT_EXPECT_EQ(test, bitmap_weight(f->map, 17), 4);
	fake_unregister(f);
}

/* A walk that was in a module continues with the tags that are left of it. */
static void test_walk_across_unload_r05(struct kunit *test)
{
	struct fake *f = fake_registered(test);
	struct fake_module *m = fake_module(test, "gone");
	struct codetag_iterator iter;
	u64 pos[3];
	int i;

	fake_insmod(f, m);
	codetag_lock(&f->type);
	KUNIT_ASSERT_TRUE(test, codetag_first(&iter, &f->type));
	KUNIT_ASSERT_TRUE(test, codetag_skip(&iter, 3));
	KUNIT_EXPECT_PTR_EQ(test, iter.ct, &f->tags[3].ct);
	for (i = 0; i < 3; i++) {
		KUNIT_ASSERT_TRUE(test, codetag_next(&iter));
		pos[i] = codetag_pos(&iter);
	}
	codetag_unlock(&f->type);

	m->tags[0].in_use = true;
	m->tags[2].in_use = true;
	fake_rmmod(f, m);

	codetag_lock(&f->type);
	KUNIT_ASSERT_TRUE(test, codetag_seek(&iter, &f->type, pos[0]));
	KUNIT_EXPECT_EQ(test, codetag_pos(&iter), pos[0]);
	KUNIT_EXPECT_EQ(test, iter.ct->lineno, 0);
	KUNIT_ASSERT_TRUE(test, codetag_seek(&iter, &f->type, pos[1]));
	KUNIT_EXPECT_EQ(test, codetag_pos(&iter), pos[2]);
	KUNIT_EXPECT_EQ(test, iter.ct->lineno, 20);
	KUNIT_ASSERT_TRUE(test, codetag_seek(&iter, &f->type, pos[2]));
	KUNIT_EXPECT_EQ(test, iter.ct->lineno, 20);
	KUNIT_EXPECT_FALSE(test, codetag_seek(&iter, &f->type, pos[2] + 1));
	codetag_unlock(&f->type);
	fake_unregister(f);
}

/* Skip the remaining tags of a range, and stop at the next range. */
static void test_skip(struct kunit *test)
{
	struct fake *f = fake_registered(test);
	struct fake_module *m = fake_module(test, "m");
	struct codetag_iterator iter;

	fake_insmod(f, m);
	codetag_lock(&f->type);
	KUNIT_ASSERT_TRUE(test, codetag_first(&iter, &f->type));
	KUNIT_ASSERT_TRUE(test, codetag_skip(&iter, 0));
	KUNIT_EXPECT_PTR_EQ(test, iter.ct, &f->tags[0].ct);
	KUNIT_ASSERT_TRUE(test, codetag_skip(&iter, 2));
	KUNIT_EXPECT_PTR_EQ(test, iter.ct, &f->tags[2].ct);
	KUNIT_ASSERT_TRUE(test, codetag_skip(&iter, iter.range->nr));
	KUNIT_EXPECT_PTR_EQ(test, iter.ct, &m->tags[0].ct);
	KUNIT_EXPECT_FALSE(test, codetag_skip(&iter, 3));
	KUNIT_EXPECT_PTR_EQ(test, iter.ct, NULL);
	codetag_unlock(&f->type);
	fake_unregister(f);
}

static void test_same_module_twice(struct kunit *test)
{
	struct fake *f = fake_registered(test);
	struct fake_module *m;
	unsigned int i;

	for (i = 0; i < 100; i++) {
		m = fake_module(test, "again");
		KUNIT_ASSERT_EQ(test, fake_insmod(f, m), 0);
		KUNIT_ASSERT_EQ(test, m->tags[0].ct.index, 5);
		KUNIT_ASSERT_EQ(test, fake_count(f), 7);
		fake_rmmod(f, m);
	}
	KUNIT_EXPECT_EQ(test, f->loads, 100);
	fake_unregister(f);
}

static struct kunit_case codetag_cases[] = {
	KUNIT_CASE(test_text),
	KUNIT_CASE(test_modname),
	KUNIT_CASE(test_numbers),
	KUNIT_CASE(test_numbers_run_out_r26),
	KUNIT_CASE(test_more_kernel_tags_than_numbers),
	KUNIT_CASE(test_load_error_r02_r03),
	KUNIT_CASE(test_walk_across_changes_r05),
	KUNIT_CASE(test_tag_outlives_module_r04),
	KUNIT_CASE(test_walk_across_unload_r05),
	KUNIT_CASE(test_skip),
	KUNIT_CASE(test_same_module_twice),
	{ }
};

static struct kunit_suite codetag_suite = {
	.name		= "codetag",
	.test_cases	= codetag_cases,
};

kunit_test_suite(codetag_suite);
