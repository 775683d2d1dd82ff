// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checks of one file cpu<n>.out, byte by byte: they also find what trace.c tolerates,
 * such as padding that is not zero, features in records that should not have them,
 * sequence numbers that go back, and impossible values. Additions of a newer ABI are no
 * errors in a trace whose header declares that ABI.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "trace-order.h"
#include "util.h"

/* Records have about 60 bytes. This limit leaves room for future features. */
#define SANE_SIZE	4096
#define BUFFER_SIZE	(1024 * 1024)
/* The clocks of CPUs differ a little, and a record takes its time before its number. */
#define TIME_JITTER	1000000
#define CORE_SIZE	sizeof(struct kmemtrace_event)
/* kmalloc(0) returns this address, and nobody frees it. */
#define NO_MEMORY_LAST	16u

struct check_options check_options = { .max_errors = 20 };
struct check_result check_result;

/* Data and messages */

struct check {
	const char *name;
	const struct trace_header *header;
	int fd;
	bool swap;
	bool newer;		/* the ABI is newer than this program */
	uint8_t *buf;
	size_t pos;
	size_t end;
	uint64_t base;		/* offset of buf[0] in the file */
	uint64_t errors;
	bool unread;		/* a read failed: the rest was not read */
	uint64_t records;
	uint64_t allocs;
	uint64_t frees;
	uint64_t losses;
	uint64_t lost_events;
	uint64_t lost_bytes;
	uint64_t unknown_events;
	uint64_t unknown_types;
	uint64_t unknown_features;
	uint64_t unnamed_tags;
	uint32_t first;
	uint32_t last;
	bool has_time;
	uint64_t time;		/* latest */
};

static uint64_t offset(const struct check *c)
{
	return c->base + c->pos;
}

static void __printf(2, 3) error(struct check *c, const char *format, ...)
{
	va_list args;

	check_result.errors++;
	if (c->errors++ >= check_options.max_errors)
		return;
	printf("%s: offset %llu: ", c->name, (unsigned long long)offset(c));
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static uint16_t get16(const struct check *c, const void *p)
{
	return load16(p, c->swap);
}

static uint32_t get32(const struct check *c, const void *p)
{
	return load32(p, c->swap);
}

static uint64_t get64(const struct check *c, const void *p)
{
	return load64(p, c->swap);
}

/* Read until there are @need bytes at the position; returns how many there are. */
static size_t have(struct check *c, size_t need)
{
	size_t left = c->end - c->pos;
	ssize_t n;

	if (left >= need)
		return left;
	memmove(c->buf, c->buf + c->pos, left);
	c->base += c->pos;
	c->pos = 0;
	c->end = left;
	while (c->end < need) {
		n = read(c->fd, c->buf + c->end, BUFFER_SIZE - c->end);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			fprintf(stderr, "kmemtrace_check: %s: offset %llu: %s\n",
				c->name,
				(unsigned long long)(c->base + c->end),
				strerror(errno));
			c->unread = true;
			check_result.trouble = true;
		}
		if (n <= 0)
			break;
		c->end += n;
	}
	return c->end;
}

/* Features */

static const struct {
	const char *name;
	unsigned int size;
} features[] = {
	[KMEMTRACE_FEATURE_TIME] = { "time", 8 },
	[KMEMTRACE_FEATURE_PID] = { "pid", 4 },
	[KMEMTRACE_FEATURE_TAG] = { "tag", 2 },
	[KMEMTRACE_FEATURE_BYTES] = { "bytes", 8 },
};

#define NR_FEATURES	ARRAY_SIZE(features)

static void check_time(struct check *c, uint64_t time)
{
	if (c->has_time && time < c->time && c->time - time > TIME_JITTER)
		error(c, "time goes back by %llu ns",
		      (unsigned long long)(c->time - time));
	else if (c->has_time && time < c->time)
		return;
	c->has_time = true;
	c->time = time;
}

/* The tags of a module that was loaded only briefly may be missing in the table. */
static void check_tag(struct check *c, uint16_t tag)
{
	const struct trace_header *header = c->header;

	if (tag && (tag >= header->nr_tags || !header->tags[tag].where))
		c->unnamed_tags++;
}

/* Check that memory of @bytes can be at the address in event @p. */
static void check_bytes(struct check *c, const uint8_t *p, uint64_t bytes)
{
	/* Pages in high memory of a 32-bit machine have addresses above 32 bits. */
	bool narrow = c->header->word_bits == 32 && p[1] != KMEMTRACE_TYPE_PAGES;
	uint64_t top = narrow ? UINT32_MAX : UINT64_MAX;
	uint64_t ptr = get64(c, p + 16);

	if (ptr <= top && bytes && bytes - 1 > top - ptr)
		error(c, "%llu bytes at %#llx exceed the address space",
		      (unsigned long long)bytes, (unsigned long long)ptr);
	if (p[1] == KMEMTRACE_TYPE_PAGES && bytes % c->header->page_size)
		error(c, "%llu bytes are no pages of %u",
		      (unsigned long long)bytes, c->header->page_size);
}

