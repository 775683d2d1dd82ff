// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows and header of alloctop as text, see top.h.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "top.h"
#include "utf8.h"

/* Data */

/* A name has at least this width, or columns are left out. */
#define NAME_MIN	30u
#define NUMBER_SIZE	32u

/**
 * enum column - the columns before the name
 * @COL_BYTES: size
 * @COL_CALLS: allocations
 * @COL_AVERAGE: average size of an allocation
 * @COL_GROWTH: growth since the start
 * @COL_RATE: growth a minute
 */
enum column { COL_BYTES, COL_CALLS, COL_AVERAGE, COL_GROWTH, COL_RATE, NR_COLUMNS };

static const struct {
	const char *title;
	uint8_t width;
	uint8_t plain_width;
} columns[NR_COLUMNS] = {
	[COL_BYTES] = { "SIZE", 6, 14 },
	[COL_CALLS] = { "CALLS", 8, 10 },
	[COL_AVERAGE] = { "AVG", 6, 10 },
	[COL_GROWTH] = { "GROWTH", 7, 13 },
	[COL_RATE] = { "PER MIN", 7, 13 },
};

/* The order in which columns are left out of a narrow output. */
static const enum column least_important[] = { COL_AVERAGE, COL_RATE, COL_GROWTH, COL_CALLS };

static const struct {
	const char *name;
	const char *short_name;
	enum top_sort sort;
} sorts[] = {
	{ "bytes", "s", TOP_BYTES }, { "calls", "c", TOP_CALLS }, { "average", "a", TOP_AVERAGE },
	{ "growth", "g", TOP_GROWTH }, { "rate", "m", TOP_RATE }, { "name", "t", TOP_NAME },
};

static const char * const by_names[] = {
	[BY_SITE] = "call site", [BY_FUNC] = "function", [BY_FILE] = "file",
	[BY_DIR] = "directory", [BY_MODULE] = "module",
};

/* Internals: text */

static void __printf(3, 4) append(char *text, size_t size, const char *format, ...)
{
	size_t len = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + len, size - len, format, args);
	va_end(args);
}

static bool is_middle(char byte)
{
	return (byte & 0xc0) == 0x80;
}

/**
 * text_width - columns that a text takes on a terminal
 * @text: the text, made safe by clean_name()
 *
 * Return: the number of its characters.
 */
size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += !is_middle(*text);
	return width;
}

/**
 * cut_name - cut a name at its beginning
 * @text: the name; two dots take the place of what is missing
 * @width: largest width
 *
 * The end of a path, and the function, say most about a call site.
 */
void cut_name(char *text, size_t width)
{
	size_t now = text_width(text);
	const char *from = text;

	if (now <= width || width < 3)
		return;
	for (now += 2; now > width; now--) {
		from++;
		while (is_middle(*from))
			from++;
	}
	memmove(text + 2, from, strlen(from) + 1);
	text[0] = '.';
	text[1] = '.';
}

/**
 * cut_end - cut a text at its end
 * @text: the text; two dots take the place of what is missing
 * @width: largest width, at least 2
 */
void cut_end(char *text, size_t width)
{
	char *at = text;
	size_t i;

	if (text_width(text) <= width)
		return;
	for (i = 0; i < width - 2; i++) {
		at++;
		while (is_middle(*at))
			at++;
	}
	strcpy(at, "..");
}

/**
 * wrap - find how much of a text fits into a line
 * @text: the text, made safe
 * @width: width of the line, 0 for no limit
 *
 * Return: number of bytes up to a blank where the line ends, or of the whole text.
 */
size_t wrap(const char *text, size_t width)
{
	size_t used = 0, i, good = 0;

	for (i = 0; text[i]; i++) {
		if (text[i] == ' ')
			good = i;
		used += !is_middle(text[i]);
		if (width && used > width && good)
			return good;
	}
	return i;
}

/* Internals: numbers */

/* At most five characters, of which two or more are digits that count. */
static void human(double value, double unit, const char *units, char *text, size_t size)
{
	while (value >= unit - 0.5 && units[1]) {
		value /= unit;
		units++;
	}
	if (*units == ' ')
		snprintf(text, size, "%.0f", value);
	else
		snprintf(text, size, value < 9.95 ? "%.1f%c" : "%.0f%c", value, *units);
}

/**
 * format_size - write a number of bytes
 * @top: says whether numbers are plain
 * @bytes: the number
 * @sign: write a plus if the number is above 0
 * @text: receives the text
 * @size: size of @text
 */
