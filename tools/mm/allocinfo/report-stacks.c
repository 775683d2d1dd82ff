// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call sites as folded stacks and as a profile.
 *
 * A table has no stacks. In their place, the module, the directory and the file of a call
 * site are its callers, so a flame graph shows how much each of them holds.
 */
#include <inttypes.h>

#include "place.h"
#include "pprof.h"
#include "report.h"
#include "utf8.h"

/* Internals */

static const char *module_of(const struct site *site, char *text)
{
	return *site->module ? site->module : place_text(BY_MODULE, site, text);
}

static uint64_t positive(int64_t number)
{
	return number > 0 ? number : 0;
}

static void put_folded(const struct site *site, uint64_t weight, FILE *out)
{
	char text[PLACE_TEXT];

	put_frame(out, module_of(site, text));
	fputc(';', out);
	put_frame(out, place_text(BY_DIR, site, text));
	fputc(';', out);
	put_frame(out, place_text(BY_FILE, site, text));
	fputc(';', out);
	put_frame(out, *site->func ? site->func : "?");
	fprintf(out, "@%" PRIu32 " %" PRIu64 "\n", site->line, weight);
}

static void add_group(struct pprof *pprof, const char *name)
{
	pprof_frame(pprof, &(struct pprof_frame){ .function = name, .file = "" });
}

static void add_site(struct pprof *pprof, const struct row *row)
{
	const struct site *site = row->site;
	char text[PLACE_TEXT];

	pprof_sample(pprof, (uint64_t[]){ positive(row->calls), positive(row->bytes) });
	pprof_label(pprof, "module", module_of(site, text));
	pprof_frame(pprof, &(struct pprof_frame){
		.function = *site->func ? site->func : "?",
		.file = site->file,
		.line = site->line,
	});
	add_group(pprof, site->file);
	add_group(pprof, place_text(BY_DIR, site, text));
	add_group(pprof, module_of(site, text));
}

/* Interface */

/**
 * write_folded - write call sites as folded stacks
 * @report: the report, with a row per call site
 * @out: output file
 */
void write_folded(const struct report *report, FILE *out)
{
	const struct row *row;
	int64_t weight;

	for (row = report->rows.rows; row < report->rows.rows + report->nr; row++) {
		weight = report->calls ? row->calls : row->bytes;
		if (weight > 0)
			put_folded(row->site, weight, out);
	}
}

/**
 * write_pprof - write call sites as a gzipped profile
 * @report: the report, with a row per call site
 * @out: output file
 *
 * Return: false if it could not be packed or written.
 */
bool write_pprof(const struct report *report, FILE *out)
{
	static const struct pprof_type types[] = {
		{ "inuse_objects", "count" },
		{ "inuse_space", "bytes" },
	};
	struct pprof *pprof = pprof_new(types, ARRAY_SIZE(types), "inuse_space");
	const struct row *row;
	char text[PLACE_TEXT];

	snprintf(text, sizeof(text), "allocinfo of %s %s",
		 *report->input.host ? report->input.host : report->input.name,
		 report->input.release);
	pprof_comment(pprof, text);
	pprof_time(pprof, report->input.time, 0);
	for (row = report->rows.rows; row < report->rows.rows + report->nr; row++) {
		if (row->bytes > 0 || row->calls > 0)
			add_site(pprof, row);
	}
	return pprof_write(pprof, out);
}
