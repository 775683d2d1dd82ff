// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile texts of /proc/allocinfo.nodes.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program that takes texts
 * without damage, and reads each of them cut off at every byte and with each byte changed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "nodes.h"
#include "util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of a row, if no sum of them was too large for a number. */
static bool sum_of(const struct nodes *nodes, const int64_t *counts, int64_t *sum)
{
	bool good = true;
	size_t i;

	*sum = 0;
	for (i = 0; i <= nodes->nr; i++)
		good &= counts[i] != INT64_MAX && counts[i] != INT64_MIN &&
			!__builtin_add_overflow(*sum, counts[i], sum);
	return good;
}

static void check_sites(const struct nodes *nodes, const struct table *table)
{
	size_t i;
	int64_t sum;

	EXPECT(nodes->nr && nodes->nr <= NODES_MAX);
	for (i = 1; i < nodes->nr; i++)
		EXPECT(nodes->ids[i] > nodes->ids[i - 1] && nodes->ids[i] < NODES_MAX);
	for (i = 0; i < table->nr; i++) {
		if (sum_of(nodes, nodes_of(nodes, table, &table->sites[i]), &sum))
			EXPECT(sum == table->sites[i].bytes);
	}
}

static void check_rows(struct nodes *nodes, const struct table *table)
{
	struct rows rows = { 0 };
	const struct row *row;
	int64_t sum;
	size_t i;

	rows_make(&rows, table, BY_SITE, NULL);
	nodes_merge(nodes, table, &rows);
	rows_sort(&rows, SORT_BYTES);
	for (i = 0; i < rows.nr; i++) {
		row = &rows.rows[i];
		if (row->bytes != INT64_MAX && row->bytes != INT64_MIN &&
		    sum_of(nodes, nodes_of(nodes, table, row->site), &sum))
			EXPECT(sum == row->bytes);
	}
	rows_free(&rows);
}

/* Returns false if the text is none of /proc/allocinfo.nodes. */
static bool parse(struct nodes *nodes, struct table *table, const uint8_t *data, size_t size)
{
	table_set_text(table, (const char *)data, size);
	if (!nodes_parse(nodes, table, "input", &(struct complainer){ 0 }))
		return false;
	check_sites(nodes, table);
	return true;
}

/**
 * LLVMFuzzerTestOneInput - read an input
 * @data: the text
 * @size: size of @data
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct nodes nodes;
	static struct table table;

	if (parse(&nodes, &table, data, size))
		check_rows(&nodes, &table);
	/* a second read uses the same memory */
	parse(&nodes, &table, data, size / 2);
	return 0;
}

#ifdef FUZZ_MAIN

static void check_text(uint8_t *data, size_t size)
{
	struct nodes nodes = { 0 };
	struct table table = { 0 };
	size_t at, nr;

	EXPECT(parse(&nodes, &table, data, size) && !table.damaged);
	nr = table.nr;
	for (at = 0; at < size; at++) {
		/* only the line that was cut is damaged */
		if (parse(&nodes, &table, data, at))
			EXPECT(table.nr <= nr && table.damaged <= 1);
	}
	for (at = 0; at < size; at++) {
		data[at] ^= 0x15;
		LLVMFuzzerTestOneInput(data, size);
		data[at] ^= 0x15;
	}
	printf("%zu bytes, %zu call sites, %zu nodes\n", size, nr, nodes.nr);
	nodes_free(&nodes);
	table_free(&table);
}

int main(int argc, char **argv)
{
	(void)argc;
	return fuzz_files(argv + 1, check_text);
}
#endif
