// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows as CSV for spreadsheets, and as folded stacks for flame graphs.
 *
 * The first line of CSV contains the names of the columns. Unknown values are empty.
 *
 * Folded stacks are lines "type;file;function@line weight". A trace contains no stacks, so
 * the type and the file take the place of callers.
 */
#include <inttypes.h>

#include "report.h"
#include "utf8.h"

/* Data */

static const char * const columns[] = {
	"type", "call_site", "tag", "function", "offset", "file", "line",
	"module", "bytes_req", "bytes_alloc", "allocs", "requested",
	"allocated", "fragmentation", "live", "live_requested",
	"live_allocated", "frees", "failed", "cross_allocs", "cross_frees",
	"lifetime_min", "lifetime_median", "lifetime_max",
};

/* Internals: CSV */

static void put_text(FILE *out, const char *text)
{
	fputc(',', out);
	put_csv(out, text ? text : "");
}

static void put_number(FILE *out, uint64_t number)
{
	fprintf(out, ",%" PRIu64, number);
}

static void put_known(FILE *out, bool known, uint64_t number)
{
	if (known)
		put_number(out, number);
	else
		fputc(',', out);
}

static void put_place(FILE *out, const struct row *row)
{
	const struct place *place = &row->place;

	if (row->call_site)
		fprintf(out, ",0x%" PRIx64, row->call_site);
	else
		fputc(',', out);
	put_number(out, row->tag);
	put_text(out, place->function);
	put_known(out, place->has_offset, place->offset);
	put_text(out, place->file);
	put_known(out, place->file, place->line);
	put_text(out, place->module);
}

static void put_stats(FILE *out, const struct stats *s, bool all)
{
	const struct lifetimes *l = &s->lifetimes;

	put_number(out, s->allocs);
	put_number(out, s->requested);
	put_number(out, s->allocated);
	fprintf(out, ",%" PRId64, fragmentation(s->requested, s->allocated));
	put_number(out, s->live);
	put_number(out, s->live_bytes.requested);
	put_number(out, s->live_bytes.allocated);
	put_known(out, all, s->frees);
	put_known(out, all, s->failed);
	put_known(out, all, s->cross_allocs);
	put_known(out, all, s->cross_frees);
	put_known(out, l->count, l->min);
	put_known(out, l->count, lifetimes_median(l));
	put_known(out, l->count, l->max);
}

/* Internals: folded */

static uint64_t weight_of(const struct stats *s, enum weight weight)
{
	switch (weight) {
	case WEIGHT_ALLOCATED:
		return s->allocated;
	case WEIGHT_REQUESTED:
		return s->requested;
	case WEIGHT_CALLS:
		return s->allocs;
	case WEIGHT_LIVE:
		break;
	}
	return s->live_bytes.allocated;
}

static void put_folded(const struct report *report, const struct row *row,
		       FILE *out)
{
	const struct place *place = &row->place;
	char label[512];

	fprintf(out, "%s;", type_names[row->type]);
	if (place->file)
		put_frame(out, place->file);
	else
		put_frame(out, place->module ? place->module : "kernel");
	fputc(';', out);
	if (place->file) {
		put_frame(out, place->function ? place->function : "?");
		fprintf(out, "@%u", place->line);
	} else {
		place_label(report, row->call_site, place, label,
			    sizeof(label));
		put_frame(out, label);
	}
	fprintf(out, " %" PRIu64 "\n", weight_of(&row->stats, report->weight));
}

/* Interface */

/**
 * write_csv - write rows as CSV
 * @report: the report
 * @out: output file
 */
void write_csv(const struct report *report, FILE *out)
{
	const struct row *row;
	struct rows rows;
	bool by_size = report->group == BY_SIZE;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		fprintf(out, "%s%c", columns[i],
			i + 1 < ARRAY_SIZE(columns) ? ',' : '\n');
	rows_make(report, report->group, report->sort, report->top, &rows);
	for (row = rows.rows; row < rows.rows + rows.nr; row++) {
		fputs(type_names[row->type], out);
		put_place(out, row);
		put_known(out, by_size, row->bytes.requested);
		put_known(out, by_size, row->bytes.allocated);
		put_stats(out, &row->stats, !by_size);
		fputc('\n', out);
	}
	rows_free(&rows);
}

/**
 * write_folded - write call sites as folded stacks
 * @report: the report
 * @out: output file
 */
void write_folded(const struct report *report, FILE *out)
{
	static const enum sort_key sorts[] = {
		[WEIGHT_LIVE] = SORT_LIVE,
		[WEIGHT_ALLOCATED] = SORT_ALLOCATED,
		[WEIGHT_REQUESTED] = SORT_REQUESTED,
		[WEIGHT_CALLS] = SORT_CALLS,
	};
	const struct row *row;
	struct rows rows;

	rows_make(report, BY_SITE, sorts[report->weight], report->top, &rows);
	for (row = rows.rows; row < rows.rows + rows.nr; row++) {
		if (weight_of(&row->stats, report->weight))
			put_folded(report, row, out);
	}
	rows_free(&rows);
}
