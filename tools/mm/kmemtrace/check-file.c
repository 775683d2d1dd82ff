// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace_check: is what kmemtraced recorded what a kernel may have written?
 *
 * Each file cpu<n>.out is looked at by itself, byte by byte, so that what
 * trace.c is lenient about is found as well: filling that is not zero, features
 * where none belong, numbers that go back, values that cannot be. What a newer
 * ABI may have added is no error in a trace that says it is of one.
 *
 * With --all the files are also merged. Each record has taken a number, and each
 * that was lost, so every number that is missing has to be one of a loss that was
 * told of, by records or by the header. Whenever recording begins one number is
 * left out as well. Of a trace that is not complete, or of a part of a recording,
 * nothing follows from the numbers; that has an exit status of its own, so that
 * nobody takes it for one that lacks nothing.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "number.h"
#include "status.h"
#include "trace.h"
#include "util.h"

/* Records are of some 60 bytes. This leaves room for features to come. */
#define SANE_SIZE	4096
#define BUFFER_SIZE	(1024 * 1024)
/* Clocks of CPUs differ a little, and a time is taken before the number is. */
#define TIME_JITTER	1000000
#define CORE_SIZE	sizeof(struct kmemtrace_event)
/* What kmalloc(0) returns, which nobody frees. */
#define NO_MEMORY_LAST	16u

static struct {
	unsigned long max_errors;
	bool quiet;
	bool begins_given;
	uint64_t begins;
} options = { .max_errors = 20 };

static bool trouble;
static bool unknown;
static uint64_t all_errors;

/* What is found in a file */

struct check {
	const char *name;
	const struct trace_header *header;
	int fd;
	bool swap;
	bool newer;		/* than what this program knows */
	uint8_t *buf;
	size_t pos;
	size_t end;
	uint64_t base;		/* offset of buf[0] in the file */
	uint64_t errors;
	bool unread;		/* of a read that failed on */
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

	all_errors++;
	if (c->errors++ >= options.max_errors)
		return;
	printf("%s: offset %llu: ", c->name, (unsigned long long)offset(c));
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

static void unreadable(const char *name, const char *what)
{
	fprintf(stderr, "kmemtrace_check: %s: %s\n", name, what);
	trouble = true;
}

static uint16_t get16(const struct check *c, const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap16(v) : v;
}

static uint32_t get32(const struct check *c, const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap32(v) : v;
}

static uint64_t get64(const struct check *c, const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap64(v) : v;
}

/* Have up to @need bytes at the position; returns how many there are. */
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
			trouble = true;
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

/* Of a module that was there for too short a time, the table may know nothing. */
static void check_tag(struct check *c, uint16_t tag)
{
	const struct trace_header *header = c->header;

	if (tag && (tag >= header->nr_tags || !header->tags[tag].where))
		c->unnamed_tags++;
}

/* Do @bytes fit where event @p says that they are? */
static void check_bytes(struct check *c, const uint8_t *p, uint64_t bytes)
{
	/* Pages that 32 bits do not reach have addresses beyond. */
	bool narrow = c->header->word_bits == 32 && p[1] != KMEMTRACE_TYPE_PAGES;
	uint64_t top = narrow ? UINT32_MAX : UINT64_MAX;
	uint64_t ptr = get64(c, p + 16);

	if (ptr <= top && bytes && bytes - 1 > top - ptr)
		error(c, "%llu bytes from %#llx on: there are no such addresses",
		      (unsigned long long)bytes, (unsigned long long)ptr);
	if (p[1] == KMEMTRACE_TYPE_PAGES && bytes % c->header->page_size)
		error(c, "%llu bytes are no pages of %u",
		      (unsigned long long)bytes, c->header->page_size);
}

/* @p is of event @event, and has @size bytes of data. */
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
			error(c, "a tag in what is no allocation");
		else
			check_tag(c, get16(c, p));
		break;
	case KMEMTRACE_FEATURE_BYTES:
		if (!page_free)
			error(c, "feature bytes in what is no free of pages");
		else if (!get64(c, p))
			error(c, "a free of 0 bytes");
		else
			check_bytes(c, event, get64(c, p));
		break;
	}
}

static void check_filling(struct check *c, const uint8_t *p, unsigned int left)
{
	while (left--)
		if (*p++) {
			error(c, "filling that is not zero");
			return;
		}
}

