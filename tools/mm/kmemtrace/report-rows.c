// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows from the model: grouped, sorted, limited to the first ones, and named.
 *
 * Only the rows that are shown get names, because searching the debug information is slow.
 * Rows with the same sort key are in a fixed order, so that the same trace always gives
 * the same report.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Data */

const char * const type_names[MODEL_TYPES] = { "kmalloc", "cache", "pages" };

const char * const finding_names[FINDING_KINDS] = {
	[FINDING_SHORT]		= "short_allocation",
	[FINDING_WRONG_API]	= "wrong_api",
	[FINDING_DOUBLE_FREE]	= "double_free",
	[FINDING_UNKNOWN]	= "unknown_free",
	[FINDING_STILL_LIVE]	= "still_live",
	[FINDING_MIXED]		= "mixed_api",
};

const char * const finding_words[FINDING_KINDS] = {
	[FINDING_SHORT]		= "allocated less than requested",
	[FINDING_WRONG_API]	= "freed with the wrong API",
	[FINDING_DOUBLE_FREE]	= "freed twice",
	[FINDING_UNKNOWN]	= "freed, but not allocated",
	[FINDING_STILL_LIVE]	= "allocated again without a free",
	[FINDING_MIXED]		= "object of a cache freed with kfree()",
};

/* Internals */

