/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of `allocinfo leak`: cmd-leak.c reads, leak.c decides, leak-write.c prints.
 */
#ifndef _ALLOCINFO_LEAK_H
#define _ALLOCINFO_LEAK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "contexts.h"
#include "series.h"
#include "snap.h"

/**
 * struct leak - a call site that grew
 * @series: the call site
 * @bytes: trend of its bytes
 * @calls: trend of its calls
 */
struct leak {
	const struct series *series;
	struct trend bytes;
	struct trend calls;
};

/**
 * struct leaks - the result
 * @list: the call sites that leak, the fastest first, then those that rose otherwise
 * @nr: number of @list
 * @found: number of call sites that leak
 * @sites: number of call sites
 * @changed: number of call sites that changed
 * @snapshots: number of snapshots
 * @begin: time of the first snapshot, in seconds since 1970
 * @end: time of the last snapshot
 * @available: MemAvailable of the last snapshot in bytes, 0 if unknown
 * @slope: bytes a second that all leaks lose together, at least
 * @enough: there are enough snapshots to find a leak
 */
struct leaks {
	struct leak *list;
	size_t nr;
	size_t found;
	size_t sites;
	size_t changed;
	uint64_t snapshots;
	double begin;
	double end;
	uint64_t available;
	double slope;
	bool enough;
};

void leaks_find(const struct series_set *set, struct leaks *leaks);
void leaks_free(struct leaks *leaks);
double leaks_memory_ends(const struct leaks *leaks, double slope);

void leaks_text(const struct leaks *leaks, const struct contexts *contexts, size_t top,
		bool all, FILE *out);
void leaks_json(const struct leaks *leaks, const struct contexts *contexts, size_t top,
		bool all, FILE *out);

#endif /* _ALLOCINFO_LEAK_H */
