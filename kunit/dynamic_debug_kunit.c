// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of dynamic debug on code tags: the sites that a query selects,
 * the order of the control file, and a reader whose module is unloaded. A
 * module is represented by a range of sites; qemu-test/compare/dyndbg loads real ones.
 * Included by lib/dynamic_debug.c.
 */
#include <kunit/test.h>

#define FAKE_SITES	6
#define FAKE_NAME	"dd_fake"
#define FAKE_CLASS(_id)	((_id) << _DPRINTK_CLASS_SHIFT)
#define FAKE_NONE	FAKE_CLASS(_DPRINTK_CLASS_DFLT)

struct fake_range {
	struct codetag_range range;
	struct module mod;
	const char *classes[3];
	struct ddebug_class_map maps[2];
	struct _ddebug sites[FAKE_SITES];
};

static const struct _ddebug fake_sites[FAKE_SITES] = {
	{ { "dir/fake.c\0a", "first",  10, 0, FAKE_NONE },	  "hello\n" },
	{ { "dir/fake.c\0a", "first",  20, 0, FAKE_CLASS(3) }, "in two\n" },
	{ { "dir/fake.c\0b", "second", 30, 0, FAKE_NONE },	  "hello world\n" },
	{ { "dir/fake.c\0b", "second", 31, 0, FAKE_CLASS(5) }, "no class\n" },
	{ { "dir/fake.h\0b", "third",  5,  0, FAKE_NONE },	  "say hello\n" },
	{ { "dir/fake.h\0a", "third",  6,  0, FAKE_CLASS(2) }, "in one\n" },
};

static void fake_forget(struct fake_range *f)
{
	down_write(&ddebug_type.lock);
	list_del_init(&f->range.node);
	up_write(&ddebug_type.lock);
}

static void fake_add(struct fake_range *f)
{
	down_write(&ddebug_type.lock);
	f->range.id = ddebug_type.next_id++;
	list_add_tail(&f->range.node, &ddebug_type.ranges);
	up_write(&ddebug_type.lock);
}

static void fake_exit(struct kunit_resource *res)
{
	fake_forget(res->data);
	kfree(res->data);
}

/* Make a range. Without @modname it is the kernel's, with three modules. */
static struct fake_range *fake_new(struct kunit *test, const char *modname)
{
	struct fake_range *f = kzalloc(sizeof(*f), GFP_KERNEL);
	/* The second map is that of another module and must be ignored. */
	const struct ddebug_class_map maps[] = {
		{ .mod_name = FAKE_NAME, .class_names = f->classes,
		  .length = 2, .base = 2 },
		{ .mod_name = "other", .class_names = f->classes,
		  .length = 3, .base = 5 },
	};

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->classes[0] = "ONE";
	f->classes[1] = "TWO";
	f->classes[2] = "THREE";
	memcpy(f->sites, fake_sites, sizeof(fake_sites));
	memcpy(f->maps, maps, sizeof(maps));
	f->mod.ddebug_classes = f->maps;
	f->mod.num_ddebug_classes = ARRAY_SIZE(f->maps);
	f->range.tags = f->sites;
	f->range.nr = FAKE_SITES;
	f->range.modname = modname;
	f->range.mod = modname ? &f->mod : NULL;
	fake_add(f);
	kunit_alloc_resource(test, NULL, fake_exit, GFP_KERNEL, f);
	return f;
}

