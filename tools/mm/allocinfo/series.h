/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each call site held over time, in little memory: the minima of blocks of snapshots.
 *
 * There are at most TREND_POINTS blocks. When they are full, each two neighbours become
 * one, and new blocks have twice as many snapshots. So the memory does not grow with the
 * length of a recording. A call site that never changed has no blocks at all.
 */
#ifndef _ALLOCINFO_SERIES_H
#define _ALLOCINFO_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table.h"
#include "trend.h"
#include "util.h"

/**
 * struct series - what a call site held
 * @site: the call site, with strings of its own, and what it held in the last snapshot
 * @first: bytes and calls in all snapshots before it first changed
 * @minima: bytes and calls of each block, NULL if it never changed
 */
struct series {
	struct site site;
	int64_t first[2];
	int64_t (*minima)[2];
};

/**
 * struct series_set - all call sites
 * @series: the call sites
 * @nr: number of @series
 * @room: number of @series that fit
 * @index: finds a call site
 * @next: the call site that is expected next, because tables have the same order
 * @blocks: number of blocks, with the one that is being filled
 * @length: number of snapshots in a block
 * @filled: number of snapshots in the last block
 * @begin: time of the first snapshot of each block
 * @end: time of the last snapshot of each block
 * @snapshots: number of snapshots
 */
struct series_set {
	struct series *series;
	size_t nr;
	size_t room;
	struct index index;
	size_t next;
	unsigned int blocks;
	unsigned int length;
	unsigned int filled;
	double begin[TREND_POINTS];
	double end[TREND_POINTS];
	uint64_t snapshots;
};

bool series_add(struct series_set *set, double time, const struct table *table);
unsigned int series_times(const struct series_set *set, double *time);
bool series_changed(const struct series *series);
void series_values(const struct series_set *set, const struct series *series,
		   unsigned int what, double *value);
void series_clean(struct series_set *set);
void series_free(struct series_set *set);

#endif /* _ALLOCINFO_SERIES_H */