/* Returns a bit for each feature that is there. */
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
	check_filling(c, p, left);
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
		error(c, "a free of pages that does not say how many bytes");
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

/* Returns whether it can be told where the next begins. */
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
		error(c, "a record of %u bytes; the rest is not looked at", size);
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
	if (c->errors > options.max_errors)
		printf("%s: and %llu errors more\n", c->name,
		       (unsigned long long)c->errors - options.max_errors);
	if (options.quiet)
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

/* Returns whether it could be looked at, to its end. */
static bool check_file(const char *name, const struct trace_header *header,
		       struct check *c)
{
	static uint8_t buf[BUFFER_SIZE];
	bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	*c = (struct check){
		.name = name,
		.buf = buf,
		.header = header,
		.swap = header->big_endian != big,
		.newer = header->abi_version > KMEMTRACE_ABI_VERSION,
	};
	c->fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (c->fd < 0) {
		unreadable(name, strerror(errno));
		return false;
	}
	while (have(c, 1) && check_record(c))
		;
	summarize(c);
	close(c->fd);
	return !c->unread;
}

/* Headers */

/* What is wrong with records is found here, with what is wrong with the header. */
static void complain_header(const char *file, uint64_t line, const char *what,
			    void *data)
{
	const char *base = strrchr(file, '/');

	(void)data;
	if (strcmp(base ? base + 1 : file, "header"))
		return;
	all_errors++;
	if (line)
		printf("%s: line %llu: %s\n", file, (unsigned long long)line,
		       what);
	else
		printf("%s: %s\n", file, what);
}

static bool is_regular(const char *name)
{
	struct stat st;

	if (stat(name, &st)) {
		unreadable(name, strerror(errno));
		return false;
	}
	if (!S_ISREG(st.st_mode)) {
		unreadable(name, "not a regular file");
		return false;
	}
	return true;
}

static size_t dir_length(const char *name)
{
	const char *slash = strrchr(name, '/');

	return slash ? slash + 1 - name : 0;
}

/* The files of one directory have one header, which is long: it is read once. */
static struct {
	struct trace *trace;
	char *name;		/* of the file for which it was */
} known;

static void forget_header(void)
{
	trace_close(known.trace);
	free(known.name);
	known.trace = NULL;
	known.name = NULL;
}

static bool has_header(const char *name)
{
	return known.name && dir_length(name) == dir_length(known.name) &&
	       !strncmp(name, known.name, dir_length(name)) &&
	       trace_header(known.trace)->abi_version;
}

static void check_one(const char *name)
{
	const struct trace_header *header;
	struct check c;

	if (!is_regular(name))
		return;
	if (!has_header(name)) {
		forget_header();
		known.trace = trace_open_file(name, complain_header, NULL);
		if (!known.trace) {
			unreadable(name, "cannot be opened");
			return;
		}
		known.name = strdup(name);
	}
	header = trace_header(known.trace);
	if (!header->abi_version && !options.quiet)
		printf("%s: no header, byte order guessed: %s\n", name,
		       header->big_endian ? "big" : "little");
	check_file(name, header, &c);
}

/* All files together */

/* What the records say of numbers. */
struct account {
	const struct trace_header *header;
	bool sound;		/* no file has an error in it */
	uint64_t untold;	/* lost at the end, told of nowhere */
	uint64_t told;
	uint64_t told_bytes;
	uint64_t missing;
	uint64_t singles;	/* gaps of one number */
	uint64_t doubles;	/* records whose number is that of another */
};

static void __printf(2, 3) finding(const char *dir, const char *format, ...)
{
	va_list args;

	printf("%s: ", dir);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
}

/* Merge, and see which numbers are missing. */
static void count_missing(struct trace *trace, const char *dir, struct account *a)
{
	struct trace_record r;
	unsigned int cpu = 0;
	uint64_t last = 0;
	bool any = false;

	for (; trace_next(trace, &r); any = true) {
		if (r.event_id == KMEMTRACE_EVENT_LOST) {
			a->told += r.lost_events;
			a->told_bytes += r.lost_bytes;
		}
		if (any && r.sequence == last &&
		    a->doubles++ < options.max_errors)
			finding(dir, "cpu%u.out: offset %llu: number %u is in cpu%u.out as well",
				r.cpu, (unsigned long long)r.offset,
				(uint32_t)r.sequence, cpu);
		if (any && r.sequence > last + 1) {
			a->missing += r.sequence - last - 1;
			a->singles += r.sequence == last + 2;
		}
		last = r.sequence;
		cpu = r.cpu;
	}
	if (a->doubles > options.max_errors)
		finding(dir, "and %llu numbers more twice",
			(unsigned long long)(a->doubles - options.max_errors));
	all_errors += a->doubles;
}

