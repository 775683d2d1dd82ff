// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metrics of a host, see metrics.h.
 *
 * The text is in the format of Prometheus, and its last line makes it one of OpenMetrics,
 * too. It has no time stamps: the time of a sample is that of the scrape.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "metrics.h"
#include "rows.h"
#include "util.h"

/* Data */

#define BEGIN	"# HELP linux_alloc_profiling "
#define END	"# EOF\n"
#define BYTES	"linux_alloc_site_bytes"
#define CALLS	"linux_alloc_site_calls"

/**
 * struct metrics - the functions that have rows of their own
 * @members: their names
 * @nr: number of @members
 *
 * The names of a member are one allocation, which begins with that of the file.
 */
struct metrics {
	struct site members[METRICS_TOP];
	size_t nr;
};

/**
 * struct ranking - the functions of a table
 * @rows: the functions, most bytes first
 * @chosen: those of the first METRICS_KEEP that have rows of their own
 * @nr: number of those
 */
struct ranking {
	struct rows rows;
	bool chosen[METRICS_KEEP];
	size_t nr;
};

static const struct {
	const char *name;
	enum profiling state;
} states[] = {
	{ "on", PROFILING_ON },
	{ "off", PROFILING_OFF },
	{ "never", PROFILING_NEVER },
	{ "absent", PROFILING_ABSENT },
	{ "failed", PROFILING_FAILED },
};

/* Internals: members */

static bool is_member(const struct metrics *metrics, const struct site *site)
{
	size_t i;

	for (i = 0; i < metrics->nr; i++)
		if (!row_compare_names(BY_FUNC, &metrics->members[i], site))
			return true;
	return false;
}

static void add_member(struct metrics *metrics, const struct site *site)
{
	size_t file = strlen(site->file) + 1, func = strlen(site->func) + 1;
	size_t module = strlen(site->module) + 1;
	char *names = need_memory(file + func + module, 1);

	metrics->members[metrics->nr++] = (struct site) {
		.file = memcpy(names, site->file, file),
		.func = memcpy(names + file, site->func, func),
		.module = memcpy(names + file + func, site->module, module),
	};
}

static void forget_members(struct metrics *metrics)
{
	while (metrics->nr)
		free((char *)metrics->members[--metrics->nr].file);
}

/* Internals: a previous output */

/* Adds the function of a line of BYTES. The row "other" has no file, and is no function. */
static bool add_line(struct metrics *metrics, char *line)
{
	char *at = line + strlen(BYTES "{"), *file, *func, *module;
	struct site site;

	at = label_take(at, "file", &file);
	if (at)
		at = *at == ',' ? label_take(at + 1, "func", &func) : NULL;
	if (at)
		at = *at == ',' ? label_take(at + 1, "module", &module) : NULL;
	if (!at || at[0] != '}' || at[1] != ' ')
		return false;
	if (!*file)
		return true;
	site = (struct site) { .file = file, .func = func, .module = module };
	if (metrics->nr == METRICS_TOP || is_member(metrics, &site))
		return false;
	add_member(metrics, &site);
	return true;
}

static bool add_lines(struct metrics *metrics, char *text)
{
	char *line;

	if (strncmp(text, BEGIN, strlen(BEGIN)))
		return false;
	while ((line = strsep(&text, "\n")) && text)
		if (!strncmp(line, BYTES "{", strlen(BYTES "{")) && !add_line(metrics, line))
			return false;
	return true;
}

static bool is_whole(const char *text, size_t size)
{
	return size >= strlen(END) && !memcmp(text + size - strlen(END), END, strlen(END)) &&
	       !memchr(text, '\0', size);
}

/* Internals: who has a row */

/* Rows that hold nothing are of no interest, even if there is room. */
static bool holds(const struct row *row)
{
	return row->bytes || row->calls;
}

/* Removes the lines of pages whose objects have lines, too. */
static void remove_pages(struct rows *rows)
{
	size_t i, nr = 0;

	for (i = 0; i < rows->nr; i++)
		if (!balance_holds_objects(rows->rows[i].site))
			rows->rows[nr++] = rows->rows[i];
	rows->nr = nr;
}

static void keep_members(struct ranking *ranking, const struct metrics *metrics)
{
	size_t i, nr = min_u64(ranking->rows.nr, METRICS_KEEP);

	for (i = 0; i < nr; i++) {
		ranking->chosen[i] = is_member(metrics, ranking->rows.rows[i].site);
		ranking->nr += ranking->chosen[i];
	}
}

static void fill_room(struct ranking *ranking)
{
	size_t i, nr = min_u64(ranking->rows.nr, METRICS_TOP);

	for (i = 0; i < nr && ranking->nr < METRICS_TOP; i++) {
		if (!ranking->chosen[i] && holds(&ranking->rows.rows[i])) {
			ranking->chosen[i] = true;
			ranking->nr++;
		}
	}
}

/*
 * If a function of the first METRICS_ENTER is not chosen now, METRICS_TOP others are, so at
 * least one of them is behind the first METRICS_TOP.
 */
static void take_places(struct ranking *ranking)
{
	size_t i, nr = min_u64(ranking->rows.nr, METRICS_ENTER), last = METRICS_KEEP - 1;

	for (i = 0; i < nr; i++) {
		if (ranking->chosen[i] || !holds(&ranking->rows.rows[i]))
			continue;
		while (!ranking->chosen[last])
			last--;
		ranking->chosen[last] = false;
		ranking->chosen[i] = true;
	}
}

static void rank(struct ranking *ranking, const struct metrics *metrics,
		 const struct table *table)
{
	rows_make(&ranking->rows, table, BY_FUNC, NULL);
	remove_pages(&ranking->rows);
	rows_sort(&ranking->rows, SORT_BYTES);
	keep_members(ranking, metrics);
	fill_room(ranking);
	take_places(ranking);
}