void format_size(const struct top *top, int64_t bytes, bool sign, char *text, size_t size)
{
	uint64_t positive = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;
	const char *mark = bytes < 0 ? "-" : sign && bytes ? "+" : "";
	char number[NUMBER_SIZE - 2];

	if (top->plain)
		snprintf(number, sizeof(number), "%" PRIu64, positive);
	else
		human(positive, 1024, " KMGTPE", number, sizeof(number));
	snprintf(text, size, "%s%s", mark, number);
}

/* Up to seven digits are plain: thousands of allocations are easier to compare so. */
static void format_calls(const struct top *top, int64_t calls, char *text, size_t size)
{
	char number[NUMBER_SIZE - 2];

	if (top->plain || (calls <= 9999999 && calls >= -999999)) {
		snprintf(text, size, "%" PRId64, calls);
		return;
	}
	human(calls < 0 ? -(double)calls : calls, 1000, " kmgtpe", number, sizeof(number));
	snprintf(text, size, "%s%s", calls < 0 ? "-" : "", number);
}

static void format_number(const struct top *top, enum column column, const struct node *node,
			  char *text)
{
	int64_t value;

	switch (column) {
	case COL_BYTES:
		format_size(top, node->bytes, false, text, NUMBER_SIZE);
		break;
	case COL_CALLS:
		format_calls(top, node->calls, text, NUMBER_SIZE);
		break;
	case COL_AVERAGE:
		value = node->calls > 0 ? node->bytes / node->calls : 0;
		format_size(top, value, false, text, NUMBER_SIZE);
		break;
	case COL_GROWTH:
		format_size(top, node_growth(node), true, text, NUMBER_SIZE);
		break;
	default:
		if (model_rate(&top->model, node, &value))
			format_size(top, value, true, text, NUMBER_SIZE);
		else
			*text = '\0';
	}
}

/* Internals: rows */

static unsigned int column_width(const struct top *top, enum column column)
{
	return top->plain ? columns[column].plain_width : columns[column].width;
}

/* Returns a bit for each column that fits beside the name. */
static unsigned int shown_columns(const struct top *top, size_t width)
{
	unsigned int shown = BIT(NR_COLUMNS) - 1, i;
	size_t sum = NAME_MIN;

	if (top->once)
		shown &= ~(BIT(COL_GROWTH) | BIT(COL_RATE));
	for (i = 0; i < NR_COLUMNS; i++)
		sum += shown & BIT(i) ? column_width(top, i) + 1 : 0;
	for (i = 0; width && sum > width && i < ARRAY_SIZE(least_important); i++) {
		if (!(shown & BIT(least_important[i])))
			continue;
		shown &= ~BIT(least_important[i]);
		sum -= column_width(top, least_important[i]) + 1;
	}
	return shown;
}

static void add_name(const char *name, size_t width, char *text, size_t size)
{
	size_t used = text_width(text);
	char copy[LINE_SIZE];

	snprintf(copy, sizeof(copy), "%s", name);
	if (width)
		cut_name(copy, width > used ? width - used : 0);
	append(text, size, "%s", copy);
}

static const char *last_part(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

/* "mm/slub.c:1799 alloc_slab_page", without what the rows above it say in a tree */
static void site_text(const struct site *site, uint32_t depth, char *text, size_t size)
{
	if (depth)
		snprintf(text, size, "%s:%u", last_part(site->file), site->line);
	else
		snprintf(text, size, "%s:%u %s", site->file, site->line, site->func);
	if (site->module[0])
		append(text, size, " [%s]", site->module);
}

static void func_text(const struct site *site, uint32_t depth, char *text, size_t size)
{
	snprintf(text, size, "%s", depth ? "" : site->file);
	append(text, size, "%s%s", depth ? "" : " ", site->func);
	if (site->module[0])
		append(text, size, " [%s]", site->module);
}

static void node_text(const struct node *node, uint32_t depth, char *text, size_t size)
{
	switch (node->by) {
	case BY_SITE:
		site_text(node->site, depth, text, size);
		break;
	case BY_FUNC:
		func_text(node->site, depth, text, size);
		break;
	case BY_FILE:
		snprintf(text, size, "%s", depth ? last_part(node->site->file) : node->site->file);
		break;
	default:
		row_name(node->by, node->site, text, size);
	}
}

/* Interface */

/**
 * sort_parse - read an order of rows
 * @word: its name, or the letter that Android's alloctop has for it
 * @sort: result
 *
 * Return: false if there is no such order.
 */
bool sort_parse(const char *word, enum top_sort *sort)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sorts); i++) {
		if (strcmp(word, sorts[i].name) && strcmp(word, sorts[i].short_name))
			continue;
		*sort = sorts[i].sort;
		return true;
	}
	return false;
}

