// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of queries of code tags: valid lines, with the tags that they
 * select, and invalid ones, with the column and the message of the error.
 * Included by lib/codetag_query.c.
 */
#include <kunit/test.h>

/* The tags that the valid lines select from, in the order of a walk. */
static const struct query_tag {
	struct codetag ct;
	const char *module;
	const char *class;
} query_tags[] = {
	{ { "fs/ext4/super.c",	"ext4_fill_super",  100 }, "ext4", "memory" },
	{ { "fs/ext4/super.c",	"ext4_fill_super",  100 }, "ext4", "memory" },
	{ { "fs/ext4/super.c",	"ext4_init_fs",	    200 }, "ext4", "memory" },
	{ { "fs/ext4/inode.c",	"ext4_iget",	    100 }, "ext4", "memory" },
	{ { "fs/xfs/super.c",	"xfs_fill_super",    50 }, "xfs", "memory" },
	{ { "fs/xfs/super.c",	"xfs_fill_super",    51 }, "xfs", "io" },
	{ { "drivers/x y.c",	"x",		      1 }, "x_y", "io" },
	{ { "last.c",		"last",	       UINT_MAX }, "last", NULL },
};

/* @match: a bit for each selected tag; @rest: the first word of the command. */
static const struct query_good {
	const char *line;
	unsigned int match;
	const char *rest;
} query_good[] = {
	{ "",						0xff, NULL },
	{ " \t\n",					0xff, NULL },
	{ "enable",					0xff, "enable" },
	{ "  enable  ",					0xff, "enable" },
	{ "files x",					0xff, "files" },
	{ "FILE x",					0xff, "FILE" },
	{ "file fs/ext4/super.c enable",		0x07, "enable" },
	{ "file super.c enable",			0x37, "enable" },
	{ "file super.c\tenable\n",			0x37, "enable" },
	{ "file fs/* x",				0x3f, "x" },
	{ "file */super.c x",				0x37, "x" },
	{ "file *.c x",					0xff, "x" },
	{ "file s?per.c x",				0x37, "x" },
	{ "file super x",				0x00, "x" },
	{ "file ext4/super.c x",			0x00, "x" },
	{ "file \"drivers/x y.c\" x",			0x40, "x" },
	{ "file 'x y.c' x",				0x40, "x" },
	{ "file \"x y.c\"",				0x40, NULL },
	{ "file \"line\" x",				0x00, "x" },
	{ "\"file\" super.c x",				0x37, "x" },
	{ "line 100 x",					0x0b, "x" },
	{ "line 100-200 x",				0x0f, "x" },
	{ "line 51-100 x",				0x2b, "x" },
	{ "line 100- x",				0x8f, "x" },
	{ "line -100 x",				0x7b, "x" },
	{ "line 0 x",					0x00, "x" },
	{ "line 0-0 x",					0x00, "x" },
	{ "line 4294967295 x",				0x80, "x" },
	{ "line 4294967295- x",				0x80, "x" },
	{ "line 0- x",					0xff, "x" },
	{ "line \"100\" x",				0x0b, "x" },
	{ "func ext4_* x",				0x0f, "x" },
	{ "func *_fill_super x",			0x33, "x" },
	{ "func x x",					0x40, "x" },
	{ "func * x",					0xff, "x" },
	{ "module ext4 x",				0x0f, "x" },
	{ "module vmlinux x",				0x00, "x" },
	{ "module xfs x",				0x30, "x" },
	{ "module x* x",				0x70, "x" },
	{ "module nothing x",				0x00, "x" },
	{ "class memory x",				0x1f, "x" },
	{ "class io x",					0x60, "x" },
	{ "class * x",					0xff, "x" },
	{ "class m*y x",				0x1f, "x" },
	{ "index 0 x",					0x01, "x" },
	{ "index 7 x",					0x80, "x" },
	{ "index 8 x",					0x00, "x" },
	{ "index 1-2 x",				0x06, "x" },
	{ "index 6- x",					0xc0, "x" },
	{ "index -1 x",					0x03, "x" },
	{ "file super.c line 100 index 1 x",		0x02, "x" },
	{ "index 1 file super.c line 100 x",		0x02, "x" },
	{ "module xfs index 0 x",			0x10, "x" },
	{ "module xfs class io index 0 x",		0x20, "x" },
	{ "file super.c line 50-100 func xfs* module xfs class memory index 0 x",
							0x10, "x" },
	{ "file super.c func ext4_iget x",		0x00, "x" },
	{ "line 100 enable file super.c",		0x0b, "enable" },
};

