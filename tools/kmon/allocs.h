/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations by call site, from the records of a log in the order of their times.
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
 * struct site - a call site
 * @nr: its index, or KMON_NO_SITE
 * @allocs: number of its allocations
 * @bytes: size of @allocs
 * @frees: number of its allocations that were freed, by any caller
 * @live: number of its allocations that are not freed
 * @live_bytes: size of @live
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
 * struct allocs - the allocations of a log
 * @sites: call sites, in the order of their first allocations
 * @nr: number of @sites
 * @room: number of @sites that fit
 * @of_index: position in @sites + 1, by index of the call site; 0 if it is not there
 * @live: allocations that are not freed, by address
 * @addresses: number of addresses with a live allocation
 * @total: sums of all @sites
 * @before: number of frees whose allocation is not in the log
 * @missed: number of lost frees: an address that was live twice was allocated again
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
