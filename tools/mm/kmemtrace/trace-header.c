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
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heap.h"
#include "number.h"
#include "trace.h"
#include "util.h"

#define KIB		1024u
#define MIB		(KIB * KIB)

/* of a stream's buffer; the least has room for the largest record */
#define BUFFER_MAX	(256 * KIB)
#define BUFFER_MIN	(64 * KIB)
/* of all buffers, as long as each has BUFFER_MIN */
#define BUFFERS		(64 * MIB)

#define MAX_TAGS	65536u
#define MAX_SYMBOLS	(8 * MIB)
/* of all strings of a header */
#define MAX_STRINGS	(1024 * MIB)
/* a line of a header; "cpus" of 8192 CPUs fits */
#define MAX_LINE	65536u
/* no function is longer: beyond it an address belongs to none */
#define MAX_FUNCTION	MIB

/* Data */

/*
 * A file of records. buf[pos] is where the head begins; it is a multiple of
 * KMEMTRACE_ALIGN from the beginning of the file and of buf, so that what is in
 * it is aligned.
 */
struct stream {
	char *name;
	int fd;
	unsigned int cpu;
	bool eof;
	bool started;		/* @last and @sequence are of a record */
	uint8_t *buf;
	size_t size;
	size_t pos;
	size_t end;
	uint64_t base;		/* offset of buf[0] in the file */
	unsigned int head_size;
	uint32_t last;		/* number of the head as the file has it */
	uint64_t sequence;	/* position of the head */
};

struct trace {
	struct trace_header header;
	struct complainer complainer;
	bool swap;
	char *strings;		/* names of @header; at [0] is none */
	struct stream *streams;
	size_t nr_streams;
	struct stream *current;	/* has the earliest head */
	struct heap heap;	/* the others, by their heads */
};

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

static bool native_big_endian(void)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

/* The header */

enum section { SECTION_KEYS, SECTION_TAGS, SECTION_KALLSYMS, SECTION_OTHER };

struct header_reader {
	struct trace *trace;
	const char *name;
	FILE *file;
	char *line;
	uint64_t nr_line;
	enum section section;
	bool ended;
	bool no_memory;
	unsigned int seen;	/* bit by enum key */
	unsigned int sections;	/* bit by enum section */
	size_t strings_len;
	size_t strings_room;
	size_t tags_room;
	size_t symbols_room;
	uint32_t *cpus;		/* of the key "cpus" */
	size_t nr_cpus;
	uint32_t *lost_cpus;
	size_t nr_lost_cpus;
	size_t nr_odd;		/* lines of kallsyms not understood */
};

static void __printf(2, 3) header_complain(struct header_reader *r,
					   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vcomplain(&r->trace->complainer, r->name, r->nr_line, format, args);
	va_end(args);
}

/* Make room for one more element in what the pointer @array points to. */
static bool grow(void *array, size_t nr, size_t *room, size_t size)
{
	void *p;
	size_t more;

	if (nr < *room)
		return true;
	more = *room ? 2 * *room : 64;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, more * size);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	*room = more;
	return true;
}

/*
 * Strings move while the header is read, so until its end a pointer to one is
 * its offset. It rises line by line, which keeps symbols of the same address
 * apart when they are sorted.
 */
static char *keep_string(struct header_reader *r, const char *s, size_t len)
{
	struct trace *trace = r->trace;
	size_t at = r->strings_len ? r->strings_len : 1;
	size_t room;
	char *p;

	if (at + len + 1 > r->strings_room) {
		room = 2 * r->strings_room + len + 4096;
		p = room <= MAX_STRINGS ? realloc(trace->strings, room) : NULL;
		if (!p) {
			r->no_memory = true;
			return NULL;
		}
		p[0] = '\0';
		trace->strings = p;
		r->strings_room = room;
	}
	memcpy(trace->strings + at, s, len);
	trace->strings[at + len] = '\0';
	r->strings_len = at + len + 1;
	return (char *)(uintptr_t)at;
}