/* Check a feature of @event, whose data are @size bytes at @p. */
static void check_feature(struct check *c, const uint8_t *event, unsigned int id,
			  const uint8_t *p, unsigned int size)
{
	const char *name = features[id].name;
	bool alloc = event[0] == KMEMTRACE_EVENT_ALLOC;
	bool page_free = event[0] == KMEMTRACE_EVENT_FREE &&
			 event[1] == KMEMTRACE_TYPE_PAGES;

	if (size < features[id].size || (size > features[id].size && !c->newer)) {
		error(c, "feature %s has %u bytes, not %u", name, size,
		      features[id].size);
		return;
	}
	switch (id) {
	case KMEMTRACE_FEATURE_TIME:
		check_time(c, get64(c, p));
		break;
	case KMEMTRACE_FEATURE_PID:
		if ((int32_t)get32(c, p) < -1)
			error(c, "pid is %d", (int32_t)get32(c, p));
		break;
	case KMEMTRACE_FEATURE_TAG:
		if (!alloc)
			error(c, "a tag in a record that is not an allocation");
		else
			check_tag(c, get16(c, p));
		break;
	case KMEMTRACE_FEATURE_BYTES:
		if (!page_free)
			error(c, "feature bytes in a record that is not a free of pages");
		else if (!get64(c, p))
			error(c, "a free of 0 bytes");
		else
			check_bytes(c, event, get64(c, p));
		break;
	}
}

static void check_padding(struct check *c, const uint8_t *p, unsigned int left)
{
	while (left--)
		if (*p++) {
			error(c, "padding that is not zero");
			return;
		}
}

/* Returns a bit for each feature of the record. */
static unsigned int check_features(struct check *c, const uint8_t *event,
				   const uint8_t *p, unsigned int left)
{
	unsigned int size, id, seen = 0;

	while (left >= sizeof(struct kmemtrace_feature) && get16(c, p)) {
		size = get16(c, p);
		id = p[2];
		if (size < sizeof(struct kmemtrace_feature)) {
			error(c, "feature %u has a size of %u", id, size);
			return seen;
		}
		if (size > left) {
			error(c, "feature %u of %u bytes runs over the end", id,
			      size);
			return seen;
		}
		if (id >= NR_FEATURES || !features[id].name) {
			c->unknown_features++;
			if (!c->newer)
				error(c, "unknown feature %u", id);
		} else {
			if (seen & 1u << id)
				error(c, "feature %s a second time",
				      features[id].name);
			seen |= 1u << id;
			check_feature(c, event, id, p + 3, size - 3);
		}
		p += size;
		left -= size;
	}
	check_padding(c, p, left);
	return seen;
}

/* Events */

static void check_addresses(struct check *c, const uint8_t *p)
{
	uint64_t call_site = get64(c, p + 8), ptr = get64(c, p + 16);
	bool narrow = c->header->word_bits == 32;

	if (!call_site)
		error(c, "call site 0");
	if (narrow && call_site >> 32)
		error(c, "call site %#llx does not fit in 32 bits",
		      (unsigned long long)call_site);
	if (p[1] == KMEMTRACE_TYPE_PAGES && ptr % c->header->page_size)
		error(c, "pages at %#llx, no multiple of %u",
		      (unsigned long long)ptr, c->header->page_size);
	else if (narrow && p[1] < KMEMTRACE_TYPE_PAGES && ptr >> 32)
		error(c, "address %#llx does not fit in 32 bits",
		      (unsigned long long)ptr);
}

static void check_alloc(struct check *c, const uint8_t *p, unsigned int size)
{
	unsigned long long req = get64(c, p + 24);
	unsigned long long alloc = get64(c, p + 32);
	int cpu = get32(c, p + 44);

	c->allocs++;
	check_addresses(c, p);
	check_bytes(c, p, alloc);
	if (!req)
		error(c, "0 bytes requested");
	if (alloc < req)
		error(c, "%llu bytes requested, only %llu allocated", req, alloc);
	if (cpu < -1 || cpu >= (int)TRACE_MAX_CPUS)
		error(c, "target CPU %d", cpu);
	check_features(c, p, p + sizeof(struct kmemtrace_alloc),
		       size - sizeof(struct kmemtrace_alloc));
}

static void check_free(struct check *c, const uint8_t *p, unsigned int size)
{
	unsigned int seen;

	c->frees++;
	check_addresses(c, p);
	if (get64(c, p + 16) <= NO_MEMORY_LAST)
		error(c, "a free of %#llx",
		      (unsigned long long)get64(c, p + 16));
	seen = check_features(c, p, p + CORE_SIZE, size - CORE_SIZE);
	if (p[1] == KMEMTRACE_TYPE_PAGES && c->header->abi_version >= 2 &&
	    !(seen & 1u << KMEMTRACE_FEATURE_BYTES))
		error(c, "a free of pages without the number of bytes");
}

