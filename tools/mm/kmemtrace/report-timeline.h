/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The time line of kmemtrace-report: live bytes in equal parts of the trace.
 *
 * The length of the trace is unknown until its end. When the time line is full, each two
 * neighbours become one, so that memory does not grow with the length of the trace.
 */
#ifndef _KMEMTRACE_REPORT_TIMELINE_H
#define _KMEMTRACE_REPORT_TIMELINE_H

#include <stdint.h>

#include "report-sites.h"

/**
 * struct moment - a part of the time line
 * @allocs: number of allocations
 * @frees: number of frees
 * @live: live bytes at its end, by type
 * @peak: maximum of live bytes, all types
 */
struct moment {
	uint64_t allocs;
	uint64_t frees;
	uint64_t live[MODEL_TYPES];
	uint64_t peak;
};

/**
 * struct timeline - live bytes over the trace
 * @moments: the parts, in order
 * @room: number of @moments, even
 * @used: number of @moments that have begun
 * @shift: a part is 2^shift units of the clock long
 */
struct timeline {
	struct moment *moments;
	unsigned int room;
	unsigned int used;
	unsigned int shift;
};

/**
 * struct live_now - live bytes at one time
 * @types: bytes allocated, by type
 * @all: bytes allocated, all types
 */
struct live_now {
	uint64_t types[MODEL_TYPES];
	uint64_t all;
};

void timeline_init(struct timeline *timeline, unsigned int moments);
struct moment *timeline_at(struct timeline *timeline, uint64_t now,
			   const struct live_now *live);
void timeline_finish(struct timeline *timeline, const struct live_now *live);

#endif /* _KMEMTRACE_REPORT_TIMELINE_H */