static void settle_string(const struct trace *trace, char **s)
{
	if (*s)
		*s = trace->strings + (uintptr_t)*s;
}

/*
 * A line without its end, or NULL after the last. One that is too long is
 * complained about and cut, one with a NUL byte ends at it.
 */
static char *next_line(struct header_reader *r)
{
	size_t len;
	int c;

	if (!fgets(r->line, MAX_LINE, r->file))
		return NULL;
	r->nr_line++;
	len = strlen(r->line);
	if (len && r->line[len - 1] == '\n') {
		r->line[len - 1] = '\0';
		return r->line;
	}
	if (feof(r->file) && len < MAX_LINE - 1)
		return r->line;
	header_complain(r, len < MAX_LINE - 1 ? "NUL byte in the line" :
						"line too long");
	/* After a NUL fgets() may or may not have read up to the end. */
	if (len < MAX_LINE - 1 && memchr(r->line + len, '\n', MAX_LINE - 1 - len))
		return r->line;
	do {
		c = getc_unlocked(r->file);
	} while (c != EOF && c != '\n');
	return r->line;
}

/* A decimal number of its own word, which is taken off @s. */
static bool take_number(char **s, uint64_t *value)
{
	char *p = *s + strspn(*s, " ");
	const char *end;

	if (!number_take(p, value, &end) || (*end && *end != ' '))
		return false;
	*s = p + (end - p);
	*s += strspn(*s, " ");
	return true;
}

static bool has_cpu(const uint32_t *cpus, size_t nr, uint32_t cpu)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

static bool add_cpu(struct header_reader *r, uint32_t **cpus, size_t *nr,
		    uint64_t cpu)
{
	uint32_t *p;

	if (cpu >= TRACE_MAX_CPUS || *nr >= TRACE_MAX_CPUS || has_cpu(*cpus, *nr, cpu))
		return false;
	p = realloc(*cpus, (*nr + 1) * sizeof(*p));
	if (!p) {
		r->no_memory = true;
		return true;
	}
	p[(*nr)++] = cpu;
	*cpus = p;
	return true;
}

static bool set_number(unsigned int *out, char *value, uint64_t max)
{
	uint64_t n;

	if (!take_number(&value, &n) || *value || n > max)
		return false;
	*out = n;
	return true;
}

static bool key_format(struct header_reader *r, char *value)
{
	unsigned int format;

	if (!set_number(&format, value, UINT_MAX))
		return false;
	if (format != 1)
		header_complain(r, "format %u is newer than this program",
				format);
	return true;
}

static bool key_abi_version(struct header_reader *r, char *value)
{
	return set_number(&r->trace->header.abi_version, value, UINT_MAX);
}

static bool key_byte_order(struct header_reader *r, char *value)
{
	r->trace->header.big_endian = !strcmp(value, "big");
	return r->trace->header.big_endian || !strcmp(value, "little");
}

static bool key_word_bits(struct header_reader *r, char *value)
{
	unsigned int bits;

	if (!set_number(&bits, value, 64) || (bits != 32 && bits != 64))
		return false;
	r->trace->header.word_bits = bits;
	return true;
}

static bool key_page_size(struct header_reader *r, char *value)
{
	unsigned int size;

	if (!set_number(&size, value, 1u << 30) || !size || size & (size - 1))
		return false;
	r->trace->header.page_size = size;
	return true;
}

/* These are shown to people, and are words: nothing else is let through. */
static bool set_word(char *word, size_t size, const char *value)
{
	snprintf(word, size, "%s", value);
	for (; *word; word++)
		if (*word <= ' ' || *word > '~')
			*word = '?';
	return *value;
}

static bool key_machine(struct header_reader *r, char *value)
{
	struct trace_header *header = &r->trace->header;

	return set_word(header->machine, sizeof(header->machine), value);
}

static bool key_release(struct header_reader *r, char *value)
{
	struct trace_header *header = &r->trace->header;

	return set_word(header->release, sizeof(header->release), value);
}

