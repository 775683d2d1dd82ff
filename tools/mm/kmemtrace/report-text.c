// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report as text: tables with aligned columns.
 *
 * A table is complete before it is written, because the widths of its columns depend on
 * all rows. Numbers are aligned to the right, the words in the last column to the left.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Data */

#define LABEL_SIZE	512u
#define COLUMNS_MAX	16u

static const char bar[] = "########################################";

#define BAR_SIZE	(sizeof(bar) - 1)

struct table {
	FILE *out;
	char **cells;
	size_t nr;
	size_t room;
	unsigned int columns;	/* cells of the first line */
	unsigned int column;
};

/* Internals: tables */

static void __printf(2, 3) cell(struct table *table, const char *format, ...)
{
	char text[LABEL_SIZE];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (table->nr == table->room) {
		table->room = table->room ? table->room * 2 : 64;
		table->cells = need_more(table->cells, table->room,
					 sizeof(*table->cells));
	}
	table->cells[table->nr++] = need_string(text);
}

/* Call this after the first line: all other lines have the same number of cells. */
static void head_done(struct table *table)
{
	table->columns = table->nr;
}

static void table_heads(struct table *table, const char *const *heads)
{
	while (*heads)
		cell(table, "%s", *heads++);
	head_done(table);
}

static void table_widths(const struct table *table, unsigned int *widths)
{
	unsigned int i;
	size_t cell;

	for (i = 0; i < COLUMNS_MAX; i++)
		widths[i] = 0;
	for (cell = 0; cell < table->nr; cell++) {
		i = cell % table->columns;
		if (strlen(table->cells[cell]) > widths[i])
			widths[i] = strlen(table->cells[cell]);
	}
}

static void table_end(struct table *table)
{
	unsigned int i, widths[COLUMNS_MAX];
	size_t nr;

	table_widths(table, widths);
	for (nr = 0; nr < table->nr; nr++) {
		i = nr % table->columns;
		if (i == table->columns - 1)
			fprintf(table->out, "%s%s\n",
				*table->cells[nr] ? "  " : "", table->cells[nr]);
		else
			fprintf(table->out, "%s%*s", i ? "  " : "",
				(int)widths[i], table->cells[nr]);
		free(table->cells[nr]);
	}
	free(table->cells);
}

/* Internals: numbers */

static void cell_scaled(struct table *table, uint64_t value, bool minus,
			unsigned int base, const char *const *units)
{
	const char *sign = minus && value ? "-" : "";
	double scaled = value;

	if (value < base) {
		cell(table, "%s%" PRIu64 " %s", sign, value, *units);
		return;
	}
	while (scaled >= base && units[1]) {
		scaled /= base;
		units++;
	}
	cell(table, "%s%.1f %s", sign, scaled, *units);
}

static void cell_number(struct table *table, uint64_t number)
{
	cell(table, "%" PRIu64, number);
}

static const char * const byte_units[] = {
	"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL
};

static void cell_bytes(struct table *table, const struct report *report,
		       uint64_t bytes)
{
	if (report->plain)
		cell_number(table, bytes);
	else
		cell_scaled(table, bytes, false, 1024, byte_units);
}

static void cell_signed(struct table *table, const struct report *report,
			int64_t bytes)
{
	if (bytes >= 0)
		cell_bytes(table, report, bytes);
	else if (report->plain)
		cell(table, "%" PRId64, bytes);
	else
		cell_scaled(table, -(uint64_t)bytes, true, 1024, byte_units);
}

static void cell_time(struct table *table, const struct report *report,
		      uint64_t time)
{
	static const char * const units[] = { "ns", "us", "ms", "s", NULL };
	static const char * const events[] = {
		"ev", "k ev", "M ev", "G ev", NULL
	};

	if (report->plain)
		cell_number(table, time);
	else
		cell_scaled(table, time, false, 1000,
			    model_has_time(report->model) ? units : events);
}

static void cell_percent(struct table *table, int64_t part, uint64_t whole)
{
	if (whole)
		cell(table, "%.1f%%", 100.0 * part / whole);
	else
		cell(table, "-");
}