/**
 * sort_name - name of an order of rows
 * @sort: the order
 *
 * Return: the name.
 */
const char *sort_name(enum top_sort sort)
{
	return sorts[sort].name;
}

/**
 * by_name - what a row stands for
 * @top: the program
 *
 * Return: the name.
 */
const char *by_name(const struct top *top)
{
	return top->tree ? "tree" : by_names[top->by];
}

/**
 * format_name - write the name of a row, safe to print
 * @top: the program
 * @line: the row
 * @text: receives the text
 * @size: size of @text
 */
void format_name(const struct top *top, const struct line *line, char *text, size_t size)
{
	const struct node *node = &top->model.nodes[line->node];

	node_text(node, line->depth, text, size);
	if (!node->accurate)
		append(text, size, " (shared)");
	clean_name(text);
}

/**
 * format_heading - write the names of the columns
 * @top: the program
 * @width: width of the output, 0 for no limit
 * @text: receives the text
 * @size: size of @text
 */
void format_heading(const struct top *top, size_t width, char *text, size_t size)
{
	unsigned int shown = shown_columns(top, width), i;

	*text = '\0';
	for (i = 0; i < NR_COLUMNS; i++)
		if (shown & BIT(i))
			append(text, size, "%*s ", column_width(top, i), columns[i].title);
	append(text, size, "%s", top->tree ? "DIRECTORY, FILE, FUNCTION, CALL SITE" :
	       top->by == BY_SITE ? "CALL SITE" : top->by == BY_FUNC ? "FUNCTION" :
	       top->by == BY_FILE ? "FILE" : top->by == BY_DIR ? "DIRECTORY" : "MODULE");
	if (width)
		cut_end(text, width);
}

/**
 * format_row - write a row
 * @top: the program
 * @line: the row
 * @width: width of the output, 0 for no limit
 * @text: receives the text
 * @size: size of @text
 */
void format_row(const struct top *top, const struct line *line, size_t width, char *text,
		size_t size)
{
	const struct node *node = &top->model.nodes[line->node];
	unsigned int shown = shown_columns(top, width), i;
	char number[NUMBER_SIZE], name[LINE_SIZE];

	*text = '\0';
	for (i = 0; i < NR_COLUMNS; i++) {
		if (!(shown & BIT(i)))
			continue;
		format_number(top, i, node, number);
		append(text, size, "%*s ", column_width(top, i), number);
	}
	if (top->tree)
		append(text, size, "%*s%c ", (int)(2 * line->depth), "",
		       node->by == BY_SITE ? ' ' : node->open ? '-' : '+');
	format_name(top, line, name, sizeof(name));
	add_name(name, width, text, size);
}

/**
 * format_changes - find the columns that show growth
 * @top: the program
 * @width: width of the output
 * @from: set to the first character of them in a row
 *
 * Return: their width, 0 if they are left out.
 */
size_t format_changes(const struct top *top, size_t width, size_t *from)
{
	unsigned int shown = shown_columns(top, width), i;
	size_t length = 0;

	*from = 0;
	for (i = 0; i < NR_COLUMNS; i++) {
		if (!(shown & BIT(i)))
			continue;
		if (i < COL_GROWTH)
			*from += column_width(top, i) + 1;
		else
			length += column_width(top, i) + 1;
	}
	return length;
}

/* Interface: the header */

/* A number of bytes in a sentence. Eight of them can be used in one call. */
static const char *size_of(const struct top *top, int64_t bytes)
{
	static char texts[8][NUMBER_SIZE];
	static unsigned int next;
	char *text = texts[next++ % 8];

	if (bytes == BALANCE_UNKNOWN)
		strcpy(text, "?");
	else
		format_size(top, bytes, false, text, NUMBER_SIZE);
	return text;
}

typedef void header_fn(const struct top *top, char *text, size_t size);