static void check_lost(struct check *c, const uint8_t *p, unsigned int size)
{
	uint64_t events = get64(c, p + 24);
	uint64_t bytes = get64(c, p + 32);

	c->losses++;
	c->lost_events += events;
	c->lost_bytes += bytes;
	if (p[1])
		error(c, "a record of losses of type %u", p[1]);
	if (get64(c, p + 8) || get64(c, p + 16))
		error(c, "a record of losses with an address");
	if (!events)
		error(c, "a loss of no events");
	else if (bytes / events < CORE_SIZE)
		error(c, "%llu lost events of %llu bytes in all",
		      (unsigned long long)events, (unsigned long long)bytes);
	check_features(c, p, p + sizeof(struct kmemtrace_lost),
		       size - sizeof(struct kmemtrace_lost));
}

static void check_number(struct check *c, uint32_t number)
{
	if (!c->records)
		c->first = number;
	else if ((int32_t)(number - c->last) <= 0)
		error(c, "sequence number %u after %u", number, c->last);
	c->last = number;
}

static void check_event(struct check *c, const uint8_t *p, unsigned int size)
{
	if (size < trace_core_size(p[0])) {
		error(c, "%u bytes are too few for event %u", size, p[0]);
		return;
	}
	if (p[1] > KMEMTRACE_TYPE_PAGES) {
		c->unknown_types++;
		if (!c->newer)
			error(c, "unknown type %u", p[1]);
	}
	switch (p[0]) {
	case KMEMTRACE_EVENT_ALLOC:
		check_alloc(c, p, size);
		break;
	case KMEMTRACE_EVENT_FREE:
		check_free(c, p, size);
		break;
	case KMEMTRACE_EVENT_LOST:
		check_lost(c, p, size);
		break;
	default:
		c->unknown_events++;
		if (!c->newer)
			error(c, "unknown event %u", p[0]);
	}
}

/* Returns false if the beginning of the next record is unknown. */
static bool check_record(struct check *c)
{
	unsigned int size;
	size_t left;

	left = have(c, CORE_SIZE);
	if (left < CORE_SIZE) {
		if (!c->unread)
			error(c, "cut short after %zu bytes of a record", left);
		return false;
	}
	size = get16(c, c->buf + c->pos + 2);
	if (size < CORE_SIZE || size % KMEMTRACE_ALIGN) {
		error(c, "a record of %u bytes; the rest is not checked", size);
		return false;
	}
	left = have(c, size);
	if (left < size) {
		if (!c->unread)
			error(c, "cut short after %zu bytes of a record of %u",
			      left, size);
		return false;
	}
	if (size > SANE_SIZE)
		error(c, "a record of %u bytes", size);
	check_number(c, get32(c, c->buf + c->pos + 4));
	c->records++;
	check_event(c, c->buf + c->pos, size);
	c->pos += size;
	return true;
}

static void summarize(const struct check *c)
{
	if (c->errors > check_options.max_errors)
		printf("%s: and %llu more errors\n", c->name,
		       (unsigned long long)c->errors - check_options.max_errors);
	if (check_options.quiet)
		return;
	printf("%s: ", c->name);
	if (!c->records)
		printf("empty");
	else
		printf("%llu records, numbers %u to %u: %llu allocations, %llu frees",
		       (unsigned long long)c->records, c->first, c->last,
		       (unsigned long long)c->allocs,
		       (unsigned long long)c->frees);
	if (c->losses)
		printf(", %llu losses (%llu events, %llu bytes)",
		       (unsigned long long)c->losses,
		       (unsigned long long)c->lost_events,
		       (unsigned long long)c->lost_bytes);
	if (c->unknown_events || c->unknown_types || c->unknown_features)
		printf("; unknown: %llu events, %llu types, %llu features",
		       (unsigned long long)c->unknown_events,
		       (unsigned long long)c->unknown_types,
		       (unsigned long long)c->unknown_features);
	if (c->unnamed_tags)
		printf("; %llu tags that the table does not name",
		       (unsigned long long)c->unnamed_tags);
	if (c->errors)
		printf("; %llu errors", (unsigned long long)c->errors);
	if (c->unread)
		printf("; not read to its end");
	puts(c->errors || c->unread ? "" : "; clean");
}

/* Interface */

/**
 * check_unreadable - report that something could not be read
 * @name: name of the file or directory
 * @what: the reason
 */
void check_unreadable(const char *name, const char *what)
{
	fprintf(stderr, "kmemtrace_check: %s: %s\n", name, what);
	check_result.trouble = true;
}

/**
 * check_file - check the records of one CPU
 * @name: path of the file
 * @header: header of its trace
 *
 * Return: false if the file could not be read to its end.
 */
bool check_file(const char *name, const struct trace_header *header)
{
	static uint8_t buf[BUFFER_SIZE];
	struct check check = {
		.name = name,
		.buf = buf,
		.header = header,
		.swap = header->big_endian != native_big_endian(),
		.newer = header->abi_version > KMEMTRACE_ABI_VERSION,
	};

	check.fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (check.fd < 0) {
		check_unreadable(name, strerror(errno));
		return false;
	}
	while (have(&check, 1) && check_record(&check))
		;
	summarize(&check);
	close(check.fd);
	return !check.unread;
}