static bool key_complete(struct header_reader *r, char *value)
{
	r->trace->header.complete = !strcmp(value, "yes");
	return r->trace->header.complete || !strcmp(value, "no");
}

static bool key_cpus(struct header_reader *r, char *value)
{
	uint64_t cpu;

	while (*value)
		if (!take_number(&value, &cpu) ||
		    !add_cpu(r, &r->cpus, &r->nr_cpus, cpu))
			return false;
	return true;
}

static bool key_lost(struct header_reader *r, char *value)
{
	struct trace_header *header = &r->trace->header;
	uint64_t cpu, events, bytes;

	if (!take_number(&value, &cpu) || !take_number(&value, &events) ||
	    !take_number(&value, &bytes) || *value ||
	    !add_cpu(r, &r->lost_cpus, &r->nr_lost_cpus, cpu))
		return false;
	header->lost_known = true;
	header->lost_events = sat_add(header->lost_events, events);
	header->lost_bytes = sat_add(header->lost_bytes, bytes);
	return true;
}

/* "cpu n ...": add up the n */
static bool add_number(uint64_t *sum, char *value)
{
	uint64_t cpu, n;

	if (!take_number(&value, &cpu) || !take_number(&value, &n))
		return false;
	*sum = sat_add(*sum, n);
	return true;
}

static bool key_span(struct header_reader *r, char *value)
{
	r->trace->header.whole = !strcmp(value, "whole");
	return r->trace->header.whole || !strcmp(value, "part");
}

static bool key_written(struct header_reader *r, char *value)
{
	r->trace->header.written_known = true;
	return add_number(&r->trace->header.written, value);
}

static bool key_earlier(struct header_reader *r, char *value)
{
	return add_number(&r->trace->header.earlier_events, value);
}

static bool key_untold(struct header_reader *r, char *value)
{
	r->trace->header.untold_known = true;
	return add_number(&r->trace->header.untold_events, value);
}

static bool key_begins(struct header_reader *r, char *value)
{
	struct trace_header *header = &r->trace->header;

	header->begins_known = set_number(&header->begins, value, UINT_MAX);
	return header->begins_known;
}

static const struct key {
	const char *name;
	bool (*set)(struct header_reader *r, char *value);
	bool many;
} keys[] = {
	{ "kmemtrace", key_format, false },
	{ "abi_version", key_abi_version, false },
	{ "byte_order", key_byte_order, false },
	{ "word_bits", key_word_bits, false },
	{ "page_size", key_page_size, false },
	{ "machine", key_machine, false },
	{ "release", key_release, false },
	{ "complete", key_complete, false },
	{ "cpus", key_cpus, false },
	{ "lost", key_lost, true },
	{ "span", key_span, false },
	{ "written", key_written, true },
	{ "earlier", key_earlier, true },
	{ "untold", key_untold, true },
	{ "begins", key_begins, false },
};

#define KEY_FORMAT	0
#define KEY_BYTE_ORDER	2

static void read_key(struct header_reader *r, char *line)
{
	char *value = line + strcspn(line, " ");
	size_t i;

	if (*value)
		*value++ = '\0';
	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].name, line))
			break;
	if (i == ARRAY_SIZE(keys))
		return;
	if (!keys[i].many && r->seen & 1u << i) {
		header_complain(r, "\"%s\" a second time", line);
		return;
	}
	if (keys[i].set(r, value))
		r->seen |= 1u << i;
	else
		header_complain(r, "no sense in the value of \"%s\"", line);
}