/* Fragmentation is signed: rows with a negative value come last. */
static int64_t sort_value(const struct stats *s, enum sort_key sort)
{
	uint64_t value = 0;

	switch (sort) {
	case SORT_FRAGMENTATION:
		return fragmentation(s->requested, s->allocated);
	case SORT_ALLOCATED:
		value = s->allocated;
		break;
	case SORT_REQUESTED:
		value = s->requested;
		break;
	case SORT_LIVE:
		value = s->live_bytes.allocated;
		break;
	case SORT_CALLS:
		value = s->allocs;
		break;
	case SORT_FREES:
		value = s->frees;
		break;
	case SORT_LIFETIME:
		value = s->lifetimes.count ?
			sat_add(lifetimes_median(&s->lifetimes), 1) : 0;
		break;
	case SORT_CROSS_CPU:
		value = s->cross_allocs + s->cross_frees;
		break;
	}
	return min_u64(value, INT64_MAX);
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_keys(const struct row *x, const struct row *y)
{
	int c = compare_u64(x->call_site, y->call_site);

	if (!c)
		c = compare_u64(x->tag, y->tag);
	if (!c)
		c = compare_u64(x->bytes.requested, y->bytes.requested);
	if (!c)
		c = compare_u64(x->bytes.allocated, y->bytes.allocated);
	return c ? c : compare_u64(x->type, y->type);
}

static int compare_rows(const void *a, const void *b, void *data)
{
	const struct row *x = a, *y = b;
	enum sort_key sort = *(enum sort_key *)data;
	int64_t p = sort_value(&x->stats, sort);
	int64_t q = sort_value(&y->stats, sort);

	if (p != q)
		return p < q ? 1 : -1;
	return compare_keys(x, y);
}

static struct row *row_add(struct rows *rows, const struct row *row)
{
	if (!(rows->nr & (rows->nr - 1)))
		rows->rows = need_more(rows->rows, rows->nr ? rows->nr * 2 : 1,
				       sizeof(*row));
	rows->rows[rows->nr] = *row;
	return &rows->rows[rows->nr++];
}

static bool row_same(const void *table, uint32_t nr, const void *key)
{
	const struct rows *rows = table;

	return !compare_keys(&rows->rows[nr], key);
}

static uint64_t row_hash(const struct row *row)
{
	return hash_u64(row->bytes.requested ^
			hash_u64(row->bytes.allocated ^
				 (uint64_t)row->type << 56) ^
			(uint64_t)row->tag << 40);
}

/* Find the row with the same key as @row, or add @row. */
static struct row *row_for(struct rows *rows, struct index *index,
			   const struct row *row)
{
	uint64_t hash = row_hash(row);
	uint32_t nr = index_find(index, hash, row_same, rows, row);

	if (nr != INDEX_NONE)
		return &rows->rows[nr];
	index_add(index, hash, rows->nr);
	return row_add(rows, row);
}

static bool is_shown(const struct site *site)
{
	return site->stats.allocs || site->stats.failed;
}

static void group_sites(const struct report *report, enum group group,
			struct rows *rows)
{
	uint32_t i, nr = model_nr_sites(report->model);
	struct index index = { 0 };
	const struct site *site;
	struct row row = { 0 };

	for (i = 0; i < nr; i++) {
		site = model_site(report->model, i);
		if (!is_shown(site))
			continue;
		row.type = site->type;
		row.call_site = group == BY_SITE ? site->call_site : 0;
		row.tag = group == BY_TYPE ? 0 : site->tag;
		if (group == BY_SITE) {
			row.stats = site->stats;
			row_add(rows, &row);
		} else {
			stats_add(&row_for(rows, &index, &row)->stats,
				  &site->stats);
		}
	}
	index_free(&index);
}

static uint64_t sat_mul(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

struct live_sizes {
	const struct report *report;
	struct rows *rows;
	struct index *index;
};

/*
 * After a part of a block was freed, the rest can have a size that no allocation had. Add a
 * row for that size unless there are MODEL_SIZES rows.
 */
static void size_is_live(void *data, uint32_t nr_site, struct bytes bytes)
{
	struct live_sizes *l = data;
	struct row key = {
		.type = model_site(l->report->model, nr_site)->type,
		.bytes = bytes,
	};
	struct stats *s;

	if (l->rows->nr >= MODEL_SIZES &&
	    index_find(l->index, row_hash(&key), row_same, l->rows, &key) == INDEX_NONE)
		return;
	s = &row_for(l->rows, l->index, &key)->stats;
	s->live++;
	s->live_bytes.requested = sat_add(s->live_bytes.requested,
					  bytes.requested);
	s->live_bytes.allocated = sat_add(s->live_bytes.allocated,
					  bytes.allocated);
}

static void group_sizes(const struct report *report, struct rows *rows)
{
	struct index index = { 0 };
	struct live_sizes live = { report, rows, &index };
	struct row row = { 0 };
	const struct size *size;
	struct stats *s;
	uint32_t i, nr;

	size = model_sizes(report->model, &nr);
	for (i = 0; i < nr; i++, size++) {
		row.type = model_site(report->model, size->site)->type;
		row.bytes = size->bytes;
		s = &row_for(rows, &index, &row)->stats;
		s->allocs += size->allocs;
		s->requested = sat_mul(s->allocs, row.bytes.requested);
		s->allocated = sat_mul(s->allocs, row.bytes.allocated);
	}
	model_each_live(report->model, size_is_live, &live);
	index_free(&index);
}

static void rows_cut(struct rows *rows, unsigned int top)
{
	uint32_t i;

	if (!top || rows->nr <= top)
		return;
	for (i = top; i < rows->nr; i++)
		stats_add(&rows->rest, &rows->rows[i].stats);
	rows->more = rows->nr - top;
	rows->nr = top;
}

/* Interface */

/**
 * rows_make - make the rows of a report
 * @report: the report
 * @group: what the allocations in a row have in common
 * @sort: key for sorting
 * @top: number of rows at most, 0 for all
 * @rows: result, for rows_free()
 */
void rows_make(const struct report *report, enum group group,
	       enum sort_key sort, unsigned int top, struct rows *rows)
{
	struct row *row;

	*rows = (struct rows){ .rows = need_memory(1, sizeof(*row)) };
	if (group == BY_SIZE)
		group_sizes(report, rows);
	else
		group_sites(report, group, rows);
	qsort_r(rows->rows, rows->nr, sizeof(*rows->rows), compare_rows, &sort);
	rows_cut(rows, top);
	if (group != BY_SITE && group != BY_TAG)
		return;
	for (row = rows->rows; row < rows->rows + rows->nr; row++)
		symbolizer_place(report->symbolizer, row->call_site, row->tag,
				 &row->place);
}

/**
 * rows_free - free rows
 * @rows: from rows_make()
 */
void rows_free(struct rows *rows)
{
	uint32_t i;

	for (i = 0; i < rows->nr; i++)
		place_free(&rows->rows[i].place);
	free(rows->rows);
}

static int compare_findings(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;

	if (x->after_losses != y->after_losses)
		return x->after_losses ? 1 : -1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	if (x->sequence != y->sequence)
		return compare_u64(x->sequence, y->sequence);
	if (x->site != y->site)
		return compare_u64(x->site, y->site);
	return compare_u64(x->other, y->other);
}

/**
 * findings_sorted - sort the findings, certain and frequent ones first
 * @report: the report
 * @nr: set to the number of findings
 *
 * Return: a sorted copy; the caller frees it with free().
 */
struct finding *findings_sorted(const struct report *report, uint32_t *nr)
{
	const struct finding *from = model_findings(report->model, nr);
	struct finding *findings = need_memory(*nr, sizeof(*findings));

	if (*nr) {
		memcpy(findings, from, *nr * sizeof(*findings));
		qsort(findings, *nr, sizeof(*findings), compare_findings);
	}
	return findings;
}

/**
 * totals_make - sum up all call sites
 * @report: the report
 * @totals: sums by type
 * @all: sums of all types
 */
void totals_make(const struct report *report, struct stats totals[MODEL_TYPES],
		 struct stats *all)
{
	uint32_t i, nr = model_nr_sites(report->model);
	const struct site *site;

	memset(totals, 0, MODEL_TYPES * sizeof(*totals));
	memset(all, 0, sizeof(*all));
	for (i = 0; i < nr; i++) {
		site = model_site(report->model, i);
		stats_add(&totals[site->type], &site->stats);
	}
	for (i = 0; i < MODEL_TYPES; i++)
		stats_add(all, &totals[i]);
}

/**
 * fragmentation - compute internal fragmentation
 * @requested: requested bytes
 * @allocated: allocated bytes
 *
 * Return: bytes, negative if less was allocated than requested.
 */
int64_t fragmentation(uint64_t requested, uint64_t allocated)
{
	if (allocated >= requested)
		return min_u64(allocated - requested, INT64_MAX);
	return -(int64_t)min_u64(requested - allocated, INT64_MAX);
}

/**
 * place_label - describe a call site
 * @report: the report
 * @call_site: return address
 * @place: its name
 * @label: result
 * @size: of @label
 */
void place_label(const struct report *report, uint64_t call_site,
		 const struct place *place, char *label, size_t size)
{
	const char *function = place->function ? place->function : "?";
	size_t len = 0;
	int digits = report->header->word_bits == 32 ? 8 : 16;

	if (place->file)
		len = snprintf(label, size, "%s:%u %s", place->file,
			       place->line, function);
	else if (place->function)
		len = snprintf(label, size, "%s+0x%" PRIx64, function,
			       place->offset);
	else if (call_site)
		len = snprintf(label, size, "0x%0*" PRIx64, digits, call_site);
	else
		len = snprintf(label, size, "(unknown)");
	if (place->module && len < size)
		snprintf(label + len, size - len, " [%s]", place->module);
}

/**
 * row_label - describe a row
 * @report: the report
 * @group: what the allocations in the row have in common
 * @row: the row
 * @label: result
 * @size: of @label
 */
void row_label(const struct report *report, enum group group,
	       const struct row *row, char *label, size_t size)
{
	if (group == BY_TYPE)
		snprintf(label, size, "%s", type_names[row->type]);
	else if (group == BY_SIZE)
		snprintf(label, size, "%s %" PRIu64 " in %" PRIu64,
			 type_names[row->type], row->bytes.requested,
			 row->bytes.allocated);
	else if (group == BY_TAG && !row->tag)
		snprintf(label, size, "(no tag)");
	else
		place_label(report, row->call_site, &row->place, label, size);
}
