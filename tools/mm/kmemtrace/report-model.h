/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model: sums and live memory, computed from the records of a trace in one pass.
 *
 * Memory grows with the live memory and with the number of call sites, never with the
 * length of the trace. All tables have limits; entries beyond a limit are counted together.
 */
#ifndef _KMEMTRACE_REPORT_MODEL_H
#define _KMEMTRACE_REPORT_MODEL_H

#include "live.h"
#include "report-sites.h"
#include "report-timeline.h"
#include "trace.h"

/**
 * struct counts - numbers of records
 * @records: all records
 * @allocs: allocations
 * @frees: frees
 * @unknown: records with an unknown event or type
 * @null_frees: frees of NULL or of kmalloc(0)
 * @before: frees of memory that was allocated before the trace, by type
 * @gaps: places where sequence numbers are missing
 * @small_gaps: gaps of one number: recording began, or one record was lost
 * @missing: missing sequence numbers
 * @lost_records: records that report losses
 * @lost_events: lost events that these records report
 * @lost_bytes: bytes of the lost events
 * @more_sites: allocations and frees of call sites that exceed the limit
 * @more_sizes: allocations of sizes that exceed the limit
 * @findings: findings by kind: certain ones, and those after losses
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

#endif /* _KMEMTRACE_REPORT_MODEL_H */
