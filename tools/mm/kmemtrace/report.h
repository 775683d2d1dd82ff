/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interfaces between the parts of kmemtrace-report:
 *
 *	report.c		options
 *	report-text.c ...	the writers, one for each format
 *	report-rows.c		rows: grouped, sorted and named
 *	report-symbols.c	names of call sites
 *	report-model.c		the model, from report-events.c, report-sites.c and
 *				report-timeline.c
 *
 * Each part calls only parts below it.
 *
 * The model is complete before anything is written, except for CTF, which contains the
 * records themselves. A writer always writes the same bytes for the same trace, because
 * the order of each list is total.
 */
#ifndef _KMEMTRACE_REPORT_H
#define _KMEMTRACE_REPORT_H

#include <stdio.h>

#include "report-model.h"
#include "report-symbols.h"

/* version of the JSON output */
#define REPORT_FORMAT	"1"

/**
 * enum sort_key - key for sorting the rows, largest first
 * @SORT_ALLOCATED: allocated bytes
 * @SORT_REQUESTED: requested bytes
 * @SORT_FRAGMENTATION: allocated less requested bytes
 * @SORT_LIVE: live bytes at the end
 * @SORT_CALLS: allocations
 * @SORT_FREES: frees
 * @SORT_LIFETIME: median lifetime
 * @SORT_CROSS_CPU: allocations and frees across CPUs
 */
enum sort_key {
	SORT_ALLOCATED,
	SORT_REQUESTED,
	SORT_FRAGMENTATION,
	SORT_LIVE,
	SORT_CALLS,
	SORT_FREES,
	SORT_LIFETIME,
	SORT_CROSS_CPU,
};

/**
 * enum group - what the allocations in a row have in common
 * @BY_SITE: call site: address, tag and type
 * @BY_TAG: code tag and type
 * @BY_SIZE: bytes requested and allocated, and type
 * @BY_TYPE: enum kmemtrace_type_id
 */
enum group {
	BY_SITE,
	BY_TAG,
	BY_SIZE,
	BY_TYPE,
};

/**
 * enum section - parts of the text
 * @SECTION_SUMMARY: totals by type, losses, CPUs
 * @SECTION_ROWS: rows by site, tag, size, or type
 * @SECTION_SIZES: rows by size
 * @SECTION_ERRORS: findings
 * @SECTION_LIVE: rows by live bytes at the end
 * @SECTION_LIFETIMES: lifetimes of freed memory
 * @SECTION_TIMELINE: live bytes over the trace
 * @SECTION_ALL: all of them
 */
enum section {
	SECTION_SUMMARY		= BIT(0),
	SECTION_ROWS		= BIT(1),
	SECTION_SIZES		= BIT(2),
	SECTION_ERRORS		= BIT(3),
	SECTION_LIVE		= BIT(4),
	SECTION_LIFETIMES	= BIT(5),
	SECTION_TIMELINE	= BIT(6),
	SECTION_ALL		= BIT(7) - 1,
};

/**
 * enum weight - weight of a folded stack
 * @WEIGHT_LIVE: live bytes at the end
 * @WEIGHT_ALLOCATED: allocated bytes
 * @WEIGHT_REQUESTED: requested bytes
 * @WEIGHT_CALLS: allocations
 */
enum weight {
	WEIGHT_LIVE,
	WEIGHT_ALLOCATED,
	WEIGHT_REQUESTED,
	WEIGHT_CALLS,
};

/**
 * struct report - what a writer needs
 * @header: header of the trace
 * @model: the model after the last record
 * @symbolizer: names call sites
 * @damage: number of complaints about the trace
 * @group: what the allocations in a row have in common
 * @sort: order of rows
 * @top: rows at most, 0 for all
 * @sections: parts of the text
 * @weight: weight of folded stacks
 * @plain: print bytes and nanoseconds as plain numbers
 */
struct report {
	const struct trace_header *header;
	struct model *model;
	struct symbolizer *symbolizer;
	uint64_t damage;
	enum group group;
	enum sort_key sort;
	unsigned int top;
	unsigned int sections;
	enum weight weight;
	bool plain;
};

/**
 * struct row - a line of the report
 * @stats: sums
 * @type: enum kmemtrace_type_id
 * @call_site: BY_SITE: return address
 * @tag: BY_SITE and BY_TAG: code tag, 0 for none
 * @bytes: BY_SIZE: size of one allocation
 * @place: BY_SITE and BY_TAG: name
 */
struct row {
	struct stats stats;
	uint8_t type;
	uint64_t call_site;
	uint16_t tag;
	struct bytes bytes;
	struct place place;
};

/**
 * struct rows - sorted rows
 * @rows: the rows
 * @nr: number of rows
 * @more: number of rows beyond the limit
 * @rest: sums of these rows
 */
struct rows {
	struct row *rows;
	uint32_t nr;
	uint32_t more;
	struct stats rest;
};

void rows_make(const struct report *report, enum group group,
	       enum sort_key sort, unsigned int top, struct rows *rows);
void rows_free(struct rows *rows);
struct finding *findings_sorted(const struct report *report, uint32_t *nr);
void totals_make(const struct report *report, struct stats totals[MODEL_TYPES],
		 struct stats *all);
int64_t fragmentation(uint64_t requested, uint64_t allocated);

extern const char * const type_names[MODEL_TYPES];
extern const char * const finding_names[FINDING_KINDS];
extern const char * const finding_words[FINDING_KINDS];

void place_label(const struct report *report, uint64_t call_site,
		 const struct place *place, char *label, size_t size);
void row_label(const struct report *report, enum group group,
	       const struct row *row, char *label, size_t size);

void write_text(const struct report *report, FILE *out);
void write_json(const struct report *report, FILE *out);
void write_csv(const struct report *report, FILE *out);
void write_folded(const struct report *report, FILE *out);
bool write_pprof(const struct report *report, FILE *out);
bool write_ctf(const struct report *report, struct trace *trace, const char *dir);

#endif /* _KMEMTRACE_REPORT_H */