static void cell_fragmentation(struct table *table, const struct report *report,
			       const struct stats *s)
{
	int64_t bytes = fragmentation(s->requested, s->allocated);

	cell_signed(table, report, bytes);
	cell_percent(table, bytes, s->allocated);
}

static void cell_lifetime(struct table *table, const struct report *report,
			  const struct lifetimes *l, uint64_t time)
{
	if (l->count)
		cell_time(table, report, time);
	else
		cell(table, "-");
}

static void cell_bar(struct table *table, uint64_t part, uint64_t whole)
{
	double length = whole ? (double)part * BAR_SIZE / whole + 0.5 : 0;

	cell(table, "%.*s", length < BAR_SIZE ? (int)length : (int)BAR_SIZE,
	     bar);
}

/* Internals: sections */

static void title(FILE *out, const char *text)
{
	fprintf(out, "\n%s\n", text);
}

static void say_trace(const struct report *report, FILE *out)
{
	const struct trace_header *h = report->header;
	const struct counts *c = model_counts(report->model);

	fprintf(out, "Trace of %s %s, %u bits, %s-endian, ABI %u%s\n",
		*h->machine ? h->machine : "(unknown machine)",
		*h->release ? h->release : "(unknown release)", h->word_bits,
		h->big_endian ? "big" : "little", h->abi_version,
		h->complete ? "" : "; kmemtraced did not end it");
	fprintf(out, "%" PRIu64 " records: %" PRIu64 " allocations, %" PRIu64
		" frees, %" PRIu64 " reports of losses, %" PRIu64 " unknown\n",
		c->records, c->allocs, c->frees, c->lost_records, c->unknown);
	if (report->damage)
		fprintf(out, "The trace is damaged in %" PRIu64 " places, see the messages.\n",
			report->damage);
}

static void say_losses(const struct report *report, FILE *out)
{
	const struct trace_header *h = report->header;
	const struct counts *c = model_counts(report->model);

	if (h->lost_known)
		fprintf(out, "Lost by the kernel: %" PRIu64 " records, %" PRIu64 " bytes.\n",
			h->lost_events, h->lost_bytes);
	if (c->lost_records)
		fprintf(out, "Reported in the trace: %" PRIu64 " records lost, %" PRIu64
			" bytes.\n",
			c->lost_events, c->lost_bytes);
	if (c->gaps && h->begins_known && !h->begins)
		fprintf(out, "Sequence numbers missing: %" PRIu64 " in %" PRIu64
			" gaps; recording went on all the time.\n",
			c->missing, c->gaps);
	else if (c->gaps)
		fprintf(out, "Sequence numbers missing: %" PRIu64 " in %" PRIu64
			" gaps; %" PRIu64 " of them of one number, as when recording begins.\n",
			c->missing, c->gaps, c->small_gaps);
	if (c->more_sites)
		fprintf(out, "Too many call sites: %" PRIu64
			" records are counted for unknown call sites.\n",
			c->more_sites);
	if (c->more_sizes)
		fprintf(out, "Too many sizes: %" PRIu64 " allocations are not counted by size.\n",
			c->more_sizes);
}

static void total_line(struct table *table, const struct report *report,
		       const struct stats *s, unsigned int type,
		       uint64_t before)
{
	uint64_t when, peak = model_peak(report->model, type, &when);

	cell_number(table, s->allocs);
	cell_number(table, s->frees);
	cell_number(table, before);
	cell_number(table, s->failed);
	cell_bytes(table, report, s->requested);
	cell_bytes(table, report, s->allocated);
	cell_fragmentation(table, report, s);
	cell_bytes(table, report, s->live_bytes.allocated);
	cell_bytes(table, report, peak);
	cell(table, "%s", type < MODEL_TYPES ? type_names[type] : "all");
}