/* @column: column of the wrong word, from 1. */
static const struct query_bad {
	const char *line;
	unsigned int column;
	const char *error;
} query_bad[] = {
	{ "file",				5, "a value is missing" },
	{ "file ",				6, "a value is missing" },
	{ "  line\n",				8, "a value is missing" },
	{ "file a.c line",			14, "a value is missing" },
	{ "file a.c file b.c x",		10, "given twice" },
	{ "line 1 func f line 2 x",		15, "given twice" },
	{ "index 1 index 1 x",			9, "given twice" },
	{ "file \"\" x",			6, "an empty name" },
	{ "func '' x",				6, "an empty name" },
	{ "module \"\"",			8, "an empty name" },
	{ "class \"\" x",			7, "an empty name" },
	{ "file \"a.c x",			6, "the quote has no end" },
	{ "file 'a.c\" x",			6, "the quote has no end" },
	{ "\"",					1, "the quote has no end" },
	{ "file \"a\"b x",			6, "text right behind a quote" },
	{ "line x x",				6, "not a number or a range" },
	{ "line - x",				6, "not a number or a range" },
	{ "line -- x",				6, "not a number or a range" },
	{ "line 1-2-3 x",			6, "not a number or a range" },
	{ "line 1--2 x",			6, "not a number or a range" },
	{ "line 1,2 x",				6, "not a number or a range" },
	{ "line 0x10 x",			6, "not a number or a range" },
	{ "line +1 x",				6, "not a number or a range" },
	{ "line 4294967296 x",			6, "not a number or a range" },
	{ "line 1-4294967296 x",		6, "not a number or a range" },
	{ "line 99999999999999999999 x",	6, "not a number or a range" },
	{ "line \"\" x",			6, "not a number or a range" },
	{ "line 1 - 2 x",			0, NULL },
	{ "line 2-1 x",				6, "a range that ends before it begins" },
	{ "index 3-2 x",			7, "a range that ends before it begins" },
	{ "index a x",				7, "not a number or a range" },
};

static unsigned int query_matches(struct codetag_query *q)
{
	unsigned int i, match = 0;

	for (i = 0; i < ARRAY_SIZE(query_tags); i++)
		if (codetag_query_match(q, &query_tags[i].ct,
					query_tags[i].module,
					query_tags[i].class))
			match |= BIT(i);
	return match;
}

static void test_good_lines(struct kunit *test)
{
	const struct query_good *g = query_good;
	struct codetag_words w;
	struct codetag_query q;
	char line[128];

	for (; g < query_good + ARRAY_SIZE(query_good); g++) {
		strscpy(line, g->line, sizeof(line));
		codetag_words_begin(&w, line);
		KUNIT_EXPECT_EQ_MSG(test, codetag_query_parse(&q, &w), 0,
				    "'%s': %s", g->line, w.error);
		KUNIT_EXPECT_EQ_MSG(test, query_matches(&q), g->match,
				    "'%s'", g->line);
		if (g->rest && w.word)
			KUNIT_EXPECT_STREQ(test, w.word, g->rest);
		else
			KUNIT_EXPECT_EQ_MSG(test, !g->rest, !w.word,
					    "'%s'", g->line);
	}
}

static void test_bad_lines(struct kunit *test)
{
	const struct query_bad *b = query_bad;
	struct codetag_words w;
	struct codetag_query q;
	char line[128];
	int err;

	for (; b < query_bad + ARRAY_SIZE(query_bad); b++) {
		strscpy(line, b->line, sizeof(line));
		codetag_words_begin(&w, line);
		err = codetag_query_parse(&q, &w);
		if (!b->error) {
			/* Not a term: this is left to the command. */
			KUNIT_EXPECT_EQ(test, err, 0);
			KUNIT_EXPECT_STREQ(test, w.word, "-");
			continue;
		}
		KUNIT_EXPECT_EQ_MSG(test, err, -EINVAL, "'%s'", b->line);
		KUNIT_EXPECT_STREQ(test, w.error ?: "none", b->error);
		KUNIT_EXPECT_EQ_MSG(test, w.column, b->column, "'%s'", b->line);
	}
}

static void test_numbers(struct kunit *test)
{
	static const struct {
		const char *word;
		int err;
		unsigned int number;
	} cases[] = {
		{ "1", 0, 1 }, { "010", 0, 10 }, { "100", 0, 100 },
		{ "0", -EINVAL }, { "101", -EINVAL }, { "", -EINVAL },
		{ "1x", -EINVAL }, { "-1", -EINVAL }, { "x", -EINVAL },
		{ "4294967297", -EINVAL },
	};
	struct codetag_words w;
	unsigned int i, n;
	char line[32];

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		strscpy(line, cases[i].word, sizeof(line));
		codetag_words_begin(&w, line);
		n = 0;
		KUNIT_EXPECT_EQ_MSG(test, codetag_words_number(&w, 1, 100, &n),
				    cases[i].err, "'%s'", cases[i].word);
		KUNIT_EXPECT_EQ_MSG(test, n, cases[i].number, "'%s'",
				    cases[i].word);
	}
}

/* The value of a term fills a page, with one and the same character. */
static void test_long_lines(struct kunit *test)
{
	static const char letters[] = "a\"' *-0";
	char *line = kunit_kmalloc(test, PAGE_SIZE + 1, GFP_KERNEL);
	struct codetag_words w;
	struct codetag_query q;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, line);
	for (i = 0; letters[i]; i++) {
		memset(line, letters[i], PAGE_SIZE);
		line[PAGE_SIZE] = '\0';
		memcpy(line, "line ", 5);
		codetag_words_begin(&w, line);
		KUNIT_EXPECT_EQ(test, codetag_query_parse(&q, &w),
				letters[i] == '0' ? 0 : -EINVAL);
	}
}

static struct kunit_case codetag_query_cases[] = {
	KUNIT_CASE(test_good_lines),
	KUNIT_CASE(test_bad_lines),
	KUNIT_CASE(test_numbers),
	KUNIT_CASE(test_long_lines),
	{}
};

static struct kunit_suite codetag_query_suite = {
	.name = "codetag_query",
	.test_cases = codetag_query_cases,
};

kunit_test_suite(codetag_query_suite);
