// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sorting records by time, see sort.h.
 *
 * The device delivers records in pieces, each from one CPU. A piece may begin any time
 * before the end of the previous one, so no look-ahead is long enough for every log. So
 * records are collected until the memory is full, then sorted and written to a temporary
 * file as a run; at the end the runs are merged. A log that fits into memory needs no file.
 *
 * The order is total, by time and then by the place in the input. The place within a run
 * is the offset in memory, and the place of a run is its number.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap.h"
#include "record.h"
#include "sort.h"
#include "util.h"

/* Data */

/* Size of the window of each run during the merge. The largest record must fit. */
#define WINDOW_SIZE	(128u * 1024)

struct item {
	uint64_t time;
	uint32_t at;
};

/**
 * struct run - sorted records in the file
 * @begin: offset in the file of the part that is not read yet
 * @end: offset in the file of the end of the run
 * @window: the part that was read
 * @at: offset of the next record in @window
 * @fill: number of bytes in @window
 * @time: time of the next record
 */
struct run {
	uint64_t begin;
	uint64_t end;
	uint8_t *window;
	size_t at;
	size_t fill;
	uint64_t time;
};

/**
 * struct sorter - records to be sorted, see the top of the file
 * @memory: limit for the records in @data and for @items, in bytes
 * @data: records in memory
 * @used: number of bytes in @data
 * @room: size of @data
 * @items: time of each record and its offset in @data
 * @nr: number of @items
 * @items_room: number of @items that fit
 * @file: temporary file with the runs, or NULL
 * @file_size: size of @file
 * @runs: runs in @file
 * @nr_runs: number of @runs
 * @heap: runs; the run with the first record is at the top
 */
struct sorter {
	size_t memory;
	uint8_t *data;
	size_t used;
	size_t room;
	struct item *items;
	size_t nr;
	size_t items_room;
	FILE *file;
	uint64_t file_size;
	struct run *runs;
	uint32_t nr_runs;
	struct heap heap;
};

/* Internals: in memory */

