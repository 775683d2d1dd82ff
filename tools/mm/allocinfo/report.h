/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The formats of allocinfo report. Each writer gets rows that are sorted; the first @nr of
 * them are to be written.
 */
#ifndef _ALLOCINFO_REPORT_H
#define _ALLOCINFO_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "contexts.h"
#include "input.h"
#include "nodes.h"
#include "rows.h"

/* version of the JSON output */
#define REPORT_FORMAT	1

/**
 * struct report - a table to be written
 * @input: the table and where it comes from
 * @contexts: stacks of call sites, perhaps none
 * @nodes: memory by node, without nodes if it was not asked for
 * @rows: its rows
 * @nr: number of rows to be written
 * @plain: print plain numbers of bytes
 * @calls: the weight of folded stacks is calls, not bytes
 */
struct report {
	struct input input;
	struct contexts contexts;
	struct nodes nodes;
	struct rows rows;
	size_t nr;
	bool plain;
	bool calls;
};

void write_text(const struct report *report, FILE *out);
void write_csv(const struct report *report, FILE *out);
void write_json(const struct report *report, FILE *out);
void write_nodes_text(const struct report *report, FILE *out);
void write_nodes_csv(const struct report *report, FILE *out);
void write_nodes_json(const struct report *report, FILE *out);
void write_openmetrics(const struct report *report, FILE *out);
void write_folded(const struct report *report, FILE *out);
bool write_pprof(const struct report *report, FILE *out);

#endif /* _ALLOCINFO_REPORT_H */
