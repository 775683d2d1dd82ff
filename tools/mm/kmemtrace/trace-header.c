// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading the file "header" of a trace, see trace-header.h.
 *
 * The header is text: lines of a key and its value, then sections. Sections and keys
 * that this program does not know are skipped. Everything in it may be damaged, so every
 * number, size and index is checked before it is used.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "number.h"
#include "trace-header.h"
#include "util.h"

/* Data */

#define MIB		(1024u * 1024u)

#define MAX_TAGS	65536u
#define MAX_SYMBOLS	(8 * MIB)
/* bytes of all strings of a header */
#define MAX_STRINGS	(1024 * MIB)
/* bytes of a line of a header; "cpus" of 8192 CPUs fits */
#define MAX_LINE	65536u
/* No function is longer, so an address farther behind a symbol belongs to no symbol. */
#define MAX_FUNCTION	MIB

enum section { SECTION_KEYS, SECTION_TAGS, SECTION_KALLSYMS, SECTION_OTHER };

struct header_reader {
	struct header_file *to;
	struct trace_header *header;
	const struct complainer *complainer;
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
	uint32_t *lost_cpus;
	size_t nr_lost_cpus;
	size_t nr_odd;		/* lines of kallsyms that are no symbols */
};

static void __printf(2, 3) header_complain(struct header_reader *r,
					   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vcomplain(r->complainer, r->to->name, r->nr_line, format, args);
	va_end(args);
}

/*
 * Strings move while the header is read, so until its end a pointer to a string contains
 * its offset. The offsets rise from line to line, which gives symbols of the same address
 * a fixed order when they are sorted.
 */
static char *keep_string(struct header_reader *r, const char *s, size_t len)
{
	struct trace_header *header = r->header;
	size_t at = r->strings_len ? r->strings_len : 1;
	size_t room;
	char *p;

	if (at + len + 1 > r->strings_room) {
		room = 2 * r->strings_room + len + 4096;
		p = room <= MAX_STRINGS ? realloc(header->strings, room) : NULL;
		if (!p) {
			r->no_memory = true;
			return NULL;
		}
		p[0] = '\0';
		header->strings = p;
		r->strings_room = room;
	}
	memcpy(header->strings + at, s, len);
	header->strings[at + len] = '\0';
	r->strings_len = at + len + 1;
	return (char *)(uintptr_t)at;
}

static void settle_string(const struct trace_header *header, char **s)
{
	if (*s)
		*s = header->strings + (uintptr_t)*s;
}

/*
 * Read a line without its newline; NULL after the last line. A line that is too long is
 * reported and cut, and a line ends at a NUL byte.
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
	/* After a NUL byte it is unknown whether fgets() has read the whole line. */
	if (len < MAX_LINE - 1 && memchr(r->line + len, '\n', MAX_LINE - 1 - len))
		return r->line;
	do {
		c = getc_unlocked(r->file);
	} while (c != EOF && c != '\n');
	return r->line;
}

/* Read a number that is a word of its own, and move @s after it. */
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
	return set_number(&r->header->abi_version, value, UINT_MAX);
}

static bool key_byte_order(struct header_reader *r, char *value)
{
	r->header->big_endian = !strcmp(value, "big");
	return r->header->big_endian || !strcmp(value, "little");
}

static bool key_word_bits(struct header_reader *r, char *value)
{
	unsigned int bits;

	if (!set_number(&bits, value, 64) || (bits != 32 && bits != 64))
		return false;
	r->header->word_bits = bits;
	return true;
}

static bool key_page_size(struct header_reader *r, char *value)
{
	unsigned int size;

	if (!set_number(&size, value, 1u << 30) || !size || size & (size - 1))
		return false;
	r->header->page_size = size;
	return true;
}

/* Programs print these words, so only printable ASCII is accepted. */
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
	struct trace_header *header = r->header;

	return set_word(header->machine, sizeof(header->machine), value);
}

static bool key_release(struct header_reader *r, char *value)
{
	struct trace_header *header = r->header;

	return set_word(header->release, sizeof(header->release), value);
}

static bool key_complete(struct header_reader *r, char *value)
{
	r->header->complete = !strcmp(value, "yes");
	return r->header->complete || !strcmp(value, "no");
}

static bool key_cpus(struct header_reader *r, char *value)
{
	uint64_t cpu;

	while (*value)
		if (!take_number(&value, &cpu) ||
		    !add_cpu(r, &r->to->cpus, &r->to->nr_cpus, cpu))
			return false;
	return true;
}

static bool key_lost(struct header_reader *r, char *value)
{
	struct trace_header *header = r->header;
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

/* Add the number in "cpu number ..." to @sum. */
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
	r->header->whole = !strcmp(value, "whole");
	return r->header->whole || !strcmp(value, "part");
}

