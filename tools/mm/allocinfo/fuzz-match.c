// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two hostile tables, separated by a zero byte, whose call sites are matched. Each call
 * site must be in exactly one pair.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program that takes
 * tables and compares each with every beginning of itself.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "match.h"
#include "util.h"

static void mark(const struct table *table, const struct site *site, bool *seen)
{
	EXPECT(site >= table->sites && site < table->sites + table->nr);
	EXPECT(!seen[site - table->sites]);
	seen[site - table->sites] = true;
}

static void check_pair(const struct pair *pair)
{
	EXPECT(pair->before || pair->after);
	if (!pair->before || !pair->after)
		return;
	EXPECT(!strcmp(pair->before->file, pair->after->file));
	EXPECT(!strcmp(pair->before->func, pair->after->func));
	EXPECT(!strcmp(pair->before->module, pair->after->module));
}

static void check_pairs(const struct table *before, const struct table *after)
{
	bool *seen_before = need_memory(before->nr, sizeof(bool));
	bool *seen_after = need_memory(after->nr, sizeof(bool));
	size_t i, nr_before = 0, nr_after = 0;
	struct pairs pairs;

	pairs_make(&pairs, before, after);
	for (i = 0; i < pairs.nr; i++) {
		check_pair(&pairs.pairs[i]);
		if (pairs.pairs[i].before)
			mark(before, pairs.pairs[i].before, seen_before);
		if (pairs.pairs[i].after)
			mark(after, pairs.pairs[i].after, seen_after);
		nr_before += !!pairs.pairs[i].before;
		nr_after += !!pairs.pairs[i].after;
	}
	EXPECT(nr_before == before->nr && nr_after == after->nr);
	pairs_free(&pairs);
	free(seen_before);
	free(seen_after);
}

static void compare(const uint8_t *a, size_t size_a, const uint8_t *b, size_t size_b)
{
	const struct complainer quiet = { NULL, NULL };
	struct table before = { 0 }, after = { 0 };

	table_set_text(&before, (const char *)a, size_a);
	table_set_text(&after, (const char *)b, size_b);
	table_parse(&before, "before", &quiet);
	table_parse(&after, "after", &quiet);
	check_pairs(&before, &after);
	table_free(&before);
	table_free(&after);
}

/**
 * LLVMFuzzerTestOneInput - compare two tables
 * @data: two tables, separated by a zero byte
 * @size: size of @data
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\0', size) : NULL;
	size_t first = end ? (size_t)(end - data) : size;

	compare(data, first, data + first + !!end, size - first - !!end);
	return 0;
}

#ifdef FUZZ_MAIN
static void check_cuts(uint8_t *data, size_t size)
{
	size_t cut;

	for (cut = 0; cut <= size; cut++)
		compare(data, size, data, cut);
	printf("%zu cuts\n", size);
}

int main(int argc, char **argv)
{
	(void)argc;
	return fuzz_files(argv + 1, check_cuts);
}
#endif
