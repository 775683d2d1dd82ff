/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shared by modules that call each allocating function of a subsystem once, on a
 * line of its own.
 *
 * A number written to /sys/kernel/debug/MODULE/cmd makes every site allocate or
 * free until it has that many objects. Then "table" has a line per site:
 *
 *	NAME LINE FUNCTION CALLS exact|atleast {NUMBER UNIT}...
 *
 * with UNIT as in the table of ctag_test: "bytes", or a slab cache. Process
 * context only. A site that is compiled out, because the kernel does not have its
 * option, has no entry.
 */
#ifndef CTAG_COVER_H
#define CTAG_COVER_H

#include <linux/sizes.h>
#include <linux/slab.h>

#include "ctag_cmd.h"

#define COVER_MAX	64	/* objects of a site */
#define COVER_COSTS	4	/* kinds of memory in an object */

/**
 * struct cover_cost - a part of the cost of an object
 * @nr: how many
 * @bytes: pages, in bytes; or
 * @kmalloc: argument of kmalloc(); or
 * @cache: name of a slab cache
 */
struct cover_cost {
	unsigned int nr;
	size_t bytes;
	size_t kmalloc;
	const char *cache;
};

/**
 * struct cover - a line that allocates
 * @name: for messages
 * @make: allocates an object and adds up its cost; NULL when it cannot
 * @drop: frees it
 * @atleast: the line may hold more bytes
 * @line: line of the call
 * @func: function that the call is in
 * @calls: number of calls that an object adds to the line
 * @cost: of the last object; all objects of a site cost the same
 * @live: number of live objects
 * @p: the live objects
 */
struct cover {
	const char *name;
	void *(*make)(struct cover *c);
	void (*drop)(void *p);
	bool atleast;

	unsigned int line;
	const char *func;
	unsigned int calls;
	struct cover_cost cost[COVER_COSTS];
	unsigned int live;
	void *p[COVER_MAX];
};

#define COVER(_name, _drop)						\
	{ .name = #_name, .make = make_##_name, .drop = (_drop) }

/* Use on the line of the call, before the call. */
#define HERE(_c) do {							\
	(_c)->line = __LINE__;						\
	(_c)->func = __func__;						\
	(_c)->calls = 0;						\
	memset((_c)->cost, 0, sizeof((_c)->cost));			\
} while (0)

static struct cover_cost *cover_next(struct cover *c, unsigned int nr)
{
	struct cover_cost *cost = c->cost;

	while (cost->nr)
		cost++;
	cost->nr = nr;
	c->calls += nr;
	return cost;
}

static void __maybe_unused costs_pages(struct cover *c, unsigned int nr,
				       size_t bytes)
{
	cover_next(c, nr)->bytes = bytes;
}

static void __maybe_unused costs_kmalloc(struct cover *c, size_t size)
{
	if (size > KMALLOC_MAX_CACHE_SIZE)
		costs_pages(c, 1, PAGE_SIZE << get_order(size));
	else
		cover_next(c, 1)->kmalloc = kmalloc_size_roundup(size);
}

static void __maybe_unused costs_object(struct cover *c, const char *cache)
{
	cover_next(c, 1)->cache = cache;
}

static int cover_want(struct cover *c, unsigned int want)
{
	while (c->live > want)
		c->drop(c->p[--c->live]);
	while (c->live < want) {
		void *p = c->make(c);

		if (IS_ERR_OR_NULL(p)) {
			pr_err("%s failed\n", c->name);
			return -ENOMEM;
		}
		c->p[c->live++] = p;
	}
	return 0;
}

static void cover_show_cost(struct seq_file *m, const struct cover *c,
			    const struct cover_cost *cost)
{
	unsigned int nr = c->live * cost->nr;

	if (cost->bytes)
		seq_printf(m, " %zu bytes", nr * cost->bytes);
	else if (cost->cache)
		seq_printf(m, " %u %s", nr, cost->cache);
	else if (cost->kmalloc % SZ_1K)
		seq_printf(m, " %u kmalloc-%zu", nr, cost->kmalloc);
	else
		seq_printf(m, " %u kmalloc-%zuk", nr, cost->kmalloc / SZ_1K);
}

static void cover_show(struct seq_file *m, const struct cover *c)
{
	const struct cover_cost *cost;

	if (!c->line)
		return;
	seq_printf(m, "%s %u %s %u %s", c->name, c->line, c->func,
		   c->live * c->calls, c->atleast ? "atleast" : "exact");
	for (cost = c->cost; cost < c->cost + COVER_COSTS && cost->nr; cost++)
		cover_show_cost(m, c, cost);
	seq_putc(m, '\n');
}

/* For a module whose sites are in an array called covers */
#define COVER_FILES							\
static int command(char *line)						\
{									\
	unsigned int want, i;						\
	int err = kstrtouint(line, 10, &want);				\
									\
	if (err || want > COVER_MAX)					\
		return err ?: -EINVAL;					\
	for (i = 0; !err && i < ARRAY_SIZE(covers); i++)		\
		err = cover_want(&covers[i], want);			\
	return err;							\
}									\
									\
static void show_table(struct seq_file *m)				\
{									\
	unsigned int i;							\
									\
	for (i = 0; i < ARRAY_SIZE(covers); i++)			\
		cover_show(m, &covers[i]);				\
}									\
DEFINE_SHOW_ATTRIBUTE(table);						\
									\
static void cover_exit(void)						\
{									\
	unsigned int i;							\
									\
	debugfs_remove(cmd_dir);					\
	for (i = 0; i < ARRAY_SIZE(covers); i++)			\
		cover_want(&covers[i], 0);				\
}

#endif /* CTAG_COVER_H */