/* "12 mm/foo.c:123 [module] func:foo" */
static void read_tag(struct header_reader *r, char *line)
{
	struct trace_header *header = &r->trace->header;
	char *where = line, *func;
	struct trace_tag *tag;
	uint64_t index;

	if (!take_number(&where, &index) || index >= MAX_TAGS || !*where) {
		header_complain(r, "not a tag");
		return;
	}
	func = strstr(where, " func:");
	while (index >= r->tags_room) {
		if (!grow(&header->tags, r->tags_room, &r->tags_room,
			  sizeof(*tag))) {
			r->no_memory = true;
			return;
		}
	}
	for (; header->nr_tags <= index; header->nr_tags++)
		header->tags[header->nr_tags] = (struct trace_tag){ .where = NULL };
	tag = &header->tags[index];
	if (tag->where) {
		header_complain(r, "tag %u a second time",
				(unsigned int)index);
		return;
	}
	tag->where = keep_string(r, where, func ? (size_t)(func - where) :
						  strlen(where));
	func = func ? func + strlen(" func:") : "";
	tag->function = keep_string(r, func, strlen(func));
}

/* Only what a call can return to is of use. */
static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* "ffffffff81000000 T name", with "\t[module]" where there is one */
static void read_symbol(struct header_reader *r, char *line)
{
	struct trace_header *header = &r->trace->header;
	struct trace_symbol *symbol;
	char *end, *tab;
	uint64_t addr;

	errno = 0;
	addr = strtoull(line, &end, 16);
	if (errno || !isxdigit((unsigned char)*line) || end[0] != ' ' ||
	    !end[1] || end[2] != ' ' || !end[3]) {
		if (!r->nr_odd++)
			header_complain(r, "not a symbol");
		return;
	}
	/* Without the right to see them all addresses are 0. */
	if (!addr || !is_text(end[1]) || header->nr_symbols == MAX_SYMBOLS)
		return;
	if (!grow(&header->symbols, header->nr_symbols, &r->symbols_room,
		  sizeof(*symbol))) {
		r->no_memory = true;
		return;
	}
	tab = strchr(end + 3, '\t');
	if (tab)
		*tab = ' ';
	symbol = &header->symbols[header->nr_symbols];
	symbol->addr = addr;
	symbol->name = keep_string(r, end + 3, strlen(end + 3));
	if (symbol->name)
		header->nr_symbols++;
}

static void begin_section(struct header_reader *r, const char *name)
{
	r->section = !strcmp(name, "tags") ? SECTION_TAGS :
		     !strcmp(name, "kallsyms") ? SECTION_KALLSYMS :
		     SECTION_OTHER;
	if (r->section != SECTION_OTHER && r->sections & 1u << r->section)
		header_complain(r, "section %s a second time", name);
	r->sections |= 1u << r->section;
}

static void read_line(struct header_reader *r, char *line)
{
	if (!strncmp(line, "section ", 8)) {
		begin_section(r, line + 8);
		return;
	}
	if (!strcmp(line, "end")) {
		r->ended = true;
		return;
	}
	switch (r->section) {
	case SECTION_KEYS:
		read_key(r, line);
		break;
	case SECTION_TAGS:
		read_tag(r, line);
		break;
	case SECTION_KALLSYMS:
		read_symbol(r, line);
		break;
	case SECTION_OTHER:
		break;
	}
}

static int compare_symbols(const void *a, const void *b)
{
	const struct trace_symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	/* offsets still; those of kallsyms come with the best name first */
	if (x->name != y->name)
		return (uintptr_t)x->name < (uintptr_t)y->name ? -1 : 1;
	return 0;
}

static void settle_header(struct header_reader *r)
{
	struct trace_header *header = &r->trace->header;
	size_t i;

	if (header->nr_symbols)
		qsort(header->symbols, header->nr_symbols,
		      sizeof(*header->symbols), compare_symbols);
	for (i = 0; i < header->nr_symbols; i++)
		settle_string(r->trace, &header->symbols[i].name);
	for (i = 0; i < header->nr_tags; i++) {
		settle_string(r->trace, &header->tags[i].where);
		settle_string(r->trace, &header->tags[i].function);
	}
	/* It is complete, so no line is no loss. */
	if (header->complete)
		header->lost_known = true;
	r->nr_line++;
	if (r->nr_odd > 1)
		header_complain(r, "%zu more lines were no symbols",
				r->nr_odd - 1);
	if (r->no_memory)
		header_complain(r, "too large, or out of memory");
	if (!r->ended && r->seen & 1u << KEY_FORMAT)
		header_complain(r, "cut short: no \"end\"");
}

