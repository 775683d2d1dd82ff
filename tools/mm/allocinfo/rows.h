/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of a report: call sites, or sums of those of a function, file, directory or
 * module.
 */
#ifndef _ALLOCINFO_ROWS_H
#define _ALLOCINFO_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query.h"
#include "table.h"
#include "util.h"

/**
 * enum row_by - what a row stands for
 * @BY_SITE: a call site
 * @BY_FUNC: a function; functions of one name in different files are different
 * @BY_FILE: a source file
 * @BY_DIR: the directory of a source file
 * @BY_MODULE: a module, or all built-in code
 */
enum row_by { BY_SITE, BY_FUNC, BY_FILE, BY_DIR, BY_MODULE };

/**
 * enum row_sort - order of rows
 * @SORT_BYTES: most bytes first
 * @SORT_CALLS: most allocations first
 * @SORT_AVERAGE: largest average allocation first
 * @SORT_NAME: by name
 */
enum row_sort { SORT_BYTES, SORT_CALLS, SORT_AVERAGE, SORT_NAME };

/**
 * struct row - a row
 * @site: the first call site of the row; its names are those of the row
 * @bytes: bytes that the call sites of the row hold
 * @calls: allocations that they hold
 * @nr_sites: number of call sites
 * @accurate: all of them have counters of their own
 */
struct row {
	const struct site *site;
	int64_t bytes;
	int64_t calls;
	uint32_t nr_sites;
	bool accurate;
};

/**
 * struct rows - the rows of a table
 * @rows: the rows
 * @nr: number of @rows
 * @room: number of @rows that fit
 * @by: what a row stands for
 * @bytes: sum over all rows
 * @calls: sum over all rows
 * @index: finds a row by its name, until rows_sort() is called
 *
 * All zero at first. Rows point into the table and are valid as long as it is.
 */
struct rows {
	struct row *rows;
	size_t nr;
	size_t room;
	enum row_by by;
	int64_t bytes;
	int64_t calls;
	struct index index;
};

void rows_make(struct rows *rows, const struct table *table, enum row_by by,
	       const struct query *query);
const struct row *rows_find(const struct rows *rows, const struct site *site);
void rows_sort(struct rows *rows, enum row_sort sort);
void rows_free(struct rows *rows);

int row_compare_names(enum row_by by, const struct site *a, const struct site *b);
size_t row_name(enum row_by by, const struct site *site, char *text, size_t size);
bool row_by_parse(const char *word, enum row_by *by);
bool row_sort_parse(const char *word, enum row_sort *sort);
int64_t row_average(const struct row *row);
int64_t add_counts(int64_t a, int64_t b);

#endif /* _ALLOCINFO_ROWS_H */
