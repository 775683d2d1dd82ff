// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a trace: the header, and the records of all CPUs in one order.
 *
 * Each file is read through a buffer of its own, and of each the next record, its
 * head, is known. The records wear the low 32 bits of a number that counts those
 * of all CPUs. As a file's numbers only rise, its head is the earliest it still
 * has, and the earliest head of all is the next record of the trace. So memory
 * grows with the number of CPUs only.
 *
 * The numbers wrap around. A head is placed by its distance from the record
 * before it in the same file, the first of each file by that from the earliest
 * first. A distance of up to 2^31 is a step forward, else the number went back:
 * that is complained about, and the record is placed where the one before was. A
 * CPU that is silent while the others take more than 2^31 numbers is misplaced;
 * nothing in the records could tell.
 *
 * A record is never looked at before it is known to be whole and in the buffer,
 * and no size or number is believed. A file in which the chain of sizes breaks
 * ends there; the others go on.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace-order.h"
#include "trace-stream.h"
#include "util.h"

/* Byte order */

static bool sane_size(unsigned int size)
{
	return size >= sizeof(struct kmemtrace_event) &&
	       size % KMEMTRACE_ALIGN == 0;
}

/*
 * The size of a record is small, so read in the wrong order it is large, or no
 * multiple of 8.
 */
bool record_guess_swap(const uint8_t *record)
{
	unsigned int here = load16(record + 2, false);
	unsigned int there = load16(record + 2, true);

	return sane_size(there) && (!sane_size(here) || there < here);
}

/* Streams */

/* Have @need bytes at the head, if the file has as many. */
bool stream_fill(struct trace *trace, struct stream *s, size_t need)
{
	size_t left = s->end - s->pos;
	ssize_t n;

	if (left >= need)
		return true;
	if (s->eof)
		return false;
	if (!s->buf) {
		s->buf = malloc(s->size);
		if (!s->buf) {
			complain(&trace->complainer, s->name, 0, "out of memory");
			s->eof = true;
			return false;
		}
	}
	memmove(s->buf, s->buf + s->pos, left);
	s->base += s->pos;
	s->pos = 0;
	s->end = left;
	while (s->end < need || s->end < s->size / 2) {
		n = read(s->fd, s->buf + s->end, s->size - s->end);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			complain(&trace->complainer, s->name, s->base + s->end, "%s",
				 strerror(errno));
		if (n <= 0) {
			s->eof = true;
			break;
		}
		s->end += n;
	}
	return s->end >= need;
}

/* What of the file can be read has been. */
void stream_end(struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	free(s->buf);
	s->buf = NULL;
	s->pos = 0;
	s->end = 0;
	s->eof = true;
}

unsigned int trace_core_size(uint8_t event_id)
{
	switch (event_id) {
	case KMEMTRACE_EVENT_ALLOC:
		return sizeof(struct kmemtrace_alloc);
	case KMEMTRACE_EVENT_LOST:
		return sizeof(struct kmemtrace_lost);
	default:
		return sizeof(struct kmemtrace_event);
	}
}

/* Place the head; see the top of the file. */
static void place_head(struct trace *trace, struct stream *s)
{
	uint32_t number = load32(s->buf + s->pos + 4, trace->swap);
	uint32_t ahead = number - (uint32_t)s->sequence;

	if (s->started) {
		if ((int32_t)(number - s->last) < 0)
			complain(&trace->complainer, s->name, s->base + s->pos,
				 "sequence number %u after %u",
				 number, s->last);
		if ((int32_t)ahead > 0)
			s->sequence += ahead;
	}
	s->last = number;
}

/* Find the head of a stream at or after its position; false if there is none. */
bool stream_find_head(struct trace *trace, struct stream *s)
{
	unsigned int size, left;
	uint64_t offset;

	for (;;) {
		if (!stream_fill(trace, s, sizeof(struct kmemtrace_event)))
			break;
		size = load16(s->buf + s->pos + 2, trace->swap);
		offset = s->base + s->pos;
		if (!sane_size(size)) {
			complain(&trace->complainer, s->name, offset,
				 "a record of %u bytes; the file is not read further",
				 size);
			goto end;
		}
		if (!stream_fill(trace, s, size))
			break;
		s->head_size = size;
		if (size >= trace_core_size(s->buf[s->pos])) {
			place_head(trace, s);
			return true;
		}
		complain(&trace->complainer, s->name, offset,
			 "%u bytes are too few for event %u; skipped", size,
			 s->buf[s->pos]);
		s->pos += size;
	}
	left = s->end - s->pos;
	if (left)
		complain(&trace->complainer, s->name, s->base + s->pos,
			 "the file ends within a record, after %u bytes of it",
			 left);
end:
	stream_end(s);
	return false;
}

/* Records */