/* Open what is a file, and do not wait for what only looks like one. */
static FILE *open_header(struct trace *trace, const char *name, bool needed)
{
	struct stat st;
	FILE *file;
	int fd;

	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		if (needed || errno != ENOENT)
			complain(&trace->complainer, name, 0, "%s", strerror(errno));
		return NULL;
	}
	file = !fstat(fd, &st) && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
	if (!file) {
		complain(&trace->complainer, name, 0, "not a file that can be read");
		close(fd);
	}
	return file;
}

/* Returns whether it is a header at all. */
static bool read_header(struct header_reader *r)
{
	char *line;

	line = next_line(r);
	if (!line || strncmp(line, "kmemtrace ", 10)) {
		r->nr_line = 1;
		header_complain(r, "not the header of a trace");
		return false;
	}
	do
		read_line(r, line);
	while (!r->ended && !r->no_memory && (line = next_line(r)));
	if (ferror(r->file))
		header_complain(r, "%s", strerror(errno));
	settle_header(r);
	return true;
}

/* Byte order */

static uint16_t load16(const void *p, bool swap)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t load32(const void *p, bool swap)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t load64(const void *p, bool swap)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return swap ? __builtin_bswap64(v) : v;
}

static bool sane_size(unsigned int size)
{
	return size >= sizeof(struct kmemtrace_event) &&
	       size % KMEMTRACE_ALIGN == 0;
}

/*
 * The size of a record is small, so read in the wrong order it is large, or no
 * multiple of 8.
 */
static bool guess_swap(const uint8_t *record)
{
	unsigned int here = load16(record + 2, false);
	unsigned int there = load16(record + 2, true);

	return sane_size(there) && (!sane_size(here) || there < here);
}

/* Streams */

