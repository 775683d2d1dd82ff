// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the records of all CPUs in one order, see trace.h.
 *
 * Each file has a buffer, and the next record of each file, its head, is known. A record
 * contains the low 32 bits of a sequence number that all CPUs share. The numbers in a file
 * only rise, so the head is the earliest record left in its file, and the earliest of all
 * heads is the next record of the trace. So memory grows only with the number of CPUs.
 *
 * The numbers wrap around. The position of a head follows from its distance to the
 * previous record in the same file; for the first record of each file, from its distance
 * to the earliest first record. A distance of up to 2^31 is a step forward. A larger one
 * means that the number went back: that is reported, and the record gets the position of
 * the previous one. If a CPU writes nothing while the others take more than 2^31 numbers,
 * its next record gets a wrong position, and nothing in the records shows it.
 *
 * The code reads a record only after it has checked that the record is whole and in the
 * buffer, and it trusts no size or number. If the size of a record is invalid, reading
 * this file ends there; the other files go on.
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
 * The size of a record is small. In the wrong byte order it would be large, or not a
 * multiple of 8.
 */
bool record_guess_swap(const uint8_t *record)
{
	unsigned int here = load16(record + 2, false);
	unsigned int there = load16(record + 2, true);

	return sane_size(there) && (!sane_size(here) || there < here);
}

/* Streams */

/* Read until @need bytes are in the buffer at the head. Returns false if there are fewer. */
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

/* Close a file from which nothing more can be read. */
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

/* Find the position of the head, see the top of this file. */
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

/* Find the next valid record at or after the position. Returns false if there is none. */
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

/* Read a feature of @size bytes at @p. Returns what is wrong with it, or NULL. */
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
 * This function is compiled once for each byte order, so the native one needs no
 * conditions.
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
		/* It is unknown where its features begin. */
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

/* Choose the stream with the earliest head after the current one has advanced. */
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
 * After all heads are found, give them their positions. The earliest head is the one that
 * no other head precedes, measured by the shorter of both distances.
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