/* Records that lack at the beginning or the end leave no gap. */
static void check_sizes(const char *dir, const struct account *a)
{
	DIR *d = a->header->written_known ? opendir(dir) : NULL;
	uint64_t bytes = 0;
	struct dirent *e;
	unsigned int cpu;
	struct stat st;

	if (!d)
		return;
	while ((e = readdir(d))) {
		if (trace_is_cpu_file(e->d_name, &cpu) &&
		    !fstatat(dirfd(d), e->d_name, &st, 0))
			bytes += st.st_size;
	}
	closedir(d);
	if (bytes == a->header->written)
		return;
	finding(dir, "the files have %llu bytes, %llu were written",
		(unsigned long long)bytes,
		(unsigned long long)a->header->written);
	all_errors++;
}

/* What the records tell of against what the kernel counted. */
static void check_told(const char *dir, const struct account *a)
{
	uint64_t lost = a->header->lost_events;

	if (a->told == lost - a->untold ||
	    a->told == lost - a->untold + a->header->earlier_events)
		return;
	finding(dir, "records tell of %llu lost events, the kernel of %llu, %llu of them untold",
		(unsigned long long)a->told, (unsigned long long)lost,
		(unsigned long long)a->untold);
	all_errors++;
}

/*
 * Those that were lost last, after all records, leave no gap: only losses that no
 * record tells of can be such.
 */
static void check_missing(const char *dir, const struct account *a)
{
	unsigned long long begins = options.begins_given ? options.begins :
				    a->header->begins;
	unsigned long long lost = a->header->lost_events;
	unsigned long long missing = a->missing;

	if (options.begins_given || a->header->begins_known) {
		if (missing > lost + begins ||
		    missing + a->untold < lost + begins) {
			finding(dir,
				"%llu numbers are missing; %llu events were lost, and there were %llu begins",
				missing, lost, begins);
			all_errors++;
		}
		return;
	}
	if (missing + a->untold < lost) {
		finding(dir, "only %llu numbers are missing, but %llu events were lost",
			missing, lost);
		all_errors++;
	} else if (missing > lost + !!a->singles) {
		finding(dir, "%llu numbers are missing, but only %llu events were lost",
			missing, lost);
		all_errors++;
	} else if (missing > lost) {
		finding(dir,
			"note: %llu numbers are missing beyond %llu lost events; did recording begin anew?",
			missing - lost, lost);
	}
}

/* What is there has no error, but what is not there cannot be told. */
static void open_end(const char *dir, const char *why)
{
	finding(dir, "%s: what is there is sound, whether records are missing cannot be told",
		why);
	unknown = true;
}

static void check_account(const char *dir, struct account *a)
{
	const struct trace_header *header = a->header;

	if (!options.quiet)
		finding(dir,
			"%llu numbers missing, %llu of them alone; events lost: %llu by records, %llu by header",
			(unsigned long long)a->missing,
			(unsigned long long)a->singles,
			(unsigned long long)a->told,
			(unsigned long long)header->lost_events);
	if (!a->sound) {
		finding(dir, "note: there are errors, so nothing follows from the numbers");
		return;
	}
	if (!header->complete) {
		open_end(dir, "not complete, kmemtraced did not come to a good end");
		return;
	}
	if (!header->whole) {
		open_end(dir, "a part of a recording");
		return;
	}
	/* No line is no such loss in the trace of somebody else. */
	a->untold = header->untold_events;
	if (!header->untold_known && a->told <= header->lost_events)
		a->untold = header->lost_events - a->told;
	check_told(dir, a);
	check_missing(dir, a);
}

/* Which CPUs have a file there. */
static void find_files(const char *dir, bool *there)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	unsigned int cpu;

	while (d && (e = readdir(d)))
		if (trace_is_cpu_file(e->d_name, &cpu))
			there[cpu] = true;
	if (d)
		closedir(d);
}