static bool is_chosen(const struct ranking *ranking, size_t nr)
{
	return nr < METRICS_KEEP && ranking->chosen[nr];
}

static void remember(struct metrics *metrics, const struct ranking *ranking)
{
	size_t i;

	forget_members(metrics);
	for (i = 0; i < METRICS_KEEP; i++)
		if (ranking->chosen[i])
			add_member(metrics, ranking->rows.rows[i].site);
}

/* Internals: output */

static void put_heading(FILE *out, const char *name, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name);
}

static void put_site(FILE *out, const char *name, const struct site *site, int64_t value)
{
	fprintf(out, "%s{", name);
	label_put(out, "file", site->file, true);
	label_put(out, "func", site->func, false);
	label_put(out, "module", site->module, false);
	fprintf(out, "} %" PRId64 "\n", value);
}

static void put_sites(const struct ranking *ranking, const char *name, bool calls, FILE *out)
{
	const struct site other = { .file = "", .func = "other", .module = "" };
	const struct row *row;
	int64_t value, rest = 0;
	size_t i;

	for (i = 0; i < ranking->rows.nr; i++) {
		row = &ranking->rows.rows[i];
		value = calls ? row->calls : row->bytes;
		if (is_chosen(ranking, i))
			put_site(out, name, row->site, value);
		else
			rest = add_counts(rest, value);
	}
	put_site(out, name, &other, rest);
}

static void put_table(struct metrics *metrics, const struct table *table, FILE *out)
{
	struct ranking ranking = { 0 };

	rank(&ranking, metrics, table);
	put_heading(out, BYTES, "Memory that the call sites of a function hold.");
	put_sites(&ranking, BYTES, false, out);
	put_heading(out, CALLS, "Allocations of a function that are not freed.");
	put_sites(&ranking, CALLS, true, out);
	remember(metrics, &ranking);
	rows_free(&ranking.rows);
}

static void put_kind(FILE *out, const char *kind, int64_t bytes)
{
	if (bytes != BALANCE_UNKNOWN)
		fprintf(out, "linux_alloc_memory_bytes{kind=\"%s\"} %" PRId64 "\n", kind, bytes);
}

/* Without slabinfo nobody knows how much of the slabs is free. */
static int64_t slab_free(const struct balance *balance)
{
	if (!balance->have_slabinfo)
		return BALANCE_UNKNOWN;
	return add_counts(balance->parts[PART_SLABS].sites, -balance->slab_objects);
}

static void put_balance(const struct balance *balance, FILE *out)
{
	int64_t lists = balance->lists == BALANCE_UNKNOWN ? 0 : balance->lists;

	put_heading(out, "linux_alloc_memory_bytes", "Where the memory of the host is.");
	put_kind(out, "total", balance->total);
	put_kind(out, "free", add_counts(balance->free, lists));
	put_kind(out, "sites", balance->sites);
	put_kind(out, "unaccounted", balance->none);
	put_kind(out, "slab_free", slab_free(balance));
	put_kind(out, "reserved", balance->reserved);
}

static void put_state(enum profiling state, FILE *out)
{
	size_t i;

	if (state == PROFILING_DENIED)
		state = PROFILING_FAILED;
	fputs(BEGIN "State of memory allocation profiling; the current one is 1.\n"
	      "# TYPE linux_alloc_profiling gauge\n", out);
	for (i = 0; i < ARRAY_SIZE(states); i++)
		fprintf(out, "linux_alloc_profiling{state=\"%s\"} %d\n", states[i].name,
			states[i].state == state);
}

static void put_read(const struct metrics_values *values, FILE *out)
{
	put_heading(out, "linux_alloc_read_seconds",
		    "Time that the last read of /proc/allocinfo took.");
	fprintf(out, "linux_alloc_read_seconds %.6f\n", values->read_seconds);
	put_heading(out, "linux_alloc_sites", "Call sites in /proc/allocinfo.");
	fprintf(out, "linux_alloc_sites %zu\n", values->table->nr);
}

/* Interface */

/**
 * metrics_new - begin without members
 *
 * Return: to be freed by metrics_free().
 */
struct metrics *metrics_new(void)
{
	return need_memory(1, sizeof(struct metrics));
}

/**
 * metrics_free - free the memory
 * @metrics: from metrics_new(), or NULL
 */
void metrics_free(struct metrics *metrics)
{
	if (metrics)
		forget_members(metrics);
	free(metrics);
}

/**
 * metrics_members - take the members of a previous output
 * @metrics: its members are replaced
 * @text: what metrics_write() wrote, perhaps damaged
 * @size: length of @text in bytes
 *
 * No message is printed.
 *
 * Return: false if @text is not a whole output; then there are no members.
 */
bool metrics_members(struct metrics *metrics, const char *text, size_t size)
{
	bool good = is_whole(text, size);
	char *copy;

	forget_members(metrics);
	if (!good)
		return false;
	copy = need_memory(size + 1, 1);
	memcpy(copy, text, size);
	good = add_lines(metrics, copy);
	free(copy);
	if (!good)
		forget_members(metrics);
	return good;
}

/**
 * metrics_write - write the metrics of a host
 * @metrics: its members are those of this output afterwards, if @values has a table
 * @values: what is known about the host
 * @out: output file; the caller looks for errors
 */
void metrics_write(struct metrics *metrics, const struct metrics_values *values, FILE *out)
{
	put_state(values->state, out);
	if (values->table) {
		put_table(metrics, values->table, out);
		put_read(values, out);
	}
	if (values->balance)
		put_balance(values->balance, out);
	fputs(END, out);
}
