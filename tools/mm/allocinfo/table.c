// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading /proc/allocinfo, see table.h.
 *
 * The parser works in the buffer that read() filled: it ends each word with a NUL and
 * keeps pointers, so nothing is copied. Records become lines of text first, so there is
 * one parser.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "number.h"
#include "table.h"
#include "utf8.h"
#include "util.h"

#define HEADING		"allocinfo - version: "
/* Each read() of procfs returns whole lines, as many as fit. */
#define READ_SIZE	1048576u
/* Longest line of a record: two numbers, three names, the line number, the words. */
#define RECORD_SIZE	(3 * ALLOCINFO_STR_SIZE + 128)

static void make_room(struct table *table, size_t size)
{
	size_t room = table->text_room;

	if (size < room)
		return;
	while (room <= size)
		room = room ? room * 2 : READ_SIZE;
	table->text = need_more(table->text, room, 1);
	table->text_room = room;
}

/**
 * table_read - read the text of /proc/allocinfo
 * @table: receives the text; table_parse() must follow
 * @fd: open file, read from its position to its end
 *
 * Return: 0, or a negative errno.
 */
int table_read(struct table *table, int fd)
{
	ssize_t got;

	table->size = 0;
	do {
		make_room(table, table->size + READ_SIZE);
		got = read(fd, table->text + table->size, READ_SIZE);
		if (got > 0)
			table->size += got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	table->text[table->size] = '\0';
	return got < 0 ? -errno : 0;
}

/**
 * table_set_text - use a text that is in memory
 * @table: receives a copy; table_parse() must follow
 * @text: the text
 * @size: its length in bytes
 */
void table_set_text(struct table *table, const char *text, size_t size)
{
	make_room(table, size);
	memcpy(table->text, text, size);
	table->size = size;
	table->text[size] = '\0';
}

static void __printf(2, 3) add_text(struct table *table, const char *format, ...)
{
	va_list args;
	int len;

	make_room(table, table->size + RECORD_SIZE);
	va_start(args, format);
	len = vsnprintf(table->text + table->size, RECORD_SIZE, format, args);
	va_end(args);
	table->size += len < (int)RECORD_SIZE ? len : (int)RECORD_SIZE - 1;
}

static void add_record(struct table *table, const struct allocinfo_tag_data *record)
{
	const struct allocinfo_tag *tag = &record->tag;
	bool module = tag->modname[0];

	add_text(table, "%" PRId64 " %" PRId64 " %s:%" PRIu64 "%s%s%s func:%s%s\n",
		 (int64_t)record->counter.bytes, (int64_t)record->counter.calls,
		 tag->filename, (uint64_t)tag->lineno, module ? " [" : "", tag->modname,
		 module ? "]" : "", tag->function,
		 record->counter.accurate ? "" : " accurate:no");
}

/**
 * table_read_records - read the records of /proc/allocinfo
 * @table: receives them as text; table_parse() must follow
 * @fd: /proc/allocinfo
 * @filter: the records to read; NULL for all
 *
 * A name of more than 63 bytes lacks its beginning in a record, but not in the text of
 * the file.
 *
 * Return: 0, or a negative errno: ENOTTY if the kernel has no records.
 */
int table_read_records(struct table *table, int fd, const struct allocinfo_filter *filter)
{
	struct allocinfo_get_at at = { 0 };
	int err;

	table->size = 0;
	if (filter)
		at.filter = *filter;
	add_text(table, HEADING "%u.0\n", TABLE_MAJOR);
	err = ioctl(fd, ALLOCINFO_IOC_GET_AT, &at);
	while (!err) {
		add_record(table, &at.data);
		err = ioctl(fd, ALLOCINFO_IOC_GET_NEXT, &at.data);
	}
	return errno == ENOENT ? 0 : -errno;
}

static char *skip_blanks(char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/* Ends the word at @p and returns the start of the next one. */
static char *word_end(char *p)
{
	p = strchrnul(p, ' ');
	while (*p == ' ')
		*p++ = '\0';
	return p;
}

static bool take_number(char **p, uint64_t most, int64_t *count)
{
	bool negative = **p == '-';
	const char *end;
	uint64_t value;

	if (!number_take(*p + negative, &value, &end) || *end != ' ' ||
	    value > (negative ? INT64_MAX : most))
		return false;
	*count = negative ? -(int64_t)value : (int64_t)value;
	*p = skip_blanks((char *)end);
	return true;
}

/**
 * table_take_count - take a number from a line
 * @p: where the number begins; moves to the next word
 * @count: receives the number
 *
 * Return: false if there is none.
 */
bool table_take_count(char **p, int64_t *count)
{
	return take_number(p, INT64_MAX, count);
}

/* Mainline prints a number of calls that is below 0 as 2^64 more. */
static bool take_calls(char **p, int64_t *calls)
{
	return take_number(p, UINT64_MAX, calls);
}

/* Takes file and line from "file:line". A file name may contain colons, too. */
static bool take_place(char *word, struct site *site)
{
	char *colon = strrchr(word, ':');
	uint64_t line;

	if (!colon || colon == word || !number_parse(colon + 1, UINT32_MAX, &line))
		return false;
	*colon = '\0';
	site->file = word;
	site->line = line;
	return true;
}

/* A word that is not known is skipped: a newer kernel may have more of them. */
static void take_word(char *word, struct site *site)
{
	size_t len = strlen(word);

	if (*word == '[' && word[len - 1] == ']') {
		word[len - 1] = '\0';
		site->module = word + 1;
	} else if (!strncmp(word, "func:", 5)) {
		site->func = word + 5;
	} else if (!strcmp(word, "accurate:no")) {
		site->accurate = false;
	}
}

static void take_words(char *p, struct site *site)
{
	char *word;

	while (*p) {
		word = p;
		p = word_end(p);
		take_word(word, site);
	}
}

static bool take_counts(char **p, struct site *site, size_t nr, void *data)
{
	(void)nr;
	(void)data;
	return table_take_count(p, &site->bytes) && take_calls(p, &site->calls);
}

static bool parse_line(char *p, struct site *site, size_t nr,
		       const struct table_format *format)
{
	/* no literal, because a user may clean the names in place */
	static char none[1];
	char *place;

	*site = (struct site) { .module = none, .func = none, .accurate = true };
	p = skip_blanks(p);
	if (!format->take(&p, site, nr, format->data))
		return false;
	place = p;
	p = word_end(p);
	if (!take_place(place, site))
		return false;
	take_words(p, site);
	return true;
}

static bool parse_heading(struct table *table, const char *line, const char *heading)
{
	size_t len = strlen(heading);
	const char *end;
	uint64_t major, minor;

	if (strncmp(line, heading, len) ||
	    !number_take(line + len, &major, &end) || *end != '.' ||
	    !number_parse(end + 1, UINT32_MAX, &minor) || major > UINT32_MAX)
		return false;
	table->major = major;
	table->minor = minor;
	return true;
}

/* Returns the next line, ended with a NUL in place of its newline; NULL at the end. */
static char *next_line(struct table *table, char **at)
{
	char *line = *at, *end = table->text + table->size, *newline;

	if (line >= end)
		return NULL;
	newline = memchr(line, '\n', end - line);
	if (!newline)
		newline = end;
	*newline = '\0';
	*at = newline + 1;
	return line;
}

static void add_line(struct table *table, const struct table_format *format, char *line,
		     const char *name, uint64_t nr, const struct complainer *to)
{
	if (table->nr == table->room) {
		table->room = table->room ? table->room * 2 : 1024;
		table->sites = need_more(table->sites, table->room, sizeof(*table->sites));
	}
	if (parse_line(line, &table->sites[table->nr], table->nr, format)) {
		table->nr++;
	} else {
		table->damaged++;
		complain(to, name, nr, "not a line of %s", format->file);
	}
}

/**
 * table_parse_as - find the call sites in a text of some format
 * @table: its text is parsed, and it receives the call sites, whose names are in this text
 * @format: the format
 * @name: name of the file, for complaints
 * @to: receives complaints about lines that are damaged, with their number
 *
 * Return: false if the first lines of the text are not the heading that @format describes.
 */
bool table_parse_as(struct table *table, const struct table_format *format, const char *name,
		    const struct complainer *to)
{
	char *at = table->text, *line;
	uint64_t nr = 1;

	table->nr = 0;
	table->damaged = 0;
	line = next_line(table, &at);
	if (!line || !parse_heading(table, line, format->heading)) {
		complain(to, name, 1, "not a copy of %s", format->file);
		return false;
	}
	if (table->major > format->major)
		complain(to, name, 1, "version %u.%u of the format is newer than this program",
			 table->major, table->minor);
	while ((line = next_line(table, &at))) {
		nr++;
		if (*line && *line != '#')
			add_line(table, format, line, name, nr, to);
	}
	return true;
}

/**
 * table_parse - find the call sites in the text of /proc/allocinfo
 * @table: its text is parsed, and it receives the call sites, whose names are in this text
 * @name: name of the file, for complaints
 * @to: receives complaints about lines that are damaged, with their number
 *
 * Return: false if the first lines of the text are not the heading of /proc/allocinfo.
 */
bool table_parse(struct table *table, const char *name, const struct complainer *to)
{
	static const struct table_format format = {
		.file = "/proc/allocinfo",
		.heading = HEADING,
		.major = TABLE_MAJOR,
		.take = take_counts,
	};

	return table_parse_as(table, &format, name, to);
}

/* The strings of call sites are in the text of the table, except empty ones. */
static void clean(const char *name)
{
	if (*name)
		clean_name((char *)name);
}

/**
 * table_clean - make the names of the call sites safe for a terminal and valid UTF-8
 * @table: the table; names may become equal
 */
void table_clean(struct table *table)
{
	size_t i;

	for (i = 0; i < table->nr; i++) {
		clean(table->sites[i].file);
		clean(table->sites[i].func);
		clean(table->sites[i].module);
	}
}

/**
 * table_free - free the memory of a table
 * @table: the table; it is all zero again
 */
void table_free(struct table *table)
{
	free(table->sites);
	free(table->text);
	*table = (struct table) { 0 };
}

/**
 * site_compare - order of call sites by file, line, module and function
 * @a: a call site
 * @b: another
 *
 * Return: below 0, 0 or above 0, as strcmp(). 0 means the same call site in two tables
 * of one kernel.
 */
int site_compare(const struct site *a, const struct site *b)
{
	int order = strcmp(a->file, b->file);

	if (!order)
		order = (a->line > b->line) - (a->line < b->line);
	if (!order)
		order = strcmp(a->module, b->module);
	return order ? order : strcmp(a->func, b->func);
}

/**
 * site_hash - hash of what site_compare() compares
 * @site: the call site
 *
 * Return: the hash.
 */
uint64_t site_hash(const struct site *site)
{
	return hash_string(site->file) ^
	       hash_u64(hash_string(site->func) + hash_u64(site->line)) ^
	       hash_u64(hash_string(site->module) + 1);
}