static void format_title(const struct top *top, char *text, size_t size)
{
	uint64_t up = top->model.time;

	snprintf(text, size, "alloctop  up");
	if (up >= 86400)
		append(text, size, " %" PRIu64 "d", up / 86400);
	append(text, size, " %02u:%02u:%02u  %zu call sites", (unsigned int)(up / 3600 % 24),
	       (unsigned int)(up / 60 % 60), (unsigned int)(up % 60), top->table.nr);
	append(text, size, "  profiling %s", top->state == PROFILING_ON ? "on" :
	       top->state == PROFILING_OFF ? "OFF" : "?");
	if (top->table.damaged)
		append(text, size, "  %" PRIu64 " damaged lines", top->table.damaged);
}

static void format_total(const struct top *top, char *text, size_t size)
{
	const struct balance *b = &top->balance;

	if (!top->balanced) {
		snprintf(text, size, "MemTotal is unknown: there is no meminfo");
		return;
	}
	snprintf(text, size, "MemTotal %s = free %s + CPU lists %s + call sites %s + on no line %s",
		 size_of(top, b->total), size_of(top, b->free), size_of(top, b->lists),
		 size_of(top, b->sites), size_of(top, b->none));
}

static void format_sites(const struct top *top, char *text, size_t size)
{
	const struct balance *b = &top->balance;

	snprintf(text, size, "Call sites %s = table %s - objects in slabs %s%s, in per-CPU %s",
		 size_of(top, b->sites), size_of(top, b->table),
		 size_of(top, b->slab_objects), b->have_slabinfo ? "" : "?",
		 size_of(top, b->parts[PART_PERCPU].sites));
}

/* Pages of vmalloc() and of drivers, for example. */
static int64_t other_sites(const struct balance *b)
{
	int64_t rest = b->sites;
	size_t i;

	for (i = 0; i < NR_PARTS; i++)
		rest = add_counts(rest, -b->parts[i].sites);
	return rest;
}

static void format_parts(const struct top *top, char *text, size_t size)
{
	const struct balance *b = &top->balance;
	size_t i;

	snprintf(text, size, "Pages:");
	for (i = 0; i < NR_PARTS; i++)
		if (b->parts[i].sites)
			append(text, size, " %s %s,", balance_part_name(i),
			       size_of(top, b->parts[i].sites));
	append(text, size, " other %s", size_of(top, other_sites(b)));
}

static void format_none(const struct top *top, char *text, size_t size)
{
	const struct balance *b = &top->balance;
	const char *mark = ":";
	size_t i;

	snprintf(text, size, "On no line %s +-%s", size_of(top, b->none), size_of(top, b->margin));
	for (i = 0; i < NR_PARTS; i++) {
		if (!balance_missing(b, i))
			continue;
		append(text, size, "%s %s %s", mark, balance_part_name(i),
		       size_of(top, balance_missing(b, i)));
		mark = ",";
	}
	append(text, size, "%s other %s", mark, size_of(top, balance_unexplained(b)));
	if (b->reserved != BALANCE_UNKNOWN)
		append(text, size, "; boot kept %s", size_of(top, b->reserved));
}

/* Append the groups that the user has chosen by Enter, from the function to the module. */
static void append_groups(const struct top *top, char *text, size_t size)
{
	const struct model *model = &top->model;
	char name[LINE_SIZE];
	size_t i;

	for (i = 0; i <= NR_GROUPS; i++) {
		if (model->only[i] == NODE_NONE)
			continue;
		node_text(&model->nodes[model->only[i]], 0, name, sizeof(name));
		append(text, size, "  [%s %s]", by_names[i], name);
	}
}

static void format_shown(const struct top *top, char *text, size_t size)
{
	snprintf(text, size, "Rows %zu by %s, %s: %s in %" PRId64 " allocations", top->nr,
		 by_name(top), sort_name(top->sort), size_of(top, top->model.bytes),
		 top->model.calls);
	append_groups(top, text, size);
	if (*top->filter)
		append(text, size, "  [%s]", top->filter);
	clean_name(text);
}

/**
 * format_header - write a line of the header
 * @top: the program
 * @nr: number of the line, below HEADER_LINES
 * @text: receives the text
 * @size: size of @text
 */
void format_header(const struct top *top, unsigned int nr, char *text, size_t size)
{
	static header_fn * const lines[HEADER_LINES] = {
		format_title, format_total, format_sites, format_parts, format_none, format_shown,
	};

	*text = '\0';
	if (top->balanced || nr < 2 || nr == HEADER_LINES - 1)
		lines[nr](top, text, size);
}
