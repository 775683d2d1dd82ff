// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of allocinfo report as text, CSV, JSON and metrics.
 *
 * The metrics are in the text format of OpenMetrics, which is also that of Prometheus. A
 * call site that holds nothing is left out: most of them do, and each is a time series.
 */
#include <inttypes.h>

#include "labels.h"
#include "place.h"
#include "report.h"

/* Internals */

static void put_row(const struct report *report, const struct row *row, FILE *out)
{
	char bytes[BYTES_TEXT], average[BYTES_TEXT], name[PLACE_TEXT];

	fprintf(out, "%10s %10" PRId64 " %10s  %s%s\n",
		bytes_text(row->bytes, report->plain, bytes), row->calls,
		bytes_text(row_average(row), report->plain, average),
		place_text(report->rows.by, row->site, name),
		row->accurate ? "" : " (not accurate)");
}

static void put_left_out(const struct report *report, FILE *out)
{
	const struct rows *rows = &report->rows;
	int64_t bytes = 0, calls = 0;
	char text[BYTES_TEXT];
	size_t i;

	if (report->nr == rows->nr)
		return;
	for (i = report->nr; i < rows->nr; i++) {
		bytes = add_counts(bytes, rows->rows[i].bytes);
		calls = add_counts(calls, rows->rows[i].calls);
	}
	fprintf(out, "%10s %10" PRId64 " %10s  %zu more rows; --top 0 prints all\n",
		bytes_text(bytes, report->plain, text), calls, "", rows->nr - report->nr);
}

static struct json_object *row_object(const struct report *report, const struct row *row)
{
	struct json_object *o = json_object_new_object();

	place_json(o, report->rows.by, row->site);
	json_add_signed(o, "bytes", row->bytes);
	json_add_signed(o, "calls", row->calls);
	json_add_number(o, "sites", row->nr_sites);
	if (!row->accurate)
		json_add(o, "accurate", json_object_new_boolean(false));
	return o;
}

static void put_labels(FILE *out, enum row_by by, const struct site *site)
{
	char text[PLACE_TEXT];

	if (by == BY_SITE || by == BY_FUNC || by == BY_FILE)
		label_put(out, "file", site->file, true);
	if (by == BY_SITE) {
		snprintf(text, sizeof(text), "%" PRIu32, site->line);
		label_put(out, "line", text, false);
	}
	if (by == BY_SITE || by == BY_FUNC)
		label_put(out, "func", site->func, false);
	if (by == BY_SITE || by == BY_FUNC || by == BY_MODULE)
		label_put(out, "module", site->module, by == BY_MODULE);
	if (by == BY_DIR) {
		row_name(BY_DIR, site, text, sizeof(text));
		label_put(out, "dir", text, true);
	}
}

static void put_metric(const struct report *report, const char *name, bool calls, FILE *out)
{
	const struct row *row;

	for (row = report->rows.rows; row < report->rows.rows + report->nr; row++) {
		if (!row->bytes && !row->calls)
			continue;
		fprintf(out, "%s{", name);
		put_labels(out, report->rows.by, row->site);
		fprintf(out, "} %" PRId64 "\n", calls ? row->calls : row->bytes);
	}
}

/* Interface */

/**
 * write_text - write rows as text
 * @report: the report
 * @out: output file
 */
void write_text(const struct report *report, FILE *out)
{
	const struct rows *rows = &report->rows;
	char text[BYTES_TEXT];
	size_t i;

	fputs(report->input.name, out);
	input_describe(&report->input, out);
	fprintf(out, "\n%s in %" PRId64 " allocations\n\n%10s %10s %10s  %s\n",
		bytes_text(rows->bytes, report->plain, text), rows->calls, "BYTES", "CALLS",
		"AVERAGE", place_heading(rows->by));
	for (i = 0; i < report->nr; i++)
		put_row(report, &rows->rows[i], out);
	put_left_out(report, out);
}

/**
 * write_csv - write rows as CSV
 * @report: the report
 * @out: output file
 */
void write_csv(const struct report *report, FILE *out)
{
	const struct rows *rows = &report->rows;
	const struct row *row;

	place_csv_heading(out, rows->by);
	fputs(",bytes,calls,sites,accurate\n", out);
	for (row = rows->rows; row < rows->rows + report->nr; row++) {
		place_csv(out, rows->by, row->site);
		fprintf(out, ",%" PRId64 ",%" PRId64 ",%" PRIu32 ",%s\n", row->bytes,
			row->calls, row->nr_sites, row->accurate ? "yes" : "no");
	}
}

/**
 * write_json - write rows as one JSON object
 * @report: the report
 * @out: output file
 */
void write_json(const struct report *report, FILE *out)
{
	const struct rows *rows = &report->rows;
	size_t i;

	fprintf(out, "{\n\"allocinfo_report\": %d", REPORT_FORMAT);
	json_put_member(out, "source", input_json(&report->input));
	json_put_member(out, "bytes", json_object_new_int64(rows->bytes));
	json_put_member(out, "calls", json_object_new_int64(rows->calls));
	fputs(",\n\"rows\": [", out);
	for (i = 0; i < report->nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_put(out, row_object(report, &rows->rows[i]));
	}
	fprintf(out, "],\n\"rows_left_out\": %zu\n}\n", rows->nr - report->nr);
}

/**
 * write_openmetrics - write rows as metrics
 * @report: the report
 * @out: output file
 */
void write_openmetrics(const struct report *report, FILE *out)
{
	fputs("# HELP linux_alloc_site_bytes Memory that the call site holds.\n"
	      "# TYPE linux_alloc_site_bytes gauge\n"
	      "# UNIT linux_alloc_site_bytes bytes\n", out);
	put_metric(report, "linux_alloc_site_bytes", false, out);
	fputs("# HELP linux_alloc_site_calls Allocations that the call site holds.\n"
	      "# TYPE linux_alloc_site_calls gauge\n", out);
	put_metric(report, "linux_alloc_site_calls", true, out);
	fputs("# EOF\n", out);
}
