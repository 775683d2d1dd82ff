// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report for `go tool pprof`.
 *
 * A sample is a call site with the values that pprof knows from heap profiles, and the
 * type as a label. Its stack has one frame, because a trace contains no stacks.
 */
#include "pprof.h"
#include "report.h"

/* Internals */

static void add_place(struct pprof *pprof, const struct report *report,
		      const struct row *row)
{
	const struct place *place = &row->place;
	char label[512];

	if (place->function)
		snprintf(label, sizeof(label), "%s", place->function);
	else
		place_label(report, row->call_site, place, label, sizeof(label));
	pprof_frame(pprof, &(struct pprof_frame){
		.function = label,
		.file = place->file ? place->file : place->module ? place->module : "",
		.address = row->call_site,
		.line = place->line,
	});
}

static void add_row(struct pprof *pprof, const struct report *report,
		    const struct row *row)
{
	const struct stats *s = &row->stats;

	pprof_sample(pprof, (uint64_t[]){
		s->allocs, s->allocated, s->live, s->live_bytes.allocated,
	});
	pprof_label(pprof, "type", type_names[row->type]);
	add_place(pprof, report, row);
}

static void add_rows(struct pprof *pprof, const struct report *report)
{
	struct rows rows;
	uint32_t i;

	rows_make(report, BY_SITE, report->sort, report->top, &rows);
	for (i = 0; i < rows.nr; i++)
		add_row(pprof, report, &rows.rows[i]);
	rows_free(&rows);
}

static void set_comment(struct pprof *pprof, const struct report *report)
{
	const struct trace_header *h = report->header;
	char text[256];

	snprintf(text, sizeof(text), "kmemtrace of %s %s", h->machine, h->release);
	pprof_comment(pprof, text);
	if (model_has_time(report->model))
		pprof_time(pprof, 0, model_duration(report->model));
}

/* Interface */

/**
 * write_pprof - write call sites as a gzipped profile
 * @report: the report
 * @out: output file
 *
 * Return: false if it could not be packed or written.
 */
bool write_pprof(const struct report *report, FILE *out)
{
	static const struct pprof_type types[] = {
		{ "alloc_objects", "count" },
		{ "alloc_space", "bytes" },
		{ "inuse_objects", "count" },
		{ "inuse_space", "bytes" },
	};
	struct pprof *pprof = pprof_new(types, ARRAY_SIZE(types), "inuse_space");

	set_comment(pprof, report);
	add_rows(pprof, report);
	return pprof_write(pprof, out);
}