/* @left begins with the feature itself. Returns what is wrong. */
static inline const char *read_feature(struct trace_record *r, const uint8_t *p,
				       unsigned int size, bool swap)
{
	const uint8_t *data = p + sizeof(struct kmemtrace_feature);
	unsigned int id = p[2];

	size -= sizeof(struct kmemtrace_feature);
	switch (id) {
	case KMEMTRACE_FEATURE_TIME:
		if (size < sizeof(r->time))
			return "the time is too short";
		r->time = load64(data, swap);
		break;
	case KMEMTRACE_FEATURE_PID:
		if (size < sizeof(r->pid))
			return "the pid is too short";
		r->pid = load32(data, swap);
		break;
	case KMEMTRACE_FEATURE_TAG:
		if (size < sizeof(r->tag))
			return "the tag is too short";
		r->tag = load16(data, swap);
		break;
	case KMEMTRACE_FEATURE_BYTES:
		if (size < sizeof(r->bytes))
			return "the number of bytes is too short";
		r->bytes = load64(data, swap);
		break;
	default:
		return NULL;
	}
	r->features |= 1u << id;
	return NULL;
}

static inline const char *read_features(struct trace_record *r, const uint8_t *p,
					unsigned int left, bool swap)
{
	const char *wrong, *first = NULL;
	unsigned int size;

	while (left >= sizeof(struct kmemtrace_feature)) {
		size = load16(p, swap);
		if (!size)
			break;
		if (size < sizeof(struct kmemtrace_feature))
			return "a feature of less than 3 bytes";
		if (size > left)
			return "a feature runs over the end of the record";
		wrong = read_feature(r, p, size, swap);
		if (!first)
			first = wrong;
		p += size;
		left -= size;
	}
	return first;
}

/*
 * Built twice, once for each byte order, so that in the usual one nothing is left
 * of the question.
 */
static __always_inline const char *
decode(const struct stream *s, struct trace_record *r, bool swap)
{
	const uint8_t *p = s->buf + s->pos;

	r->event_id = p[0];
	r->type_id = p[1];
	r->cpu = s->cpu;
	r->sequence = s->sequence;
	r->offset = s->base + s->pos;
	r->call_site = load64(p + 8, swap);
	r->ptr = load64(p + 16, swap);
	r->features = 0;
	p += sizeof(struct kmemtrace_event);
	switch (r->event_id) {
	case KMEMTRACE_EVENT_ALLOC:
		r->bytes_req = load64(p, swap);
		r->bytes_alloc = load64(p + 8, swap);
		r->gfp_flags = load32(p + 16, swap);
		r->target_cpu = load32(p + 20, swap);
		p += 24;
		break;
	case KMEMTRACE_EVENT_FREE:
		break;
	case KMEMTRACE_EVENT_LOST:
		r->lost_events = load64(p, swap);
		r->lost_bytes = load64(p + 8, swap);
		p += 16;
		break;
	default:
		/* where its features begin is not known */
		return NULL;
	}
	return read_features(r, p, s->buf + s->pos + s->head_size - p, swap);
}

static_assert(sizeof(struct kmemtrace_event) == 24, "ABI");
static_assert(sizeof(struct kmemtrace_alloc) == 48, "ABI");
static_assert(sizeof(struct kmemtrace_lost) == 40, "ABI");
static_assert(sizeof(struct kmemtrace_feature) == 3, "ABI");

/* Merging */

static inline bool earlier(const void *a, const void *b)
{
	const struct stream *x = a, *y = b;

	return x->sequence < y->sequence ||
	       (x->sequence == y->sequence && x->cpu < y->cpu);
}

/* The current stream has moved on: which is the earliest now? */
static void choose(struct trace *trace, bool ended)
{
	struct stream *s = trace->current;
	struct heap *heap = &trace->heap;

	if (ended) {
		trace->current = heap->nr ? heap_pop(heap, earlier) : NULL;
		return;
	}
	if (!heap->nr || earlier(s, heap->items[0]))
		return;
	trace->current = heap->items[0];
	heap->items[0] = s;
	heap_down(heap, 0, earlier);
}

bool trace_next(struct trace *trace, struct trace_record *record)
{
	struct stream *s = trace->current;
	const char *wrong;

	if (!s)
		return false;
	wrong = trace->swap ? decode(s, record, true) :
			      decode(s, record, false);
	if (wrong)
		complain(&trace->complainer, s->name, record->offset, "%s", wrong);
	s->pos += s->head_size;
	choose(trace, !stream_find_head(trace, s));
	return true;
}

/*
 * All heads are found: give the first of each its place. The earliest is that
 * which no other is before, by way of the shorter distance.
 */
void trace_begin_merge(struct trace *trace)
{
	struct heap *heap = &trace->heap;
	struct stream *s;
	uint32_t first;
	size_t i;

	if (!heap->nr)
		return;
	s = heap->items[0];
	first = s->last;
	for (i = 1; i < heap->nr; i++) {
		s = heap->items[i];
		if ((int32_t)(s->last - first) < 0)
			first = s->last;
	}
	for (i = 0; i < heap->nr; i++) {
		s = heap->items[i];
		s->sequence = (uint64_t)first + (uint32_t)(s->last - first);
		s->started = true;
	}
	heap_make(heap, earlier);
	trace->current = heap_pop(heap, earlier);
}

/* Interface */

const struct trace_header *trace_header(const struct trace *trace)
{
	return &trace->header;
}

void trace_close(struct trace *trace)
{
	size_t i;

	if (!trace)
		return;
	for (i = 0; i < trace->nr_streams; i++) {
		stream_end(&trace->streams[i]);
		free(trace->streams[i].name);
	}
	free(trace->streams);
	free(trace->heap.items);
	free(trace->header.tags);
	free(trace->header.symbols);
	free(trace->header.strings);
	free(trace);
}
