/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables of kmemtrace-report: call sites, sizes and findings.
 *
 * Each table has a limit, so that a trace cannot make it grow without bound. Entries
 * beyond a limit are counted together.
 */
#ifndef _KMEMTRACE_REPORT_SITES_H
#define _KMEMTRACE_REPORT_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "live.h"
#include "util.h"

#define MODEL_TYPES	3

/* limit of call sites; the last number stands for no call site */
#define MODEL_SITES	BIT(LIVE_SITE_BITS)
#define NO_SITE		(MODEL_SITES - 1)
/* limit of sizes, counted for each call site */
#define MODEL_SIZES	BIT(18)
/* limit of findings */
#define MODEL_FINDINGS	BIT(16)

/* lifetimes of 0, 1, 2 to 3, 4 to 7 ...; the last bucket has no upper bound */
#define LIFETIME_BUCKETS	48

#define SITES_CHUNK	1024u

/**
 * struct lifetimes - times from allocation to free
 * @count: number of lifetimes
 * @min: shortest lifetime
 * @max: longest lifetime
 * @bucket: numbers of lifetimes by power of two
 */
struct lifetimes {
	uint64_t count;
	uint64_t min;
	uint64_t max;
	uint64_t bucket[LIFETIME_BUCKETS];
};

/**
 * struct stats - sums of one or more call sites
 * @allocs: number of allocations
 * @requested: requested bytes of all allocations
 * @allocated: allocated bytes of all allocations
 * @frees: number of freed objects, blocks and parts of blocks
 * @live: number of live objects, blocks and parts of blocks
 * @live_bytes: size of the live ones
 * @failed: number of failed allocations
 * @cross_allocs: allocations for another CPU
 * @cross_frees: frees on another CPU than the allocation
 * @lifetimes: lifetimes of the freed ones
 */
struct stats {
	uint64_t allocs;
	uint64_t requested;
	uint64_t allocated;
	uint64_t frees;
	uint64_t live;
	struct bytes live_bytes;
	uint64_t failed;
	uint64_t cross_allocs;
	uint64_t cross_frees;
	struct lifetimes lifetimes;
};

/**
 * struct site - a call site
 * @call_site: return address
 * @tag: code tag, 0 for none
 * @type: enum kmemtrace_type_id
 * @last_size: number of the size of its last allocation
 * @stats: sums; all 0 if the call site only frees
 */
struct site {
	uint64_t call_site;
	uint16_t tag;
	uint8_t type;
	uint32_t last_size;
	struct stats stats;
};

/**
 * struct size - allocations of one call site with the same size
 * @bytes: the size
 * @site: number of the call site
 * @allocs: number of allocations
 */
struct size {
	struct bytes bytes;
	uint32_t site;
	uint64_t allocs;
};

/**
 * enum finding_kind - what is wrong with an allocation or a free
 * @FINDING_SHORT: the allocator returned less memory than requested
 * @FINDING_WRONG_API: the memory was freed by the wrong interface
 * @FINDING_DOUBLE_FREE: the memory was freed twice without an allocation in between
 * @FINDING_UNKNOWN: the memory was freed without an allocation, in a page that was
 *	allocated during the trace
 * @FINDING_STILL_LIVE: the memory was allocated again without a free
 * @FINDING_MIXED: kfree() of an object of a cache: allowed, but worth knowing
 * @FINDING_KINDS: number of kinds
 */
enum finding_kind {
	FINDING_SHORT,
	FINDING_WRONG_API,
	FINDING_DOUBLE_FREE,
	FINDING_UNKNOWN,
	FINDING_STILL_LIVE,
	FINDING_MIXED,
	FINDING_KINDS
};

/**
 * struct finding - errors of one kind that involve the same two call sites
 * @kind: what is wrong
 * @after_losses: records were lost since the last record about this memory, which may
 *	explain the finding
 * @site: call site of the allocation
 * @other: call site of the free or of the second allocation; NO_SITE for none
 * @count: number of findings
 * @ptr: address of the first finding
 * @sequence: sequence number of the first finding
 * @offset: offset of the first finding in the file of @cpu
 * @cpu: CPU of the first finding
 */
struct finding {
	enum finding_kind kind;
	bool after_losses;
	uint32_t site;
	uint32_t other;
	uint64_t count;
	uint64_t ptr;
	uint64_t sequence;
	uint64_t offset;
	unsigned int cpu;
};

/**
 * struct sites - all call sites
 * @chunks: the call sites; pointers to them stay valid
 * @nr: number of call sites
 * @index: finds them by address, tag and type
 */
struct sites {
	struct site *chunks[MODEL_SITES / SITES_CHUNK];
	uint32_t nr;
	struct index index;
};

/**
 * struct sizes - all pairs of a call site and a size
 * @list: the pairs
 * @nr: number of pairs
 * @index: finds them
 */
struct sizes {
	struct size *list;
	uint32_t nr;
	struct index index;
};

/**
 * struct findings - all findings
 * @list: the findings, in the order in which they appeared first
 * @nr: number of findings
 * @index: finds them by kind and call sites
 */
struct findings {
	struct finding *list;
	uint32_t nr;
	struct index index;
};

static inline struct site *sites_get(const struct sites *sites, uint32_t nr)
{
	return &sites->chunks[nr / SITES_CHUNK][nr % SITES_CHUNK];
}

uint32_t sites_find(struct sites *sites, uint64_t call_site, uint16_t tag, uint8_t type,
		    uint64_t *more);
void sites_free(struct sites *sites);
bool sizes_count(struct sizes *sizes, struct site *site, uint32_t nr_site,
		 struct bytes bytes);
void sizes_free(struct sizes *sizes);
void findings_add(struct findings *findings, const struct finding *finding);
void findings_free(struct findings *findings);

void stats_add(struct stats *sum, const struct stats *stats);
void lifetimes_count(struct lifetimes *lifetimes, uint64_t time);
uint64_t lifetimes_median(const struct lifetimes *lifetimes);

#endif /* _KMEMTRACE_REPORT_SITES_H */
