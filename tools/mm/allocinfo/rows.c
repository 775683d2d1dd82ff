// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of a report, see rows.h.
 *
 * A row has no name of its own: the names of its first call site and what a row stands
 * for give it. So rows cost no memory for strings, and two tables can be compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rows.h"

/**
 * add_counts - add two counts
 * @a: a count
 * @b: another
 *
 * Return: the sum, or the nearest number that there is.
 */
int64_t add_counts(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return a < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

/* Length of the directory in a path, without the slash at its end. */
static size_t dir_length(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash - file : 0;
}

static int compare_dirs(const char *a, const char *b)
{
	size_t len_a = dir_length(a), len_b = dir_length(b);
	int order = memcmp(a, b, min_u64(len_a, len_b));

	return order ? order : (len_a > len_b) - (len_a < len_b);
}

static int compare_functions(const struct site *a, const struct site *b)
{
	int order = strcmp(a->func, b->func);

	if (!order)
		order = strcmp(a->file, b->file);
	return order ? order : strcmp(a->module, b->module);
}

/**
 * row_compare_names - order of the names of two rows
 * @by: what a row stands for
 * @a: a call site of a row
 * @b: a call site of another
 *
 * Return: below 0, 0 or above 0, as strcmp(). 0 means the same row.
 */
int row_compare_names(enum row_by by, const struct site *a, const struct site *b)
{
	switch (by) {
	case BY_FUNC:
		return compare_functions(a, b);
	case BY_FILE:
		return strcmp(a->file, b->file);
	case BY_DIR:
		return compare_dirs(a->file, b->file);
	case BY_MODULE:
		return strcmp(a->module, b->module);
	default:
		return site_compare(a, b);
	}
}

static uint64_t hash_dir(const char *file)
{
	size_t i, len = dir_length(file);
	uint64_t hash = 0;

	for (i = 0; i < len; i++)
		hash = hash_u64(hash ^ (unsigned char)file[i]);
	return hash;
}

static uint64_t row_hash(enum row_by by, const struct site *site)
{
	switch (by) {
	case BY_FUNC:
		return hash_string(site->func) ^ hash_u64(hash_string(site->file));
	case BY_FILE:
		return hash_string(site->file);
	case BY_DIR:
		return hash_dir(site->file);
	case BY_MODULE:
		return hash_string(site->module);
	default:
		return site_hash(site);
	}
}

static bool row_same(const void *table, uint32_t nr, const void *key)
{
	const struct rows *rows = table;

	return !row_compare_names(rows->by, rows->rows[nr].site, key);
}

static struct row *new_row(struct rows *rows, const struct site *site, uint64_t hash)
{
	if (rows->nr == rows->room) {
		rows->room = rows->room ? rows->room * 2 : 1024;
		rows->rows = need_more(rows->rows, rows->room, sizeof(*rows->rows));
	}
	index_add(&rows->index, hash, rows->nr);
	rows->rows[rows->nr] = (struct row) { .site = site, .accurate = true };
	return &rows->rows[rows->nr++];
}

static struct row *row_of(struct rows *rows, const struct site *site)
{
	uint64_t hash = row_hash(rows->by, site);
	uint32_t nr = index_find(&rows->index, hash, row_same, rows, site);

	return nr == INDEX_NONE ? new_row(rows, site, hash) : &rows->rows[nr];
}

static void add_site(struct rows *rows, const struct site *site)
{
	struct row *row = row_of(rows, site);

	row->bytes = add_counts(row->bytes, site->bytes);
	row->calls = add_counts(row->calls, site->calls);
	row->nr_sites++;
	row->accurate &= site->accurate;
	rows->bytes = add_counts(rows->bytes, site->bytes);
	rows->calls = add_counts(rows->calls, site->calls);
}

/**
 * rows_make - make the rows of a table
 * @rows: receives the rows, in the order in which the table has them
 * @table: the call sites
 * @by: what a row stands for
 * @query: only call sites that match; NULL for all
 *
 * Call sites with the same names, as macros and inlined functions produce them, are one
 * row.
 */
void rows_make(struct rows *rows, const struct table *table, enum row_by by,
	       const struct query *query)
{
	size_t i;

	index_free(&rows->index);
	rows->index = (struct index) { 0 };
	rows->nr = 0;
	rows->by = by;
	rows->bytes = 0;
	rows->calls = 0;
	for (i = 0; i < table->nr; i++)
		if (!query || query_matches(query, &table->sites[i]))
			add_site(rows, &table->sites[i]);
}

/**
 * rows_find - find the row that a call site belongs to
 * @rows: made by rows_make() and not sorted since
 * @site: the call site, which may be of another table
 *
 * Return: the row, or NULL if there is none.
 */
const struct row *rows_find(const struct rows *rows, const struct site *site)
{
	uint32_t nr = index_find(&rows->index, row_hash(rows->by, site), row_same, rows, site);

	return nr == INDEX_NONE ? NULL : &rows->rows[nr];
}

/**
 * row_average - average size of an allocation
 * @row: the row
 *
 * Return: the size in bytes, 0 without allocations.
 */
int64_t row_average(const struct row *row)
{
	return row->calls > 0 ? row->bytes / row->calls : 0;
}

static int descending(int64_t a, int64_t b)
{
	return (a < b) - (a > b);
}

struct order {
	enum row_by by;
	enum row_sort sort;
};

/* Rows that are equal by number are in the order of their names, so output is stable. */
static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct row *a = pa, *b = pb;
	const struct order *order = arg;
	int result = 0;

	switch (order->sort) {
	case SORT_BYTES:
		result = descending(a->bytes, b->bytes);
		break;
	case SORT_CALLS:
		result = descending(a->calls, b->calls);
		break;
	case SORT_AVERAGE:
		result = descending(row_average(a), row_average(b));
		break;
	case SORT_NAME:
		break;
	}
	return result ? result : row_compare_names(order->by, a->site, b->site);
}