/* @on: a bit for each site whose flag p is set after the query. */
static const struct {
	const char *query;
	int found;
	unsigned int on;
} fake_queries[] = {
	{ "+p",					3, 0x15 },
	{ "module dd_fake +p",			3, 0x15 },
	{ "module dd_* +p",			3, 0x15 },
	{ "module nosuch_module +p",		0, 0x00 },
	{ "file dir/fake.c +p",			2, 0x05 },
	{ "file fake.c +p",			2, 0x05 },
	{ "file *fake.? +p",			3, 0x15 },
	{ "file ake.c +p",			0, 0x00 },
	{ "file \"\" +p",			0, 0x00 },
	{ "file fake.c:second +p",		1, 0x04 },
	{ "file fake.c:20-40 +p",		1, 0x04 },
	{ "file fake.?:10 +p",			1, 0x01 },
	{ "func first +p",			1, 0x01 },
	{ "func ?ir* +p",			1, 0x01 },
	{ "func *ir* +p",			2, 0x11 },
	{ "line 10 +p",				1, 0x01 },
	{ "line 10-30 +p",			2, 0x05 },
	{ "line 10- +p",			2, 0x05 },
	{ "line -10 +p",			2, 0x11 },
	{ "line 0 +p",				3, 0x15 },
	{ "line 0-0 +p",			3, 0x15 },
	{ "line \"\" +p",			3, 0x15 },
	{ "line - +p",				3, 0x15 },
	{ "line 4294967295- +p",		0, 0x00 },
	{ "line 20-10 +p",			-EINVAL, 0x00 },
	{ "line 1 line 2 +p",			-EINVAL, 0x00 },
	{ "line x +p",				-EINVAL, 0x00 },
	{ "format hello +p",			3, 0x15 },
	{ "format ^hello +p",			2, 0x05 },
	{ "format \"hello\\040world\" +p",	1, 0x04 },
	{ "format ^ +p",			3, 0x15 },
	{ "format nothing +p",			0, 0x00 },
	{ "class ONE +p",			1, 0x20 },
	{ "class TWO +p",			1, 0x02 },
	{ "class THREE +p",			0, 0x00 },
	{ "class T* +p",			0, 0x00 },
	{ "class ONE func first +p",		0, 0x00 },
	{ "class ONE class TWO +p",		-EINVAL, 0x00 },
	{ "func first +p; func third +p",	2, 0x11 },
	{ "func first +x\nfunc third +p",	-EINVAL, 0x10 },
	{ "+p; line 10 -p",			4, 0x14 },
	{ "+pm; line 10 =m",			4, 0x14 },
	{ "+p # words\n# nothing",		3, 0x15 },
	{ "nosuch x +p",			-EINVAL, 0x00 },
	{ "func first",				-EINVAL, 0x00 },
	{ "",					0, 0x00 },
};

static void test_queries(struct kunit *test)
{
	struct fake_range *f = fake_new(test, FAKE_NAME);
	unsigned int i, j, on;
	char query[64];

	for (i = 0; i < ARRAY_SIZE(fake_queries); i++) {
		strscpy(query, fake_queries[i].query, sizeof(query));
		KUNIT_EXPECT_EQ_MSG(test, ddebug_exec_queries(query, FAKE_NAME),
				    fake_queries[i].found, "'%s'",
				    fake_queries[i].query);
		for (j = on = 0; j < FAKE_SITES; j++) {
			if (f->sites[j].ct.flags & _DPRINTK_FLAGS_PRINT)
				on |= BIT(j);
			KUNIT_EXPECT_EQ(test, ddebug_class_id(&f->sites[j]),
					ddebug_class_id(&fake_sites[j]));
		}
		KUNIT_EXPECT_EQ_MSG(test, on, fake_queries[i].on, "'%s'",
				    fake_queries[i].query);
		strscpy(query, "=_; class ONE =_; class TWO =_", sizeof(query));
		ddebug_exec_queries(query, FAKE_NAME);
	}
}

/* Read the next site from a position. The lock is released each time. */
static struct _ddebug *fake_read(struct seq_file *m, loff_t *pos)
{
	struct _ddebug *dp = NULL;
	void *v = ddebug_proc_start(m, pos);

	if (v) {
		if (v != SEQ_START_TOKEN)
			dp = ddebug_of(v);
		ddebug_proc_next(m, v, pos);
	}
	ddebug_proc_stop(m, v);
	return dp;
}

/* Find our sites in the order of the file. Return their number. */
static unsigned int fake_order(struct fake_range **f, unsigned int nr,
			       unsigned int *order, unsigned int max)
{
	struct codetag_iterator it;
	struct seq_file m = { .private = &it };
	unsigned int i, seen = 0;
	struct _ddebug *dp;
	loff_t pos = 0;

	fake_read(&m, &pos);		/* the header */
	while ((dp = fake_read(&m, &pos)))
		for (i = 0; i < nr; i++)
			if (dp >= f[i]->sites &&
			    dp < f[i]->sites + FAKE_SITES && seen < max)
				order[seen++] = 10 * i + (dp - f[i]->sites);
	return seen;
}

