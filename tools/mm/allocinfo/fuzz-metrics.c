// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hostile previous output of allocinfo export and a hostile table, separated by a zero
 * byte. What is written then must be a whole output with the same members.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program that takes
 * outputs, cuts each off at every byte, which must be found out, and damages each byte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "metrics.h"
#include "util.h"

static char *written(struct metrics *metrics, const struct metrics_values *values, size_t *size)
{
	char *text;
	FILE *out = open_memstream(&text, size);

	EXPECT(out);
	metrics_write(metrics, values, out);
	EXPECT(!fclose(out));
	return text;
}

static size_t series_in(const char *text)
{
	size_t nr = 0;

	for (; *text; text = strchrnul(text, '\n') + 1) {
		EXPECT(strchr(text, '\n'));
		nr += *text != '#';
	}
	return nr;
}

/* With the members of its own output, the next output is the same. */
static void check_output(struct metrics *metrics, const struct metrics_values *values)
{
	size_t size, size_again;
	char *text = written(metrics, values, &size), *again;

	EXPECT(strlen(text) == size && series_in(text) <= METRICS_SERIES_MAX);
	EXPECT(metrics_members(metrics, text, size));
	again = written(metrics, values, &size_again);
	EXPECT(size == size_again && !memcmp(text, again, size));
	free(text);
	free(again);
}

static void check(const uint8_t *previous, size_t previous_size, const uint8_t *text, size_t size)
{
	static const struct balance_text files = { .meminfo = "MemTotal: 9 kB\nMemFree: 1 kB\n" };
	struct metrics *metrics = metrics_new();
	struct table table = { 0 };
	struct balance balance;
	const struct metrics_values values = { PROFILING_ON, &table, &balance, 0.5 };

	table_set_text(&table, (const char *)text, size);
	table_parse(&table, "table", &(struct complainer){ NULL, NULL });
	table_clean(&table);
	EXPECT(balance_make(&balance, &table, &files));
	metrics_members(metrics, (const char *)previous, previous_size);
	check_output(metrics, &values);
	table_free(&table);
	metrics_free(metrics);
}

/**
 * LLVMFuzzerTestOneInput - continue an output with a table
 * @data: output and table, separated by a zero byte
 * @size: size of @data
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = size ? memchr(data, '\0', size) : NULL;
	size_t first = end ? (size_t)(end - data) : size;

	check(data, first, data + first + !!end, size - first - !!end);
	return 0;
}

#ifdef FUZZ_MAIN
static void check_damage(uint8_t *data, size_t size)
{
	struct metrics *metrics = metrics_new();
	size_t at, refused = 0;

	EXPECT(metrics_members(metrics, (const char *)data, size));
	for (at = 0; at < size; at++)
		EXPECT(!metrics_members(metrics, (const char *)data, at));
	for (at = 0; at < size; at++) {
		data[at] ^= 0x55;
		refused += !metrics_members(metrics, (const char *)data, size);
		data[at] ^= 0x55;
	}
	metrics_free(metrics);
	printf("%zu cuts, %zu of %zu damaged outputs refused\n", size, refused, size);
}

int main(int argc, char **argv)
{
	(void)argc;
	return fuzz_files(argv + 1, check_damage);
}
#endif
