// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding the call sites of one table in another, see match.h.
 *
 * Both tables are sorted, and then walked together, one function at a time.
 */
#include <stdlib.h>
#include <string.h>

#include "match.h"
#include "util.h"

/* Data */

/* the call sites of a table in order, and how many of them were taken */
struct sorted {
	const struct site **sites;
	size_t nr;
	size_t at;
};

/* Internals */

static int compare_functions(const struct site *a, const struct site *b)
{
	int order = strcmp(a->file, b->file);

	if (!order)
		order = strcmp(a->func, b->func);
	return order ? order : strcmp(a->module, b->module);
}

/* Call sites of one line keep the order of the table, which is that of their addresses. */
static int compare_sites(const void *a, const void *b)
{
	const struct site *x = *(const struct site * const *)a;
	const struct site *y = *(const struct site * const *)b;
	int order = compare_functions(x, y);

	if (!order)
		order = (x->line > y->line) - (x->line < y->line);
	return order ? order : (x > y) - (x < y);
}

static void sort(struct sorted *sorted, const struct table *table)
{
	size_t i;

	sorted->sites = need_memory(table->nr, sizeof(*sorted->sites));
	sorted->nr = table->nr;
	sorted->at = 0;
	for (i = 0; i < table->nr; i++)
		sorted->sites[i] = &table->sites[i];
	qsort(sorted->sites, sorted->nr, sizeof(*sorted->sites), compare_sites);
}

/* Returns the number of call sites of the function of @first that are not taken. */
static size_t count_function(const struct sorted *sorted, const struct site *first)
{
	size_t end = sorted->at;

	while (end < sorted->nr && !compare_functions(sorted->sites[end], first))
		end++;
	return end - sorted->at;
}

static void add(struct pairs *pairs, const struct site *before, const struct site *after)
{
	pairs->pairs[pairs->nr++] = (struct pair){ before, after };
}

/* Matches the call sites of a function that have the same line; marks them by NULL. */
static void match_lines(struct pairs *pairs, const struct site **before, size_t nr_before,
			const struct site **after, size_t nr_after)
{
	size_t i = 0, j = 0;

	while (i < nr_before && j < nr_after) {
		if (before[i]->line == after[j]->line) {
			add(pairs, before[i], after[j]);
			before[i++] = NULL;
			after[j++] = NULL;
		} else if (before[i]->line < after[j]->line) {
			i++;
		} else {
			j++;
		}
	}
}

static const struct site *next_left(const struct site **sites, size_t nr, size_t *at)
{
	while (*at < nr && !sites[*at])
		++*at;
	return *at < nr ? sites[(*at)++] : NULL;
}

static void match_function(struct pairs *pairs, const struct site **before, size_t nr_before,
			   const struct site **after, size_t nr_after)
{
	const struct site *x, *y;
	size_t i = 0, j = 0;

	if (nr_before != nr_after)
		match_lines(pairs, before, nr_before, after, nr_after);
	for (;;) {
		x = next_left(before, nr_before, &i);
		y = next_left(after, nr_after, &j);
		if (!x && !y)
			break;
		add(pairs, x, y);
	}
}

/* Returns the first of the call sites that were not taken. */
static const struct site *first_of(const struct sorted *before, const struct sorted *after)
{
	const struct site *x, *y;

	if (before->at == before->nr)
		return after->sites[after->at];
	x = before->sites[before->at];
	if (after->at == after->nr)
		return x;
	y = after->sites[after->at];
	return compare_functions(x, y) <= 0 ? x : y;
}

/* Interface */

/**
 * pairs_make - match the call sites of two tables
 * @pairs: result, to be freed with pairs_free(); it points into the tables
 * @before: a table
 * @after: another table
 */
void pairs_make(struct pairs *pairs, const struct table *before, const struct table *after)
{
	struct sorted a, b;
	size_t nr_a, nr_b;
	const struct site *first;

	sort(&a, before);
	sort(&b, after);
	pairs->pairs = need_memory(a.nr + b.nr, sizeof(*pairs->pairs));
	pairs->nr = 0;
	while (a.at < a.nr || b.at < b.nr) {
		first = first_of(&a, &b);
		nr_a = count_function(&a, first);
		nr_b = count_function(&b, first);
		match_function(pairs, a.sites + a.at, nr_a, b.sites + b.at, nr_b);
		a.at += nr_a;
		b.at += nr_b;
	}
	free(a.sites);
	free(b.sites);
}

/**
 * pairs_free - free pairs
 * @pairs: the pairs
 */
void pairs_free(struct pairs *pairs)
{
	free(pairs->pairs);
	*pairs = (struct pairs){ 0 };
}
