// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report as JSON, written with json-c.
 *
 * Addresses are strings, because a double cannot hold them. The names are those of CSV.
 * Sizes and times are plain numbers.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "jsonfile.h"
#include "report.h"

/* Internals */

static void add_address(struct json_object *to, const char *name,
			uint64_t addr)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, addr);
	json_add_string(to, name, text);
}

static void add_place(const struct report *report, struct json_object *to,
		      uint64_t call_site, uint16_t tag,
		      const struct place *place)
{
	char label[512];

	place_label(report, call_site, place, label, sizeof(label));
	json_add_string(to, "label", label);
	if (call_site)
		add_address(to, "call_site", call_site);
	json_add_number(to, "tag", tag);
	json_add_string(to, "function", place->function);
	if (place->has_offset)
		json_add_number(to, "offset", place->offset);
	else
		json_add(to, "offset", NULL);
	json_add_string(to, "file", place->file);
	if (place->file)
		json_add_number(to, "line", place->line);
	else
		json_add(to, "line", NULL);
	json_add_string(to, "module", place->module);
}

static struct json_object *site_object(const struct report *report, uint32_t nr)
{
	struct json_object *object = json_object_new_object();
	const struct site *site = model_site(report->model, nr);
	struct place place;

	symbolizer_place(report->symbolizer, site->call_site, site->tag, &place);
	add_place(report, object, site->call_site, site->tag, &place);
	place_free(&place);
	return object;
}

static struct json_object *histogram(const struct lifetimes *l)
{
	struct json_object *list = json_object_new_array();
	struct json_object *pair;
	unsigned int i;

	for (i = 0; i < LIFETIME_BUCKETS; i++) {
		if (!l->bucket[i])
			continue;
		pair = json_object_new_array();
		json_object_array_add(pair, json_object_new_uint64(i ?
				      1ull << (i - 1) : 0));
		json_object_array_add(pair,
				      json_object_new_uint64(l->bucket[i]));
		json_object_array_add(list, pair);
	}
	return list;
}

static void add_lifetimes(struct json_object *to, const struct lifetimes *l)
{
	struct json_object *object = json_object_new_object();

	json_add_number(object, "count", l->count);
	if (l->count) {
		json_add_number(object, "min", l->min);
		json_add_number(object, "median", lifetimes_median(l));
		json_add_number(object, "max", l->max);
		json_add(object, "histogram", histogram(l));
	}
	json_add(to, "lifetimes", object);
}

static void add_sums(struct json_object *to, const struct stats *s)
{
	json_add_number(to, "allocs", s->allocs);
	json_add_number(to, "requested", s->requested);
	json_add_number(to, "allocated", s->allocated);
	json_add(to, "fragmentation",
		 json_object_new_int64(fragmentation(s->requested, s->allocated)));
	json_add_number(to, "live", s->live);
	json_add_number(to, "live_requested", s->live_bytes.requested);
	json_add_number(to, "live_allocated", s->live_bytes.allocated);
}

static void add_stats(struct json_object *to, const struct stats *s)
{
	add_sums(to, s);
	json_add_number(to, "frees", s->frees);
	json_add_number(to, "failed", s->failed);
	json_add_number(to, "cross_allocs", s->cross_allocs);
	json_add_number(to, "cross_frees", s->cross_frees);
	add_lifetimes(to, &s->lifetimes);
}

static struct json_object *trace_object(const struct report *report)
{
	struct json_object *o = json_object_new_object();
	const struct trace_header *h = report->header;

	json_add_string(o, "machine", h->machine);
	json_add_string(o, "release", h->release);
	json_add_string(o, "byte_order", h->big_endian ? "big" : "little");
	json_add_number(o, "word_bits", h->word_bits);
	json_add_number(o, "page_size", h->page_size);
	json_add_number(o, "abi_version", h->abi_version);
	json_add(o, "complete", json_object_new_boolean(h->complete));
	return o;
}

static struct json_object *records_object(const struct counts *c)
{
	struct json_object *o = json_object_new_object();

	json_add_number(o, "all", c->records);
	json_add_number(o, "allocs", c->allocs);
	json_add_number(o, "frees", c->frees);
	json_add_number(o, "lost", c->lost_records);
	json_add_number(o, "unknown", c->unknown);
	json_add_number(o, "null_frees", c->null_frees);
	return o;
}

static struct json_object *losses_object(const struct report *report)
{
	struct json_object *o = json_object_new_object();
	const struct counts *c = model_counts(report->model);
	const struct trace_header *h = report->header;

	if (h->lost_known) {
		json_add_number(o, "events", h->lost_events);
		json_add_number(o, "bytes", h->lost_bytes);
	}
	json_add_number(o, "told_events", c->lost_events);
	json_add_number(o, "told_bytes", c->lost_bytes);
	if (h->begins_known)
		json_add_number(o, "begins", h->begins);
	json_add_number(o, "gaps", c->gaps);
	json_add_number(o, "gaps_of_one", c->small_gaps);
	json_add_number(o, "missing", c->missing);
	json_add_number(o, "more_sites", c->more_sites);
	json_add_number(o, "more_sizes", c->more_sizes);
	return o;
}

static struct json_object *clock_object(const struct model *model)
{
	struct json_object *o = json_object_new_object();

	json_add_string(o, "unit", model_has_time(model) ? "ns" : "events");
	json_add_number(o, "duration", model_duration(model));
	return o;
}

static struct json_object *total_object(const struct report *report,
					const struct stats *s,
					unsigned int type, uint64_t before)
{
	struct json_object *o = json_object_new_object();
	uint64_t when, peak = model_peak(report->model, type, &when);

	add_stats(o, s);
	json_add_number(o, "frees_before_trace", before);
	json_add_number(o, "peak", peak);
	json_add_number(o, "peak_at", when);
	return o;
}

