/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the call sites of one table in another, perhaps of another build of the kernel.
 *
 * Lines move from build to build, so call sites are compared by file, function and module.
 * Several call sites of a function are matched in the order of their lines. If their number
 * differs, those whose line is the same are matched first.
 */
#ifndef _ALLOCINFO_MATCH_H
#define _ALLOCINFO_MATCH_H

#include <stddef.h>

#include "table.h"

/**
 * struct pair - a call site in two tables
 * @before: in the first table, NULL if it is only in the second
 * @after: in the second table, NULL if it is only in the first
 */
struct pair {
	const struct site *before;
	const struct site *after;
};

/**
 * struct pairs - all call sites of two tables
 * @pairs: the pairs, ordered by file, function, module and line
 * @nr: number of @pairs
 */
struct pairs {
	struct pair *pairs;
	size_t nr;
};

void pairs_make(struct pairs *pairs, const struct table *before, const struct table *after);
void pairs_free(struct pairs *pairs);

#endif /* _ALLOCINFO_MATCH_H */
