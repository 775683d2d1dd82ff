/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alloctop: the parts of the program.
 *
 *	top.c		options, one table and out
 *	top-model.c	what each call site held, holds, and sums of that
 *	top-view.c	the rows that are shown, in their order
 *	top-format.c	rows and header as text
 *	top-json.c	the same as JSON
 *	top-screen.c	the main window, and its keys
 *	top-stacks.c	the window with call stacks
 *	top-term.c	the terminal
 */
#ifndef _ALLOCINFO_TOP_H
#define _ALLOCINFO_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "balance.h"
#include "query.h"
#include "rows.h"
#include "source.h"
#include "table.h"
#include "top-model.h"

/**
 * enum top_sort - order of rows; largest first, names in their order
 * @TOP_BYTES: by size
 * @TOP_CALLS: by allocations
 * @TOP_AVERAGE: by average size
 * @TOP_GROWTH: by growth since the start
 * @TOP_RATE: by growth a minute
 * @TOP_NAME: by name
 */
enum top_sort { TOP_BYTES, TOP_CALLS, TOP_AVERAGE, TOP_GROWTH, TOP_RATE, TOP_NAME };

/**
 * struct line - a row that is shown
 * @node: its node
 * @depth: depth in the tree
 */
struct line {
	uint32_t node;
	uint32_t depth;
};

struct sort_key;

/**
 * struct top - the state of the program
 * @source: the machine
 * @table: its call sites, as read last
 * @state: state of profiling, as read last
 * @model: the figures
 * @balance: where the memory is
 * @balanced: @balance is valid
 * @query: filter
 * @filter: text of @query
 * @by: kind of the rows, unless @tree
 * @sort: their order
 * @min: bytes that a row must hold at least to be shown
 * @limit: number of rows, 0 for all
 * @delay: seconds from one reading to the next
 * @width: width of the output, 0 for no limit
 * @tree: show the tree
 * @plain: print plain numbers of bytes
 * @once: print one table
 * @json: print it as JSON
 * @lines: the rows that are shown
 * @nr: number of @lines
 * @room: number of @lines that fit
 * @keys: memory for sorting
 * @key_room: number of @keys that fit
 */
struct top {
	struct source source;
	struct table table;
	enum profiling state;
	struct model model;
	struct balance balance;
	bool balanced;
	struct query query;
	char *filter;
	enum row_by by;
	enum top_sort sort;
	uint64_t min;
	uint64_t limit;
	uint64_t delay;
	uint64_t width;
	bool tree;
	bool plain;
	bool once;
	bool json;
	struct line *lines;
	size_t nr;
	size_t room;
	struct sort_key *keys;
	size_t key_room;
};

/* Longest line of text that is made for a row or for the header. */
#define LINE_SIZE	4352u
#define HEADER_LINES	6u

double top_uptime(const struct top *top);
bool top_read(struct top *top);
bool top_filter(struct top *top, const char *text, const char **problem);
void top_only(struct top *top, uint32_t node);

void view_build(struct top *top);
size_t view_find(const struct top *top, uint32_t node);
void view_open_all(struct top *top, bool open);

bool sort_parse(const char *word, enum top_sort *sort);
const char *sort_name(enum top_sort sort);
const char *by_name(const struct top *top);
void format_size(const struct top *top, int64_t bytes, bool sign, char *text, size_t size);
void format_name(const struct top *top, const struct line *line, char *text, size_t size);
void format_header(const struct top *top, unsigned int nr, char *text, size_t size);
void format_heading(const struct top *top, size_t width, char *text, size_t size);
void format_row(const struct top *top, const struct line *line, size_t width, char *text,
		size_t size);
size_t format_changes(const struct top *top, size_t width, size_t *from);
void cut_name(char *text, size_t width);
void cut_end(char *text, size_t width);
size_t text_width(const char *text);
size_t wrap(const char *text, size_t width);

void top_json(const struct top *top, FILE *out);

int screen_run(struct top *top);
void stacks_run(struct top *top, const struct site *site);

#endif /* _ALLOCINFO_TOP_H */