/* Have @need bytes at the head, if the file has as many. */
static bool fill(struct trace *trace, struct stream *s, size_t need)
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
static void end_stream(struct stream *s)
{
	close_fd(s->fd);
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
static bool find_head(struct trace *trace, struct stream *s)
{
	unsigned int size, left;
	uint64_t offset;

	for (;;) {
		if (!fill(trace, s, sizeof(struct kmemtrace_event)))
			break;
		size = load16(s->buf + s->pos + 2, trace->swap);
		offset = s->base + s->pos;
		if (!sane_size(size)) {
			complain(&trace->complainer, s->name, offset,
				 "a record of %u bytes; the file is not read further",
				 size);
			goto end;
		}
		if (!fill(trace, s, size))
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
	end_stream(s);
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
	choose(trace, !find_head(trace, s));
	return true;
}

/*
 * All heads are found: give the first of each its place. The earliest is that
 * which no other is before, by way of the shorter distance.
 */
static void begin_merge(struct trace *trace)
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

/* Opening */

bool trace_is_cpu_file(const char *name, unsigned int *cpu)
{
	char again[32];

	if (sscanf(name, "cpu%5u.out", cpu) != 1 || *cpu >= TRACE_MAX_CPUS)
		return false;
	snprintf(again, sizeof(again), "cpu%u.out", *cpu);
	return !strcmp(name, again);
}

const char *trace_default_directory(void)
{
	return access("header", F_OK) ? TRACE_DIRECTORY : ".";
}

static char *join(const char *dir, size_t len, const char *name)
{
	char *path;

	if (asprintf(&path, "%.*s%s%s", (int)len, dir,
		     len && dir[len - 1] != '/' ? "/" : "", name) < 0)
		return NULL;
	return path;
}

static int compare_streams(const void *a, const void *b)
{
	const struct stream *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static bool add_stream(struct trace *trace, size_t *room, char *name,
		       unsigned int cpu)
{
	if (!name || !grow(&trace->streams, trace->nr_streams, room,
			   sizeof(*trace->streams))) {
		free(name);
		return false;
	}
	trace->streams[trace->nr_streams++] = (struct stream){
		.name = name,
		.fd = -1,
		.cpu = cpu,
	};
	return true;
}

static bool find_streams(struct trace *trace, const char *dir)
{
	struct dirent *entry;
	unsigned int cpu;
	size_t room = 0;
	bool ok = true;
	DIR *d;

	d = opendir(dir);
	if (!d) {
		complain(&trace->complainer, dir, 0, "%s", strerror(errno));
		return false;
	}
	while (ok && trace->nr_streams < TRACE_MAX_CPUS && (entry = readdir(d)))
		if (trace_is_cpu_file(entry->d_name, &cpu))
			ok = add_stream(trace, &room,
					join(dir, strlen(dir), entry->d_name),
					cpu);
	closedir(d);
	if (!ok) {
		complain(&trace->complainer, dir, 0, "out of memory");
		return false;
	}
	if (trace->nr_streams)
		qsort(trace->streams, trace->nr_streams,
		      sizeof(*trace->streams), compare_streams);
	return true;
}

/* A machine of many CPUs has more files than a process may have by default. */
static void allow_files(size_t nr)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= nr + 64)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static size_t buffer_size(const struct trace *trace, uint64_t file_size)
{
	size_t size = BUFFERS / trace->nr_streams;

	if (size > BUFFER_MAX)
		size = BUFFER_MAX;
	if (size > file_size)
		size = file_size;
	return size < BUFFER_MIN ? BUFFER_MIN : size;
}

static bool open_stream(struct trace *trace, struct stream *s, int flags)
{
	struct stat st;

	s->fd = open(s->name, O_RDONLY | O_CLOEXEC | flags);
	if (s->fd < 0 || fstat(s->fd, &st)) {
		complain(&trace->complainer, s->name, 0, "%s", strerror(errno));
		end_stream(s);
		return false;
	}
	/* Without waiting a pipe looks empty. */
	if (flags & O_NONBLOCK && !S_ISREG(st.st_mode)) {
		complain(&trace->complainer, s->name, 0, "not a regular file");
		end_stream(s);
		return false;
	}
	s->size = buffer_size(trace, S_ISREG(st.st_mode) ? (uint64_t)st.st_size :
							    BUFFER_MAX);
	posix_fadvise(s->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	return true;
}

/* Without a header, or where it does not say. */
static void guess_byte_order(struct trace *trace)
{
	struct stream *s;
	bool swap = false;
	size_t i;

	for (i = 0; i < trace->nr_streams; i++) {
		s = &trace->streams[i];
		if (!s->eof &&
		    fill(trace, s, sizeof(struct kmemtrace_event))) {
			swap = guess_swap(s->buf);
			break;
		}
	}
	trace->header.big_endian = native_big_endian() != swap;
}

/* Returns whether any could be opened, or there are none. */
static bool open_streams(struct trace *trace, bool order_known, int flags)
{
	bool any = !trace->nr_streams;
	size_t i;

	allow_files(trace->nr_streams);
	trace->heap.items = calloc(trace->nr_streams + 1, sizeof(void *));
	if (!trace->heap.items)
		return false;
	for (i = 0; i < trace->nr_streams; i++)
		any |= open_stream(trace, &trace->streams[i], flags);
	if (!order_known)
		guess_byte_order(trace);
	trace->swap = trace->header.big_endian != native_big_endian();
	for (i = 0; i < trace->nr_streams; i++)
		if (find_head(trace, &trace->streams[i]))
			trace->heap.items[trace->heap.nr++] = &trace->streams[i];
	begin_merge(trace);
	return any;
}

static bool has_stream(const struct trace *trace, unsigned int cpu)
{
	struct stream key = { .cpu = cpu };

	return trace->nr_streams &&
	       bsearch(&key, trace->streams, trace->nr_streams,
		       sizeof(key), compare_streams);
}

static void find_missing(struct header_reader *r)
{
	size_t i;

	for (i = 0; i < r->nr_cpus; i++)
		if (!has_stream(r->trace, r->cpus[i]))
			complain(&r->trace->complainer, r->name, 0,
				 "the trace has a cpu%u.out, which is not here",
				 r->cpus[i]);
}

static struct trace *new_trace(complain_fn *fn, void *data)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	if (!trace) {
		if (fn)
			fn("", 0, "out of memory", data);
		return NULL;
	}
	trace->complainer = (struct complainer){ fn, data };
	trace->header.word_bits = 64;
	trace->header.page_size = 4096;
	trace->header.big_endian = native_big_endian();
	return trace;
}

/* Read the header. It may lack only where it is not needed. */
static bool begin_header(struct header_reader *r, struct trace *trace, char *name,
			 bool needed)
{
	bool ok;

	*r = (struct header_reader){ .trace = trace, .name = name };
	r->line = calloc(1, MAX_LINE);
	if (!name || !r->line) {
		complain(&trace->complainer, name ? name : "", 0, "out of memory");
		return false;
	}
	r->file = open_header(trace, name, needed);
	if (!r->file)
		return !needed;
	ok = read_header(r);
	fclose(r->file);
	if (ok && !(r->seen & 1u << KEY_BYTE_ORDER))
		complain(&trace->complainer, name, 0, "no byte order; it is guessed");
	return ok || !needed;
}

static void end_header(struct header_reader *r)
{
	free(r->line);
	free(r->cpus);
	free(r->lost_cpus);
	free((char *)r->name);
}

struct trace *trace_open(const char *dir, complain_fn *fn, void *data)
{
	struct trace *trace = new_trace(fn, data);
	struct header_reader r;
	bool ok;

	if (!trace)
		return NULL;
	ok = begin_header(&r, trace, join(dir, strlen(dir), "header"), true) &&
	     find_streams(trace, dir);
	if (ok) {
		find_missing(&r);
		ok = open_streams(trace, r.seen & 1u << KEY_BYTE_ORDER,
				  O_NONBLOCK);
	}
	end_header(&r);
	if (!ok) {
		trace_close(trace);
		return NULL;
	}
	return trace;
}

struct trace *trace_open_file(const char *path, complain_fn *fn,
			      void *data)
{
	struct trace *trace = new_trace(fn, data);
	const char *base = strrchr(path, '/');
	struct header_reader r;
	unsigned int cpu = 0;
	size_t room = 0;
	bool ok;

	if (!trace)
		return NULL;
	base = base ? base + 1 : path;
	if (!trace_is_cpu_file(base, &cpu))
		cpu = 0;
	begin_header(&r, trace, join(path, base - path, "header"), false);
	ok = add_stream(trace, &room, strdup(path), cpu) &&
	     open_streams(trace, r.seen & 1u << KEY_BYTE_ORDER, 0);
	end_header(&r);
	if (!ok) {
		trace_close(trace);
		return NULL;
	}
	return trace;
}

const struct trace_header *trace_header(const struct trace *trace)
{
	return &trace->header;
}

const struct trace_symbol *trace_symbol(const struct trace_header *header,
					uint64_t addr, uint64_t *offset)
{
	const struct trace_symbol *symbols = header->symbols;
	size_t low = 0, high = header->nr_symbols, mid;

	/* the first that is after @addr */
	while (low < high) {
		mid = low + (high - low) / 2;
		if (symbols[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || addr - symbols[low - 1].addr >= MAX_FUNCTION)
		return NULL;
	low--;
	while (low && symbols[low - 1].addr == symbols[low].addr)
		low--;
	if (offset)
		*offset = addr - symbols[low].addr;
	return &symbols[low];
}

void trace_close(struct trace *trace)
{
	size_t i;

	if (!trace)
		return;
	for (i = 0; i < trace->nr_streams; i++) {
		end_stream(&trace->streams[i]);
		free(trace->streams[i].name);
	}
	free(trace->streams);
	free(trace->heap.items);
	free(trace->header.tags);
	free(trace->header.symbols);
	free(trace->strings);
	free(trace);
}