static bool check_files(struct trace *trace, const char *dir, unsigned int *nr)
{
	bool *there = calloc(TRACE_MAX_CPUS, sizeof(*there));
	uint64_t before = all_errors;
	bool read = true;
	unsigned int cpu;
	struct check c;
	char *path;

	if (there)
		find_files(dir, there);
	else
		unreadable(dir, "out of memory");
	for (cpu = 0; there && cpu < TRACE_MAX_CPUS; cpu++) {
		if (!there[cpu] || asprintf(&path, "%s/cpu%u.out", dir, cpu) < 0)
			continue;
		if (is_regular(path)) {
			read = check_file(path, trace_header(trace), &c) && read;
			++*nr;
		}
		free(path);
	}
	free(there);
	return read && before == all_errors;
}

static void check_all(const char *dir)
{
	uint64_t before = all_errors;
	struct account a = { 0 };
	struct trace *trace;
	unsigned int nr = 0;

	trace = trace_open(dir, complain_header, NULL);
	if (!trace) {
		unreadable(dir, "not a trace that can be read");
		return;
	}
	a.header = trace_header(trace);
	a.sound = check_files(trace, dir, &nr) && before == all_errors;
	if (!nr) {
		printf("%s: no files of CPUs\n", dir);
		all_errors++;
	}
	count_missing(trace, dir, &a);
	check_sizes(dir, &a);
	check_account(dir, &a);
	trace_close(trace);
}

/* Command line */

static void usage(FILE *out)
{
	fputs("Usage: kmemtrace_check [OPTION]... FILE...\n"
	      "       kmemtrace_check [OPTION]... --all [DIR]\n"
	      "Check files cpu<n>.out that kmemtraced recorded. The header is looked for\n"
	      "beside each; without it the byte order is guessed.\n"
	      "\n"
	      "  -a, --all             all files of the trace in DIR (the current folder if it\n"
	      "                        has a header, else " TRACE_DIRECTORY "), and that no\n"
	      "                        sequence number is missing that was not lost\n"
	      "  -b, --begins N        with --all: recording was switched on N times while\n"
	      "                        it was recorded; where neither this nor the header\n"
	      "                        says so, a few single numbers may be missing with no\n"
	      "                        more than a note\n"
	      "  -m, --max-errors N    show N errors a file (20); the rest is counted\n"
	      "  -q, --quiet           no summaries\n"
	      "  -h, --help            this text\n"
	      "  -V, --version         the version of the ABI that is known\n"
	      "\n"
	      "Exit status:\n"
	      "  0  clean\n"
	      "  1  something could not be read\n"
	      "  2  errors were found\n"
	      "  3  the findings could not be written\n"
	      "  4  with --all: no errors, but the trace is not complete or of a part of a\n"
	      "     recording, so that nobody can tell whether records are missing\n"
	      "  64 wrong options\n",
	      out);
}

static uint64_t to_number(const char *s)
{
	uint64_t n;

	if (!number_parse(s, UINT64_MAX, &n)) {
		fprintf(stderr, "kmemtrace_check: %s is no number\n", s);
		exit(EXIT_USAGE);
	}
	return n;
}

static int exit_status(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "kmemtrace_check: standard output: %s\n", strerror(errno));
		return EXIT_OUTPUT;
	}
	if (trouble)
		return EXIT_CANNOT;
	if (all_errors)
		return EXIT_LOST;
	return unknown ? EXIT_UNKNOWN : EXIT_GOOD;
}

int main(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "all", optional_argument, NULL, 'a' },
		{ "begins", required_argument, NULL, 'b' },
		{ "max-errors", required_argument, NULL, 'm' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	const char *dir = NULL;
	bool all = false, files;
	int opt;

	while ((opt = getopt_long(argc, argv, "a::b:m:qhV", long_options,
				  NULL)) != -1) {
		switch (opt) {
		case 'a':
			all = true;
			dir = optarg;
			break;
		case 'b':
			options.begins = to_number(optarg);
			options.begins_given = true;
			break;
		case 'm':
			options.max_errors = to_number(optarg);
			break;
		case 'q':
			options.quiet = true;
			break;
		case 'h':
			usage(stdout);
			return EXIT_GOOD;
		case 'V':
			printf("kmemtrace_check, ABI %d\n", KMEMTRACE_ABI_VERSION);
			return EXIT_GOOD;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (all && !dir)
		dir = optind < argc ? argv[optind++] :
		      trace_default_directory();
	files = optind < argc;
	if (files == all) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (all)
		check_all(dir);
	for (; optind < argc; optind++)
		check_one(argv[optind]);
	forget_header();
	return exit_status();
}
