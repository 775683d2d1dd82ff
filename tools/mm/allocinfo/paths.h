/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call paths of one call site over time: which of them grow? For `allocinfo why`.
 */
#ifndef _ALLOCINFO_PATHS_H
#define _ALLOCINFO_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "contexts.h"
#include "trend.h"

/**
 * struct path - a call path
 * @stack: its stack in the last snapshot that had it; the strings are its own
 * @bytes: bytes in each snapshot
 * @trend: of @bytes, after paths_find()
 */
struct path {
	struct context_stack stack;
	double bytes[TREND_POINTS];
	struct trend trend;
};

/**
 * struct paths - all call paths of a call site
 * @list: the call paths; after paths_find() the one that grows fastest first
 * @nr: number of @list
 * @room: number of @list that fit
 * @time: times of the snapshots in seconds
 * @snapshots: number of snapshots, at most TREND_POINTS
 * @dropped: allocations that were not captured
 */
struct paths {
	struct path **list;
	size_t nr;
	size_t room;
	double time[TREND_POINTS];
	unsigned int snapshots;
	uint64_t dropped;
};

void paths_add(struct paths *paths, double time, const struct contexts *contexts,
	       const struct site *site);
void paths_find(struct paths *paths);
void paths_free(struct paths *paths);

#endif /* _ALLOCINFO_PATHS_H */