static void test_order_of_control(struct kunit *test)
{
	static const unsigned int first[] = {
		5, 4, 3, 2, 1, 0,		/* a module, backwards */
		11, 10, 14, 13, 12, 15,		/* a, a | b, b, b | a */
	}, second[] = {
		11, 10, 14, 13, 12, 15,
		5, 4, 3, 2, 1, 0,
	};
	struct fake_range *f[2] = {
		fake_new(test, FAKE_NAME), fake_new(test, NULL)
	};
	unsigned int order[2 * FAKE_SITES];

	KUNIT_EXPECT_EQ(test, fake_order(f, 2, order, 2 * FAKE_SITES), ARRAY_SIZE(first));
	KUNIT_EXPECT_EQ(test, memcmp(order, first, sizeof(first)), 0);

	/* A module that is loaded again comes last. */
	fake_forget(f[0]);
	KUNIT_EXPECT_EQ(test, fake_order(f, 2, order, 2 * FAKE_SITES), FAKE_SITES);
	fake_add(f[0]);
	KUNIT_EXPECT_EQ(test, fake_order(f, 2, order, 2 * FAKE_SITES), ARRAY_SIZE(second));
	KUNIT_EXPECT_EQ(test, memcmp(order, second, sizeof(second)), 0);
}

static void test_module_goes_under_a_reader(struct kunit *test)
{
	struct fake_range *f = fake_new(test, FAKE_NAME);
	struct fake_range *next = fake_new(test, "dd_next");
	struct codetag_iterator it;
	struct seq_file m = { .private = &it };
	struct _ddebug *dp;
	loff_t pos = 0;

	do
		dp = fake_read(&m, &pos);
	while (dp != &f->sites[3] && pos != S64_MAX);
	fake_forget(f);
	KUNIT_EXPECT_PTR_EQ(test, fake_read(&m, &pos), &next->sites[5]);
	KUNIT_EXPECT_PTR_EQ(test, fake_read(&m, &pos), &next->sites[4]);
	fake_forget(next);
	KUNIT_EXPECT_NULL(test, fake_read(&m, &pos));
	KUNIT_EXPECT_NULL(test, fake_read(&m, &pos));
}

static void test_lines_of_control(struct kunit *test)
{
	static const char text[] =
		"dir/fake.c:10 [dd_fake]first =_ \"hello\\n\"\n"
		"dir/fake.c:20 [dd_fake]first =pt \"in two\\n\" class:TWO\n"
		"dir/fake.c:30 [dd_fake]second =_ \"hello world\\n\"\n"
		"dir/fake.c:31 [dd_fake]second =_ \"no class\\n\" class unknown, _id:5\n"
		"dir/fake.h:5 [dd_fake]third =_ \"say hello\\n\"\n"
		"dir/fake.h:6 [dd_fake]third =_ \"in one\\n\" class:ONE\n";
	struct fake_range *f = fake_new(test, FAKE_NAME);
	struct codetag_iterator it = { .type = &ddebug_type, .range = &f->range };
	struct seq_file m = { .private = &it, .size = 1024 };
	char query[] = "class TWO +pt";
	unsigned int i;

	m.buf = kunit_kzalloc(test, m.size, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, m.buf);
	KUNIT_EXPECT_EQ(test, ddebug_exec_queries(query, FAKE_NAME), 1);
	for (i = 0; i < FAKE_SITES; i++) {
		it.ct = &f->sites[i].ct;
		ddebug_proc_show(&m, &it);
	}
	KUNIT_EXPECT_STREQ(test, m.buf, text);
}

static struct kunit_case dynamic_debug_cases[] = {
	KUNIT_CASE(test_queries),
	KUNIT_CASE(test_order_of_control),
	KUNIT_CASE(test_module_goes_under_a_reader),
	KUNIT_CASE(test_lines_of_control),
	{}
};

static struct kunit_suite dynamic_debug_suite = {
	.name = "dynamic_debug",
	.test_cases = dynamic_debug_cases,
};

kunit_test_suite(dynamic_debug_suite);
