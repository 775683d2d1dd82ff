// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time line, see report-timeline.h.
 */
#include <string.h>

#include "report-timeline.h"

/* Internals */

static void timeline_double(struct timeline *timeline)
{
	unsigned int i, half = timeline->room / 2;
	struct moment *moments = timeline->moments, a, b;

	for (i = 0; i < half; i++) {
		a = moments[2 * i];
		b = moments[2 * i + 1];
		if (2 * i + 1 >= timeline->used)
			memcpy(b.live, a.live, sizeof(b.live));
		b.allocs += a.allocs;
		b.frees += a.frees;
		b.peak = max_u64(a.peak, b.peak);
		moments[i] = b;
	}
	memset(&moments[half], 0, half * sizeof(*moments));
	timeline->used = (timeline->used + 1) / 2;
	timeline->shift++;
}

/* Note the live bytes at the end of the last part, and in those after it up to @upto. */
static void reach(struct timeline *timeline, unsigned int upto,
		  const struct live_now *live)
{
	struct moment *moment = &timeline->moments[timeline->used - 1];

	memcpy(moment->live, live->types, sizeof(moment->live));
	while (timeline->used <= upto) {
		moment = &timeline->moments[timeline->used++];
		memcpy(moment->live, live->types, sizeof(moment->live));
		moment->peak = live->all;
	}
}

/* Interface */

/**
 * timeline_init - begin a time line
 * @timeline: the time line
 * @moments: number of parts at most, even
 */
void timeline_init(struct timeline *timeline, unsigned int moments)
{
	timeline->moments = need_memory(moments, sizeof(struct moment));
	timeline->room = moments;
	timeline->used = 1;
}

/**
 * timeline_at - find the part of the time line for a time
 * @timeline: the time line
 * @now: the time, not earlier than in the last call
 * @live: live bytes before this time
 *
 * Return: the part, valid until the next call.
 */
struct moment *timeline_at(struct timeline *timeline, uint64_t now,
			   const struct live_now *live)
{
	uint64_t nr = now >> timeline->shift;

	if (nr >= timeline->used) {
		reach(timeline, 0, live);
		while (now >> timeline->shift >= timeline->room)
			timeline_double(timeline);
		nr = now >> timeline->shift;
		reach(timeline, nr, live);
	}
	return &timeline->moments[nr];
}

/**
 * timeline_finish - note what is live at the end of the trace
 * @timeline: the time line
 * @live: live bytes at the end
 */
void timeline_finish(struct timeline *timeline, const struct live_now *live)
{
	reach(timeline, 0, live);
}
