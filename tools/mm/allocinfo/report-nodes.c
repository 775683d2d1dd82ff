// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of allocinfo report --by node as text, CSV and JSON. A row has the bytes of a
 * call site on each node, and those that the kernel found on none ("unseen").
 */
#include <inttypes.h>
#include <stdlib.h>

#include "place.h"
#include "report.h"
#include "util.h"

/* Internals */

static const int64_t *counts_of(const struct report *report, const struct row *row)
{
	return nodes_of(&report->nodes, &report->input.table, row->site);
}

/* Returns the sums over the rows from @first on, to be freed. */
static int64_t *sum_rows(const struct report *report, size_t first)
{
	const struct nodes *nodes = &report->nodes;
	int64_t *sums = need_memory(nodes->nr + 1, sizeof(*sums));
	const int64_t *counts;
	size_t i, k;

	for (i = first; i < report->rows.nr; i++) {
		counts = counts_of(report, &report->rows.rows[i]);
		for (k = 0; k <= nodes->nr; k++)
			sums[k] = add_counts(sums[k], counts[k]);
	}
	return sums;
}

static int64_t sum_bytes(const struct report *report, size_t first)
{
	int64_t bytes = 0;

	for (; first < report->rows.nr; first++)
		bytes = add_counts(bytes, report->rows.rows[first].bytes);
	return bytes;
}

static void put_text(const struct report *report, int64_t bytes, const int64_t *counts,
		     FILE *out)
{
	char text[BYTES_TEXT];
	size_t i;

	fprintf(out, "%10s", bytes_text(bytes, report->plain, text));
	for (i = 0; i <= report->nodes.nr; i++)
		fprintf(out, " %10s", bytes_text(counts[i], report->plain, text));
}

static void put_text_heading(const struct report *report, FILE *out)
{
	char text[16];
	size_t i;

	fprintf(out, "%10s", "BYTES");
	for (i = 0; i < report->nodes.nr; i++) {
		snprintf(text, sizeof(text), "NODE %u", report->nodes.ids[i]);
		fprintf(out, " %10s", text);
	}
	fprintf(out, " %10s  %s\n", "UNSEEN", place_heading(report->rows.by));
}

static void put_sums(const struct report *report, size_t first, FILE *out)
{
	int64_t *sums = sum_rows(report, first);

	put_text(report, sum_bytes(report, first), sums, out);
	free(sums);
}

static void put_csv_row(const struct report *report, const struct row *row, FILE *out)
{
	const int64_t *counts = counts_of(report, row);
	size_t i;

	place_csv(out, report->rows.by, row->site);
	fprintf(out, ",%" PRId64, row->bytes);
	for (i = 0; i <= report->nodes.nr; i++)
		fprintf(out, ",%" PRId64, counts[i]);
	fprintf(out, ",%" PRIu32 ",%s\n", row->nr_sites, row->accurate ? "yes" : "no");
}

static struct json_object *nodes_object(const struct nodes *nodes, const int64_t *counts)
{
	struct json_object *o = json_object_new_object();
	char name[16];
	size_t i;

	for (i = 0; i < nodes->nr; i++) {
		snprintf(name, sizeof(name), "%u", nodes->ids[i]);
		json_add_signed(o, name, counts[i]);
	}
	return o;
}

static struct json_object *row_object(const struct report *report, const struct row *row)
{
	const struct nodes *nodes = &report->nodes;
	struct json_object *o = json_object_new_object();
	const int64_t *counts = counts_of(report, row);

	place_json(o, report->rows.by, row->site);
	json_add_signed(o, "bytes", row->bytes);
	json_add(o, "nodes", nodes_object(nodes, counts));
	json_add_signed(o, "unseen", counts[nodes->nr]);
	json_add_number(o, "sites", row->nr_sites);
	if (!row->accurate)
		json_add(o, "accurate", json_object_new_boolean(false));
	return o;
}

/* Interface */

/**
 * write_nodes_text - write rows as text, with a column for each node
 * @report: the report
 * @out: output file
 */
void write_nodes_text(const struct report *report, FILE *out)
{
	const struct rows *rows = &report->rows;
	char name[PLACE_TEXT];
	size_t i;

	fputs(report->input.name, out);
	input_describe(&report->input, out);
	fputs("\n\n", out);
	put_text_heading(report, out);
	put_sums(report, 0, out);
	fputs("  all rows\n", out);
	for (i = 0; i < report->nr; i++) {
		put_text(report, rows->rows[i].bytes, counts_of(report, &rows->rows[i]), out);
		fprintf(out, "  %s%s\n", place_text(rows->by, rows->rows[i].site, name),
			rows->rows[i].accurate ? "" : " (not accurate)");
	}
	if (report->nr == rows->nr)
		return;
	put_sums(report, report->nr, out);
	fprintf(out, "  %zu more rows; --top 0 prints all\n", rows->nr - report->nr);
}

/**
 * write_nodes_csv - write rows as CSV, with a column for each node
 * @report: the report
 * @out: output file
 */
void write_nodes_csv(const struct report *report, FILE *out)
{
	size_t i;

	place_csv_heading(out, report->rows.by);
	fputs(",bytes", out);
	for (i = 0; i < report->nodes.nr; i++)
		fprintf(out, ",node%u", report->nodes.ids[i]);
	fputs(",unseen,sites,accurate\n", out);
	for (i = 0; i < report->nr; i++)
		put_csv_row(report, &report->rows.rows[i], out);
}

/**
 * write_nodes_json - write rows as one JSON object, with a member for each node
 * @report: the report
 * @out: output file
 */
void write_nodes_json(const struct report *report, FILE *out)
{
	const struct nodes *nodes = &report->nodes;
	const struct rows *rows = &report->rows;
	int64_t *sums = sum_rows(report, 0);
	size_t i;

	fprintf(out, "{\n\"allocinfo_report\": %d", REPORT_FORMAT);
	json_put_member(out, "source", input_json(&report->input));
	json_put_member(out, "bytes", json_object_new_int64(rows->bytes));
	json_put_member(out, "nodes", nodes_object(nodes, sums));
	json_put_member(out, "unseen", json_object_new_int64(sums[nodes->nr]));
	fputs(",\n\"rows\": [", out);
	for (i = 0; i < report->nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_put(out, row_object(report, &rows->rows[i]));
	}
	fprintf(out, "],\n\"rows_left_out\": %zu\n}\n", rows->nr - report->nr);
	free(sums);
}
