// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots as text, see snap-text.h.
 *
 * A snapshot ends before the next line "# time". The last one may be cut, or may still be
 * written. So it is left out if its last line has no end, or if it has fewer lines than the
 * one before it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "number.h"
#include "snap-text.h"
#include "util.h"

/* Data */

#define TIME_LINE	"# time "
#define NSEC		UINT64_C(1000000000)

struct text {
	char *text;
	size_t size;
	size_t room;
};

struct snap_text {
	FILE *file;
	char *line;
	size_t line_room;
	ssize_t line_size;	/* of a line that was read but not used; 0 if none */
	bool cut;		/* the last line has no end */
	int err;		/* why a line could not be read */
	uint64_t nr;
	uint64_t lines;		/* of the last snapshot */
	struct text meminfo;
	struct text allocinfo;
};

/* Internals */

static void append(struct text *to, const char *text, size_t size)
{
	while (to->size + size + 1 > to->room) {
		to->room = to->room ? 2 * to->room : 65536;
		to->text = need_more(to->text, to->room, 1);
	}
	memcpy(to->text + to->size, text, size);
	to->size += size;
	to->text[to->size] = '\0';
}

static bool next_line(struct snap_text *reader)
{
	if (!reader->line_size) {
		reader->line_size = getline(&reader->line, &reader->line_room, reader->file);
		reader->err = ferror(reader->file) ? errno : 0;
	}
	if (reader->line_size > 0 && reader->line[reader->line_size - 1] == '\n')
		return true;
	reader->cut = reader->line_size > 0;
	reader->line_size = 0;
	return false;
}

static bool is_time(const char *line, uint64_t *time)
{
	const char *end;

	if (strncmp(line, TIME_LINE, strlen(TIME_LINE)))
		return false;
	return number_take(line + strlen(TIME_LINE), time, &end) && *time < UINT64_MAX / NSEC;
}

/* Find the line with which the next snapshot begins. */
static bool find_begin(struct snap_text *reader, uint64_t *time)
{
	for (; next_line(reader); reader->line_size = 0) {
		if (is_time(reader->line, time)) {
			reader->line_size = 0;
			return true;
		}
	}
	return false;
}

static bool is_meminfo(const char *line)
{
	size_t key = strcspn(line, ": \t");

	return key && line[key] == ':';
}

/* Take the lines up to the next snapshot, or to the end of the file. */
static void take_lines(struct snap_text *reader)
{
	bool table = false;
	uint64_t next;

	reader->lines = 0;
	reader->meminfo.size = 0;
	reader->allocinfo.size = 0;
	append(&reader->meminfo, "", 0);
	append(&reader->allocinfo, "", 0);
	for (; next_line(reader) && !is_time(reader->line, &next); reader->line_size = 0) {
		table = table || !is_meminfo(reader->line);
		append(table ? &reader->allocinfo : &reader->meminfo, reader->line,
		       reader->line_size);
		reader->lines++;
	}
}

/* Interface */

/**
 * snap_text_open - open a file of snapshots as text
 * @path: path of the file; "-" is standard input
 *
 * Return: the reader, or NULL with errno.
 */
struct snap_text *snap_text_open(const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	struct snap_text *reader;

	if (!file)
		return NULL;
	reader = need_memory(1, sizeof(*reader));
	reader->file = file;
	return reader;
}

/**
 * snap_text_next - read the next snapshot of a text
 * @reader: the reader
 * @snap: the snapshot, valid until the next call; without a header
 *
 * Return: false after the last one.
 */
bool snap_text_next(struct snap_text *reader, struct snap *snap)
{
	uint64_t time, lines = reader->lines;

	if (!find_begin(reader, &time))
		return false;
	take_lines(reader);
	if (!reader->line_size && (reader->cut || reader->lines < lines))
		return false;
	*snap = (struct snap){
		.nr = reader->nr++,
		.time = time * NSEC,
		.boottime = time * NSEC,
		.meminfo = reader->meminfo.text,
		.meminfo_size = reader->meminfo.size,
		.allocinfo = reader->allocinfo.text,
		.allocinfo_size = reader->allocinfo.size,
	};
	return true;
}

/**
 * snap_text_close - free a reader
 * @reader: the reader
 *
 * Return: true; or false with errno, if the end of the file could not be read.
 */
bool snap_text_close(struct snap_text *reader)
{
	int err = reader->err;

	if (reader->file != stdin)
		fclose(reader->file);
	free(reader->line);
	free(reader->meminfo.text);
	free(reader->allocinfo.text);
	free(reader);
	errno = err;
	return !err;
}