static struct json_object *totals_object(const struct report *report)
{
	const struct counts *c = model_counts(report->model);
	struct json_object *o = json_object_new_object();
	struct stats totals[MODEL_TYPES], all;
	uint64_t before = 0;
	unsigned int i;

	totals_make(report, totals, &all);
	for (i = 0; i < MODEL_TYPES; i++) {
		json_add(o, type_names[i], total_object(report, &totals[i], i,
							c->before[i]));
		before += c->before[i];
	}
	json_add(o, "all", total_object(report, &all, MODEL_TYPES, before));
	return o;
}

static struct json_object *finding_object(const struct report *report,
					  const struct finding *f)
{
	struct json_object *o = json_object_new_object();

	json_add_string(o, "kind", finding_names[f->kind]);
	json_add(o, "after_losses", json_object_new_boolean(f->after_losses));
	json_add(o, "error", json_object_new_boolean(!f->after_losses &&
						     f->kind != FINDING_MIXED));
	json_add_number(o, "count", f->count);
	add_address(o, "ptr", f->ptr);
	json_add_number(o, "sequence", f->sequence);
	json_add_number(o, "cpu", f->cpu);
	json_add_number(o, "offset", f->offset);
	json_add(o, "site", f->site == NO_SITE ? NULL :
	    site_object(report, f->site));
	json_add(o, "other", f->other == NO_SITE ? NULL :
	    site_object(report, f->other));
	return o;
}

static struct json_object *finding_counts(const struct report *report)
{
	const struct counts *c = model_counts(report->model);
	struct json_object *o = json_object_new_object(), *kind;
	unsigned int i;

	for (i = 0; i < FINDING_KINDS; i++) {
		kind = json_object_new_object();
		json_add_number(kind, "sure", c->findings[i][0]);
		json_add_number(kind, "after_losses", c->findings[i][1]);
		json_add(o, finding_names[i], kind);
	}
	return o;
}

static void put_findings(const struct report *report, FILE *out)
{
	uint32_t i, nr;
	struct finding *findings = findings_sorted(report, &nr);

	fputs(",\n\"findings\": [", out);
	for (i = 0; i < nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_put(out, finding_object(report, &findings[i]));
	}
	fputs("]", out);
	free(findings);
}

static struct json_object *row_object(const struct report *report,
				      enum group group, const struct row *row)
{
	struct json_object *o = json_object_new_object();

	json_add_string(o, "type", type_names[row->type]);
	if (group == BY_SITE || group == BY_TAG)
		add_place(report, o, row->call_site, row->tag, &row->place);
	if (group != BY_SIZE) {
		add_stats(o, &row->stats);
		return o;
	}
	json_add_number(o, "bytes_req", row->bytes.requested);
	json_add_number(o, "bytes_alloc", row->bytes.allocated);
	add_sums(o, &row->stats);
	return o;
}

static void put_rows(const struct report *report, enum group group,
		     const char *name, FILE *out)
{
	struct rows rows;
	uint32_t i;

	rows_make(report, group, report->sort, report->top, &rows);
	fprintf(out, ",\n\"%s\": [", name);
	for (i = 0; i < rows.nr; i++) {
		fputs(i ? ",\n" : "\n", out);
		json_put(out, row_object(report, group, &rows.rows[i]));
	}
	fprintf(out, "],\n\"%s_left_out\": %u", name, rows.more);
	rows_free(&rows);
}

static struct json_object *moment_object(const struct moment *m, uint64_t from)
{
	struct json_object *o = json_object_new_object();
	unsigned int i;

	json_add_number(o, "from", from);
	json_add_number(o, "allocs", m->allocs);
	json_add_number(o, "frees", m->frees);
	for (i = 0; i < MODEL_TYPES; i++)
		json_add_number(o, type_names[i], m->live[i]);
	json_add_number(o, "peak", m->peak);
	return o;
}

static struct json_object *timeline_object(const struct timeline *t)
{
	struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();
	unsigned int i;

	json_add_number(o, "width", 1ull << t->shift);
	for (i = 0; i < t->used; i++)
		json_object_array_add(list,
				      moment_object(&t->moments[i],
						    (uint64_t)i << t->shift));
	json_add(o, "moments", list);
	return o;
}

/* Interface */

/**
 * write_json - write the report as one JSON object
 * @report: the report
 * @out: output file
 */
void write_json(const struct report *report, FILE *out)
{
	static const char * const names[] = {
		[BY_SITE] = "sites",
		[BY_TAG] = "tags",
		[BY_SIZE] = "sizes",
		[BY_TYPE] = "types",
	};
	const struct model *model = report->model;

	fputs("{\n\"kmemtrace_report\": " REPORT_FORMAT, out);
	json_put_member(out, "trace", trace_object(report));
	json_put_member(out, "damage", json_object_new_uint64(report->damage));
	json_put_member(out, "records", records_object(model_counts(model)));
	json_put_member(out, "losses", losses_object(report));
	json_put_member(out, "clock", clock_object(model));
	json_put_member(out, "totals", totals_object(report));
	json_put_member(out, "finding_counts", finding_counts(report));
	put_findings(report, out);
	put_rows(report, report->group, names[report->group], out);
	if (report->group != BY_SIZE)
		put_rows(report, BY_SIZE, names[BY_SIZE], out);
	json_put_member(out, "timeline", timeline_object(model_timeline(model)));
	fputs("\n}\n", out);
}
