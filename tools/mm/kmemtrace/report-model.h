/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model: what the records of a trace, one after the other, add up to.
 *
 * One pass; memory grows with what is live and with the number of call sites,
 * never with the length of the trace. All that a trace could make grow has a
 * limit, and what is beyond it is counted together.
 */
#ifndef _KMEMTRACE_REPORT_MODEL_H
#define _KMEMTRACE_REPORT_MODEL_H

#include "live.h"
#include "util.h"
#include "trace.h"

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
 * struct moment - a part of the time line
 * @allocs: allocations in it
 * @frees: frees in it
 * @live: bytes that are live at its end, by type
 * @peak: most bytes that were live in it, all types
 */
struct moment {
	uint64_t allocs;
	uint64_t frees;
	uint64_t live[MODEL_TYPES];
	uint64_t peak;
};

/**
 * struct timeline - live bytes over the trace
 * @moments: in order, @room of them
 * @room: even
 * @used: moments that have begun
 * @shift: a moment is 2^shift units of the clock long
 */
struct timeline {
	struct moment *moments;
	unsigned int room;
	unsigned int used;
	unsigned int shift;
};

/**
 * struct counts - records, and what some of them were
 * @records: all
 * @allocs: allocations
 * @frees: frees
 * @unknown: of an event or a type that this program does not know
 * @null_frees: frees of no memory
 * @before: frees of what was allocated before the trace, by type
 * @gaps: places where sequence numbers are missing
 * @small_gaps: of these, with one number missing: recording began, or a record
 *	was lost
 * @missing: sequence numbers missing
 * @lost_records: records that tell of losses
 * @lost_events: records lost, told by these
 * @lost_bytes: their size
 * @more_sites: allocations and frees of call sites beyond the limit
 * @more_sizes: allocations of sizes beyond the limit
 * @findings: by kind, in order and after losses
 */
struct counts {
	uint64_t records;
	uint64_t allocs;
	uint64_t frees;
	uint64_t unknown;
	uint64_t null_frees;
	uint64_t before[MODEL_TYPES];
	uint64_t gaps;
	uint64_t small_gaps;
	uint64_t missing;
	uint64_t lost_records;
	uint64_t lost_events;
	uint64_t lost_bytes;
	uint64_t more_sites;
	uint64_t more_sizes;
	uint64_t findings[FINDING_KINDS][2];
};

struct model;

struct model *model_new(unsigned int moments);
void model_free(struct model *model);
void model_read(struct model *model, struct trace *trace,
		void (*then)(const struct trace_record *record, void *data),
		void *data);

const struct counts *model_counts(const struct model *model);
uint32_t model_nr_sites(const struct model *model);
const struct site *model_site(const struct model *model, uint32_t nr);
uint32_t model_find_site(struct model *model, uint64_t call_site,
			 uint16_t tag, uint8_t type);
const struct size *model_sizes(const struct model *model, uint32_t *nr);
const struct finding *model_findings(const struct model *model, uint32_t *nr);
void model_each_live(const struct model *model,
		     void (*fn)(void *data, uint32_t site, struct bytes bytes),
		     void *data);
const struct timeline *model_timeline(const struct model *model);
bool model_has_time(const struct model *model);
uint64_t model_duration(const struct model *model);
uint64_t model_peak(const struct model *model, unsigned int type,
		    uint64_t *when);
uint64_t model_errors(const struct model *model);

void stats_add(struct stats *sum, const struct stats *stats);
uint64_t lifetimes_median(const struct lifetimes *lifetimes);

#endif /* _KMEMTRACE_REPORT_MODEL_H */