static void say_totals(const struct report *report, FILE *out)
{
	static const char * const heads[] = {
		"allocs", "frees", "older", "failed", "requested", "allocated",
		"fragm.", "%", "live", "peak", "type", NULL
	};
	const struct counts *c = model_counts(report->model);
	struct stats totals[MODEL_TYPES], all;
	struct table table = { .out = out };
	uint64_t before = 0;
	unsigned int i;

	totals_make(report, totals, &all);
	title(out, "Totals (older: frees of memory that was allocated before the trace;");
	fputs("pages include those that contain kmalloc and cache objects)\n",
	      out);
	table_heads(&table, heads);
	for (i = 0; i < MODEL_TYPES; i++) {
		total_line(&table, report, &totals[i], i, c->before[i]);
		before += c->before[i];
	}
	total_line(&table, report, &all, MODEL_TYPES, before);
	table_end(&table);
	fprintf(out, "\nAcross CPUs: %" PRIu64
		" allocations for another CPU than they ran on (x-alloc),\n",
		all.cross_allocs);
	fprintf(out, "%" PRIu64
		" frees on another CPU than the allocation (x-free).\n",
		all.cross_frees);
}

static void summary(const struct report *report, FILE *out)
{
	say_trace(report, out);
	say_losses(report, out);
	say_totals(report, out);
}

static void row_cells(struct table *table, const struct report *report,
		      enum group group, const struct stats *s)
{
	const struct lifetimes *l = &s->lifetimes;

	cell_number(table, s->allocs);
	if (group != BY_SIZE)
		cell_number(table, s->frees);
	cell_bytes(table, report, s->requested);
	cell_bytes(table, report, s->allocated);
	cell_fragmentation(table, report, s);
	cell_number(table, s->live);
	cell_bytes(table, report, s->live_bytes.allocated);
	if (group == BY_SIZE)
		return;
	cell_number(table, s->cross_allocs);
	cell_number(table, s->cross_frees);
	cell_lifetime(table, report, l, lifetimes_median(l));
}

static const char * const row_heads[] = {
	"allocs", "frees", "requested", "allocated", "fragm.", "%", "live",
	"live bytes", "x-alloc", "x-free", "median", NULL
};

static const char * const size_heads[] = {
	"allocs", "requested", "allocated", "fragm.", "%", "live",
	"live bytes", NULL
};

static void rows_table(const struct report *report, enum group group,
		       enum sort_key sort, unsigned int top, FILE *out)
{
	const char *const *head = group == BY_SIZE ? size_heads : row_heads;
	struct table table = { .out = out };
	char label[LABEL_SIZE];
	struct rows rows;
	uint32_t i;

	rows_make(report, group, sort, top, &rows);
	for (; *head; head++)
		cell(&table, "%s", *head);
	cell(&table, "%s", group == BY_SITE ? "call site" : group == BY_TAG ?
	     "tag" : group == BY_SIZE ? "size" : "type");
	head_done(&table);
	for (i = 0; i < rows.nr; i++) {
		row_label(report, group, &rows.rows[i], label, sizeof(label));
		row_cells(&table, report, group, &rows.rows[i].stats);
		cell(&table, "%s", label);
	}
	if (rows.more) {
		row_cells(&table, report, group, &rows.rest);
		cell(&table, "(%u more)", rows.more);
	}
	table_end(&table);
	rows_free(&rows);
}

static void by_group(const struct report *report, FILE *out)
{
	static const char * const titles[] = {
		[BY_SITE] = "By call site",
		[BY_TAG] = "By code tag",
		[BY_SIZE] = "By size",
		[BY_TYPE] = "By type",
	};

	title(out, titles[report->group]);
	rows_table(report, report->group, report->sort, report->top, out);
}

static void by_size(const struct report *report, FILE *out)
{
	if (report->group == BY_SIZE && report->sections & SECTION_ROWS)
		return;
	title(out, "By size of the allocation (requested in allocated bytes)");
	rows_table(report, BY_SIZE, report->sort, report->top, out);
}

