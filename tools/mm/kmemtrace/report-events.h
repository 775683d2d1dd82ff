/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of the model, and the effect of a record on it. Only report-model.c uses this;
 * the writers use report-model.h.
 */
#ifndef _KMEMTRACE_REPORT_EVENTS_H
#define _KMEMTRACE_REPORT_EVENTS_H

#include "report-model.h"

#define FREED_BLOCKS	BIT(16)

/* a recently freed block */
struct freed {
	uint64_t start;
	uint32_t site;
	uint32_t epoch;
};

struct model {
	struct objects *objects;
	struct blocks *blocks;
	struct freed *freed;

	struct sites sites;
	struct sizes sizes;
	struct findings findings;

	struct counts counts;
	uint32_t epoch;
	uint64_t sequence;

	bool started;			/* the clock is chosen */
	bool has_time;
	uint64_t origin;
	uint64_t now;			/* since the origin, never goes back */

	struct live_now live;
	uint64_t peak[MODEL_TYPES + 1];
	uint64_t peak_at[MODEL_TYPES + 1];
	struct timeline timeline;
};

static inline struct bytes block_bytes(const struct block *block)
{
	return (struct bytes){ block->requested, block_size(block) };
}

void model_record(struct model *model, const struct trace_record *r);

#endif /* _KMEMTRACE_REPORT_EVENTS_H */