static int by_time(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static void sort_items(struct sorter *s)
{
	size_t i;

	for (i = 1; i < s->nr; i++) {
		if (by_time(&s->items[i - 1], &s->items[i]) > 0)
			break;
	}
	if (i < s->nr)
		qsort(s->items, s->nr, sizeof(*s->items), by_time);
}

static bool is_full(const struct sorter *s, size_t size)
{
	return s->used + size + (s->nr + 1) * sizeof(*s->items) > s->memory;
}

static void make_room(struct sorter *s, size_t size)
{
	if (s->used + size > s->room) {
		while (s->used + size > s->room)
			s->room = s->room ? s->room * 2 : RECORD_MAX;
		s->data = need_more(s->data, s->room, 1);
	}
	if (s->nr == s->items_room) {
		s->items_room = s->items_room ? s->items_room * 2 : 1024;
		s->items = need_more(s->items, s->items_room, sizeof(*s->items));
	}
}

/* Internals: the file */

static bool report_error(const char *what)
{
	fprintf(stderr, "%s: temporary file: %s: %s\n", program_invocation_short_name, what,
		strerror(errno));
	return false;
}

static FILE *temp_file(void)
{
	const char *dir = getenv("TMPDIR");
	FILE *file = NULL;
	char *name;
	int fd;

	if (asprintf(&name, "%s/kmonparse.XXXXXX", dir && *dir ? dir : "/tmp") < 0)
		return NULL;
	fd = mkstemp(name);
	if (fd >= 0) {
		unlink(name);
		file = fdopen(fd, "w+");
	}
	free(name);
	return file;
}

/* Write the records in memory to the file, as a run. */
static bool put_away(struct sorter *s)
{
	struct run run = { .begin = s->file_size, .end = s->file_size + s->used };
	const uint8_t *raw;
	size_t i;

	if (!s->file)
		s->file = temp_file();
	if (!s->file)
		return report_error("cannot be made");
	sort_items(s);
	for (i = 0; i < s->nr; i++) {
		raw = s->data + s->items[i].at;
		fwrite(raw, 1, record_size(raw), s->file);
	}
	if (ferror(s->file) || fflush(s->file))
		return report_error("cannot be written");
	s->runs = need_more(s->runs, s->nr_runs + 1, sizeof(*s->runs));
	s->runs[s->nr_runs++] = run;
	s->file_size = run.end;
	s->used = 0;
	s->nr = 0;
	return true;
}

/* Internals: runs */

static bool run_fill(const struct sorter *s, struct run *run)
{
	size_t left = run->fill - run->at, room = WINDOW_SIZE - left;
	ssize_t n;

	memmove(run->window, run->window + run->at, left);
	run->at = 0;
	run->fill = left;
	if (room > run->end - run->begin)
		room = run->end - run->begin;
	while (room) {
		n = pread(fileno(s->file), run->window + run->fill, room, run->begin);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return report_error("cannot be read");
		run->begin += n;
		run->fill += n;
		room -= n;
	}
	return true;
}

static bool run_empty(const struct run *run)
{
	return run->at == run->fill && run->begin == run->end;
}

static bool has_next(const struct run *run)
{
	size_t left = run->fill - run->at;

	return left >= KMON_HDR_SIZE && left >= record_size(run->window + run->at);
}

/* Make sure that the window of a run contains its whole next record. */
static bool run_next(const struct sorter *s, struct run *run)
{
	struct record record;

	if (run_empty(run))
		return true;
	if (!has_next(run) && !run_fill(s, run))
		return false;
	record_open(&record, run->window + run->at);
	run->time = record.time;
	return true;
}

/* All runs are in one array, in the order of the input. */
static bool comes_first(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return x->time < y->time || (x->time == y->time && x < y);
}

static bool begin_merge(struct sorter *s)
{
	uint32_t i;

	s->heap.items = need_memory(s->nr_runs, sizeof(void *));
	for (i = 0; i < s->nr_runs; i++) {
		s->runs[i].window = need_memory(WINDOW_SIZE, 1);
		if (!run_next(s, &s->runs[i]))
			return false;
		s->heap.items[i] = &s->runs[i];
	}
	s->heap.nr = s->nr_runs;
	heap_make(&s->heap, comes_first);
	return true;
}

static bool merge(struct sorter *s, sorted_fn *fn, void *data)
{
	struct run *run;

	if (!begin_merge(s))
		return false;
	while (s->heap.nr) {
		run = s->heap.items[0];
		fn(run->window + run->at, data);
		run->at += record_size(run->window + run->at);
		if (!run_next(s, run))
			return false;
		if (run_empty(run))
			heap_pop(&s->heap, comes_first);
		else
			heap_down(&s->heap, 0, comes_first);
	}
	return true;
}

/* Interface */

/**
 * sorter_new - an empty sorter
 * @memory: bytes of memory for records; the windows of the runs are not included
 *
 * Return: the sorter, for sorter_free().
 */
struct sorter *sorter_new(size_t memory)
{
	struct sorter *sorter = need_memory(1, sizeof(*sorter));

	sorter->memory = memory;
	return sorter;
}

/**
 * sorter_add - add a record
 * @sorter: from sorter_new()
 * @raw: the whole record
 * @size: size of @raw
 *
 * Return: false after a message if the temporary file cannot be written.
 */
bool sorter_add(struct sorter *sorter, const uint8_t *raw, size_t size)
{
	struct record record;

	if (is_full(sorter, size) && sorter->nr && !put_away(sorter))
		return false;
	make_room(sorter, size);
	record_open(&record, raw);
	memcpy(sorter->data + sorter->used, raw, size);
	sorter->items[sorter->nr++] = (struct item){ record.time, sorter->used };
	sorter->used += size;
	return true;
}

/**
 * sorter_each - visit all records in the order of their times
 * @sorter: from sorter_new(); afterwards it can only be freed
 * @fn: called for each record
 * @data: passed to @fn
 *
 * Return: false after a message.
 */
bool sorter_each(struct sorter *sorter, sorted_fn *fn, void *data)
{
	size_t i;

	if (sorter->file) {
		if (sorter->nr && !put_away(sorter))
			return false;
		return merge(sorter, fn, data);
	}
	sort_items(sorter);
	for (i = 0; i < sorter->nr; i++)
		fn(sorter->data + sorter->items[i].at, data);
	return true;
}

/**
 * sorter_free - free the memory and close the temporary file
 * @sorter: from sorter_new()
 */
void sorter_free(struct sorter *sorter)
{
	uint32_t i;

	for (i = 0; i < sorter->nr_runs; i++)
		free(sorter->runs[i].window);
	if (sorter->file)
		fclose(sorter->file);
	free(sorter->runs);
	free(sorter->heap.items);
	free(sorter->data);
	free(sorter->items);
	free(sorter);
}