static void live_section(const struct report *report, FILE *out)
{
	static const char * const heads[] = {
		"objects", "requested", "allocated", "call site", NULL
	};
	struct table table = { .out = out };
	char label[LABEL_SIZE];
	const struct stats *s;
	struct rows rows;
	uint32_t i;

	rows_make(report, BY_SITE, SORT_LIVE, report->top, &rows);
	title(out, "Live at the end");
	table_heads(&table, heads);
	for (i = 0; i < rows.nr; i++) {
		s = &rows.rows[i].stats;
		if (!s->live)
			continue;
		row_label(report, BY_SITE, &rows.rows[i], label, sizeof(label));
		cell_number(&table, s->live);
		cell_bytes(&table, report, s->live_bytes.requested);
		cell_bytes(&table, report, s->live_bytes.allocated);
		cell(&table, "%s", label);
	}
	if (rows.rest.live) {
		cell_number(&table, rows.rest.live);
		cell_bytes(&table, report, rows.rest.live_bytes.requested);
		cell_bytes(&table, report, rows.rest.live_bytes.allocated);
		cell(&table, "(more)");
	}
	table_end(&table);
	rows_free(&rows);
}

static void site_label(const struct report *report, uint32_t nr, char *label,
		       size_t size)
{
	const struct site *site;
	struct place place;

	if (nr == NO_SITE) {
		snprintf(label, size, "(before the trace)");
		return;
	}
	site = model_site(report->model, nr);
	symbolizer_place(report->symbolizer, site->call_site, site->tag, &place);
	place_label(report, site->call_site, &place, label, size);
	place_free(&place);
}

static void finding_lines(const struct report *report, const struct finding *f,
			  FILE *out)
{
	static const char * const roles[] = {
		[FINDING_SHORT]		= "",
		[FINDING_WRONG_API]	= "freed by",
		[FINDING_DOUBLE_FREE]	= "freed again by",
		[FINDING_UNKNOWN]	= "freed by",
		[FINDING_STILL_LIVE]	= "allocated again by",
		[FINDING_MIXED]		= "freed by",
	};
	char label[LABEL_SIZE];

	fprintf(out, "%" PRIu64 " %s: first 0x%" PRIx64, f->count,
		finding_words[f->kind], f->ptr);
	fprintf(out, ", record %" PRIu64 ", cpu%u.out at %" PRIu64 "\n",
		f->sequence, f->cpu, f->offset);
	site_label(report, f->site, label, sizeof(label));
	fprintf(out, "    %s by %s\n", f->kind == FINDING_UNKNOWN ?
		"the page was allocated" : "allocated", label);
	if (f->other == NO_SITE)
		return;
	site_label(report, f->other, label, sizeof(label));
	fprintf(out, "    %s %s\n", roles[f->kind], label);
}

static bool in_list(const struct finding *f, bool after_losses, bool mixed)
{
	bool is_mixed = f->kind == FINDING_MIXED;

	return f->after_losses == after_losses && is_mixed == mixed;
}

static uint64_t list_sum(const struct report *report, bool after_losses,
			 bool mixed)
{
	const struct counts *c = model_counts(report->model);
	uint64_t sum = 0;
	unsigned int kind;

	if (mixed)
		return c->findings[FINDING_MIXED][after_losses];
	for (kind = 0; kind < FINDING_KINDS; kind++) {
		if (kind != FINDING_MIXED)
			sum += c->findings[kind][after_losses];
	}
	return sum;
}

static void finding_list(const struct report *report, const char *words,
			 bool after_losses, bool mixed, FILE *out)
{
	uint64_t sum = list_sum(report, after_losses, mixed);
	struct finding *findings;
	uint32_t i, nr, shown = 0;

	if (!sum && (after_losses || mixed))
		return;
	fprintf(out, "\n%s: %" PRIu64 "\n", words, sum);
	findings = findings_sorted(report, &nr);
	for (i = 0; i < nr; i++) {
		if (!in_list(&findings[i], after_losses, mixed))
			continue;
		if (shown++ < report->top || !report->top)
			finding_lines(report, &findings[i], out);
	}
	if (report->top && shown > report->top)
		fprintf(out, "(%u more)\n", shown - report->top);
	free(findings);
}

