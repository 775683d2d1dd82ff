/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tables of kmemtrace-report: call sites, sizes and findings.
 *
 * Each table has a limit, so that a trace cannot make them grow without bound. What
 * exceeds a limit is counted together.
 */
#ifndef _KMEMTRACE_REPORT_SITES_H
#define _KMEMTRACE_REPORT_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "live.h"
#include "util.h"

#define MODEL_TYPES	3

/* call sites; the last number means that none is known */
#define MODEL_SITES	BIT(LIVE_SITE_BITS)
#define NO_SITE		(MODEL_SITES - 1)
/* pairs of sizes over all call sites */
#define MODEL_SIZES	BIT(18)
/* pairs of call sites over all kinds of findings */
#define MODEL_FINDINGS	BIT(16)

/* lifetimes of 0, 1, 2 to 3, 4 to 7 ...; the last is open */
#define LIFETIME_BUCKETS	48

#define SITES_CHUNK	1024u

/**
 * struct lifetimes - how long what was freed had lived
 * @count: how many
 * @min: shortest
 * @max: longest
 * @bucket: how many by power of two
 */
struct lifetimes {
	uint64_t count;
	uint64_t min;
	uint64_t max;
	uint64_t bucket[LIFETIME_BUCKETS];
};

/**
 * struct stats - of a call site, or of many
 * @allocs: allocations
 * @requested: bytes asked for, all allocations together
 * @allocated: bytes taken, all allocations together
 * @frees: objects, or blocks and parts of blocks, that were freed
 * @live: objects, or blocks and parts of blocks, that are not freed yet
 * @live_bytes: their size
 * @failed: allocations that gave no memory
 * @cross_allocs: meant for another CPU
 * @cross_frees: freed on another CPU
 * @lifetimes: of what was freed
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
 * @last_size: number of the sizes of its last allocation
 * @stats: what it did; all 0 where it only freed
 */
struct site {
	uint64_t call_site;
	uint16_t tag;
	uint8_t type;
	uint32_t last_size;
	struct stats stats;
};

/**
 * struct size - allocations of one call site that have the same sizes
 * @bytes: the sizes
 * @site: the call site
 * @allocs: how many
 */
struct size {
	struct bytes bytes;
	uint32_t site;
	uint64_t allocs;
};

/**
 * enum finding_kind - what is wrong with an allocation or a free
 * @FINDING_SHORT: less memory than was asked for
 * @FINDING_WRONG_API: freed by an interface it did not come from
 * @FINDING_DOUBLE_FREE: freed, and nothing allocated there since
 * @FINDING_UNKNOWN: freed, in a page that came from the page allocator during the
 *	trace, but nothing was allocated there
 * @FINDING_STILL_LIVE: allocated again without a free
 * @FINDING_MIXED: kfree() of an object of a cache: allowed, but worth knowing
 * @FINDING_KINDS: how many there are
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
 * struct finding - all findings of a kind about the same two call sites
 * @kind: what is wrong
 * @after_losses: records are missing since the memory was last heard of, which
 *	may be all there is to it
 * @site: that allocated the memory
 * @other: that freed it, or allocated it again; NO_SITE for none
 * @count: how often
 * @ptr: of the first
 * @sequence: of the first
 * @offset: of the first, in the file of @cpu
 * @cpu: of the first
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