static bool key_written(struct header_reader *r, char *value)
{
	r->header->written_known = true;
	return add_number(&r->header->written, value);
}

static bool key_earlier(struct header_reader *r, char *value)
{
	return add_number(&r->header->earlier_events, value);
}

static bool key_untold(struct header_reader *r, char *value)
{
	r->header->untold_known = true;
	return add_number(&r->header->untold_events, value);
}

static bool key_begins(struct header_reader *r, char *value)
{
	struct trace_header *header = r->header;

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
		header_complain(r, "invalid value of \"%s\"", line);
}

/* "12 mm/foo.c:123 [module] func:foo" */
static void read_tag(struct header_reader *r, char *line)
{
	struct trace_header *header = r->header;
	char *where = line, *func;
	struct trace_tag *tag;
	uint64_t index;

	if (!take_number(&where, &index) || index >= MAX_TAGS || !*where) {
		header_complain(r, "not a tag");
		return;
	}
	func = strstr(where, " func:");
	while (index >= r->tags_room) {
		if (!try_grow(&header->tags, r->tags_room, &r->tags_room,
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

/* Only code can be a call site. */
static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* "ffffffff81000000 T name", followed by "\t[module]" if it is in a module */
static void read_symbol(struct header_reader *r, char *line)
{
	struct trace_header *header = r->header;
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
	/* The kernel shows all addresses as 0 to unprivileged readers. */
	if (!addr || !is_text(end[1]) || header->nr_symbols == MAX_SYMBOLS)
		return;
	if (!try_grow(&header->symbols, header->nr_symbols, &r->symbols_room,
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
	/* These are still offsets. kallsyms lists the best name of an address first. */
	if (x->name != y->name)
		return (uintptr_t)x->name < (uintptr_t)y->name ? -1 : 1;
	return 0;
}

static void settle_header(struct header_reader *r)
{
	struct trace_header *header = r->header;
	size_t i;

	if (header->nr_symbols)
		qsort(header->symbols, header->nr_symbols,
		      sizeof(*header->symbols), compare_symbols);
	for (i = 0; i < header->nr_symbols; i++)
		settle_string(header, &header->symbols[i].name);
	for (i = 0; i < header->nr_tags; i++) {
		settle_string(header, &header->tags[i].where);
		settle_string(header, &header->tags[i].function);
	}
	/* In a complete header, a CPU without a line lost nothing. */
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

/* Open a regular file. O_NONBLOCK prevents waiting for the writer of a pipe. */
static FILE *open_header(const char *name, bool needed, const struct complainer *to)
{
	struct stat st;
	FILE *file;
	int fd;

	fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		if (needed || errno != ENOENT)
			complain(to, name, 0, "%s", strerror(errno));
		return NULL;
	}
	file = !fstat(fd, &st) && S_ISREG(st.st_mode) ? fdopen(fd, "r") : NULL;
	if (!file) {
		complain(to, name, 0, "not a file that can be read");
		close(fd);
	}
	return file;
}

/* Returns false if the file is not a header. */
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

/* Interface */

/**
 * header_read - read the header of a trace
 * @file: @name and @header are set; the rest is the result
 * @needed: a trace without a header cannot be read
 * @to: receives complaints
 *
 * Return: true if there is a header, or if none is needed.
 */
bool header_read(struct header_file *file, bool needed, const struct complainer *to)
{
	struct header_reader r = { .to = file, .header = file->header, .complainer = to };
	bool ok;

	r.line = calloc(1, MAX_LINE);
	if (!file->name || !r.line) {
		complain(to, file->name ? file->name : "", 0, "out of memory");
		free(r.line);
		return false;
	}
	r.file = open_header(file->name, needed, to);
	ok = r.file && read_header(&r);
	if (r.file)
		fclose(r.file);
	free(r.line);
	free(r.lost_cpus);
	file->byte_order_known = r.seen & 1u << KEY_BYTE_ORDER;
	if (ok && !file->byte_order_known)
		complain(to, file->name, 0, "no byte order; it is guessed");
	return ok || !needed;
}

/**
 * header_free - free what is only needed while a trace is opened
 * @file: from header_read(); its @header stays
 */
void header_free(struct header_file *file)
{
	free(file->name);
	free(file->cpus);
}

const struct trace_symbol *trace_symbol(const struct trace_header *header,
					uint64_t addr, uint64_t *offset)
{
	const struct trace_symbol *symbols = header->symbols;
	size_t low = 0, high = header->nr_symbols, mid;

	/* find the first symbol after @addr */
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
