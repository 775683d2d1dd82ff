/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters for call sites, written as for dynamic debug:
 *
 *	file mm/slub.c line 100-200 func alloc_* module ext4
 *
 * A call site must match each of them. Names may contain the wildcards * and ?. A file
 * matches by its whole path or by its last component. See
 * Documentation/admin-guide/dynamic-debug-howto.rst.
 */
#ifndef _ALLOCINFO_QUERY_H
#define _ALLOCINFO_QUERY_H

#include <stdbool.h>
#include <stdint.h>

#include "table.h"

/**
 * struct query - a filter
 * @file: pattern, or NULL for any file
 * @func: pattern, or NULL for any function
 * @module: pattern, or NULL for any; built-in code has an empty name
 * @first: first line
 * @last: last line
 * @text: memory for the patterns: the filter, with a zero byte after each word
 */
struct query {
	const char *file;
	const char *func;
	const char *module;
	uint32_t first;
	uint32_t last;
	char *text;
};

bool query_parse(struct query *query, const char *text, const char **problem);
char *query_join(char **words);
bool query_parse_words(struct query *query, char **words, const char **problem);
bool query_matches(const struct query *query, const struct site *site);
void query_free(struct query *query);

#endif /* _ALLOCINFO_QUERY_H */