/**
 * rows_sort - sort rows
 * @rows: the rows; rows_find() cannot be used afterwards
 * @sort: the order
 */
void rows_sort(struct rows *rows, enum row_sort sort)
{
	struct order order = { rows->by, sort };

	index_free(&rows->index);
	rows->index = (struct index) { 0 };
	if (rows->nr)
		qsort_r(rows->rows, rows->nr, sizeof(*rows->rows), compare_rows, &order);
}

/**
 * rows_free - free the memory of rows
 * @rows: the rows; all zero again
 */
void rows_free(struct rows *rows)
{
	index_free(&rows->index);
	free(rows->rows);
	*rows = (struct rows) { 0 };
}

/**
 * row_name - write the name of a row
 * @by: what a row stands for
 * @site: a call site of the row
 * @text: receives the name
 * @size: size of @text
 *
 * A call site is "file:line [module] func:function", as in /proc/allocinfo. Code outside
 * of directories and modules has the names "." and "(built-in)".
 *
 * Return: length of the whole name, as snprintf().
 */
size_t row_name(enum row_by by, const struct site *site, char *text, size_t size)
{
	bool module = site->module[0];
	size_t len;

	switch (by) {
	case BY_FUNC:
		return snprintf(text, size, "%s%s%s%s %s", site->func, module ? " [" : "",
				site->module, module ? "]" : "", site->file);
	case BY_FILE:
		return snprintf(text, size, "%s", site->file);
	case BY_DIR:
		len = dir_length(site->file);
		return len ? snprintf(text, size, "%.*s", (int)len, site->file)
			   : snprintf(text, size, ".");
	case BY_MODULE:
		return snprintf(text, size, "%s", module ? site->module : "(built-in)");
	default:
		return snprintf(text, size, "%s:%u%s%s%s func:%s", site->file, site->line,
				module ? " [" : "", site->module, module ? "]" : "", site->func);
	}
}

static int find_word(const char *word, const char * const *words, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(word, words[i]))
			return i;
	return -1;
}

/**
 * row_by_parse - read what a row stands for
 * @word: site, func, file, dir or module
 * @by: result
 *
 * Return: false if @word is none of them.
 */
bool row_by_parse(const char *word, enum row_by *by)
{
	static const char * const words[] = { "site", "func", "file", "dir", "module" };
	int nr = find_word(word, words, ARRAY_SIZE(words));

	if (nr >= 0)
		*by = nr;
	return nr >= 0;
}

/**
 * row_sort_parse - read the order of rows
 * @word: bytes, calls, average or name
 * @sort: result
 *
 * Return: false if @word is none of them.
 */
bool row_sort_parse(const char *word, enum row_sort *sort)
{
	static const char * const words[] = { "bytes", "calls", "average", "name" };
	int nr = find_word(word, words, ARRAY_SIZE(words));

	if (nr >= 0)
		*sort = nr;
	return nr >= 0;
}