static void errors(const struct report *report, FILE *out)
{
	finding_list(report, "Errors", false, false, out);
	finding_list(report, "After losses of records, which may explain it",
		     true, false, out);
	finding_list(report, "Allowed: objects of a cache freed with kfree()",
		     false, true, out);
	finding_list(report, "Allowed, after losses", true, true, out);
}

static void lifetime_line(struct table *table, const struct report *report,
			  const struct stats *s, const char *name)
{
	const struct lifetimes *l = &s->lifetimes;

	cell_number(table, l->count);
	cell_lifetime(table, report, l, l->min);
	cell_lifetime(table, report, l, lifetimes_median(l));
	cell_lifetime(table, report, l, l->max);
	cell(table, "%s", name);
}

/* A block that is freed in parts counts once for each part. */
static void lifetime_histogram(const struct report *report,
			       const struct lifetimes *l, FILE *out)
{
	static const char * const heads[] = {
		"from", "freed", "%", "", NULL
	};
	struct table table = { .out = out };
	unsigned int i;

	table_heads(&table, heads);
	for (i = 0; i < LIFETIME_BUCKETS; i++) {
		if (!l->bucket[i])
			continue;
		cell_time(&table, report, i ? 1ull << (i - 1) : 0);
		cell_number(&table, l->bucket[i]);
		cell_percent(&table, l->bucket[i], l->count);
		cell_bar(&table, l->bucket[i], l->count);
	}
	table_end(&table);
}

static void lifetime_section(const struct report *report, FILE *out)
{
	static const char * const heads[] = {
		"freed", "shortest", "median", "longest", "type", NULL
	};
	struct stats totals[MODEL_TYPES], all;
	struct table table = { .out = out };
	unsigned int i;

	totals_make(report, totals, &all);
	title(out, model_has_time(report->model) ?
	      "Lifetimes (the median rounded up to a power of two)" :
	      "Lifetimes in events (the median rounded up to a power of two)");
	table_heads(&table, heads);
	for (i = 0; i < MODEL_TYPES; i++)
		lifetime_line(&table, report, &totals[i], type_names[i]);
	lifetime_line(&table, report, &all, "all");
	table_end(&table);
	fputc('\n', out);
	lifetime_histogram(report, &all.lifetimes, out);
}

static void timeline_section(const struct report *report, FILE *out)
{
	static const char * const heads[] = {
		"from", "allocs", "frees", "kmalloc", "cache", "pages", "peak",
		"live at the end of it", NULL
	};
	const struct timeline *t = model_timeline(report->model);
	struct table table = { .out = out };
	const struct moment *m;
	uint64_t live, when, most = model_peak(report->model, MODEL_TYPES, &when);
	unsigned int i, type;

	title(out, "Time line");
	table_heads(&table, heads);
	for (i = 0; i < t->used; i++) {
		m = &t->moments[i];
		cell_time(&table, report, (uint64_t)i << t->shift);
		cell_number(&table, m->allocs);
		cell_number(&table, m->frees);
		live = 0;
		for (type = 0; type < MODEL_TYPES; type++) {
			cell_bytes(&table, report, m->live[type]);
			live = sat_add(live, m->live[type]);
		}
		cell_bytes(&table, report, m->peak);
		cell_bar(&table, live, most);
	}
	table_end(&table);
}

/* Interface */

/**
 * write_text - write the report as text
 * @report: the report
 * @out: output file
 */
void write_text(const struct report *report, FILE *out)
{
	static const struct {
		enum section section;
		void (*write)(const struct report *report, FILE *out);
	} sections[] = {
		{ SECTION_SUMMARY, summary },
		{ SECTION_ROWS, by_group },
		{ SECTION_SIZES, by_size },
		{ SECTION_LIVE, live_section },
		{ SECTION_LIFETIMES, lifetime_section },
		{ SECTION_TIMELINE, timeline_section },
		{ SECTION_ERRORS, errors },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sections); i++) {
		if (report->sections & sections[i].section)
			sections[i].write(report, out);
	}
}
