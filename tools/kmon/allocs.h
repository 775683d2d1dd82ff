/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations by line of code, from the records of a log in the order of their times.
 *
 * An address can be live twice: a page and the first object in it have the same address,
 * and a large kmalloc() is recorded as pages and as an object. The object is allocated last
 * and freed first, so a free belongs to the newest allocation.
 */
#ifndef _KMON_ALLOCS_H
#define _KMON_ALLOCS_H

#include "live.h"
#include "record.h"
#include "util.h"

#define NR_SITES	(KMON_NO_SITE + 1u)

/* which of two allocations at the same address */
enum live_age {
	LIVE_OLDER,
	LIVE_NEWER,
	LIVE_AGES
};

/**
 * struct site - a line of code
 * @nr: its index, or KMON_NO_SITE
 * @allocs: how many
 * @bytes: of @allocs
 * @frees: of what was allocated there, wherever they were
 * @live: allocations that were not freed
 * @live_bytes: of @live
 */
struct site {
	uint32_t nr;
	uint64_t allocs;
	uint64_t bytes;
	uint64_t frees;
	uint64_t live;
	uint64_t live_bytes;
};

/**
 * struct allocs - all of it
 * @sites: those that allocated, in the order they were seen in
 * @nr: of @sites
 * @room: in @sites
 * @of_index: number in @sites + 1, by index of the line
 * @live: allocations that are not freed, by address
 * @addresses: number of addresses with a live allocation
 * @total: of all sites
 * @before: frees of what was not allocated in the log
 * @missed: allocations at an address that was live twice: a free was lost
 */
struct allocs {
	struct site *sites;
	uint32_t nr;
	uint32_t room;
	uint32_t of_index[NR_SITES];
	struct objects *live[LIVE_AGES];
	uint64_t addresses;
	struct site total;
	uint64_t before;
	uint64_t missed;
};

struct allocs *allocs_new(void);
void allocs_record(struct allocs *allocs, const struct record *record);
const struct site **sites_by_bytes(const struct allocs *allocs, uint32_t *nr);
void allocs_free(struct allocs *allocs);

#endif /* _KMON_ALLOCS_H */
