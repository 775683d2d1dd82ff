/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writers of kmonparse: a record or a summary in one of the formats.
 *
 * The writers know nothing of how a log is read and sorted: parse.c calls them, and they
 * call nothing of parse.c.
 */
#ifndef _KMON_WRITE_H
#define _KMON_WRITE_H

#include <stdio.h>

#include "allocs.h"
#include "ctf.h"
#include "names.h"
#include "sched.h"

/* version of the JSON of a summary */
#define SUMMARY_FORMAT	"1"

/**
 * struct writer - what the writers need besides the record
 * @out: output file; CTF does not use it
 * @with_names: text: add names of tasks and call sites
 * @scale: nanoseconds per unit of time
 * @top: rows in each list of a summary, 0 for all
 * @pids: names of tasks
 * @sites: names of call sites
 * @base: time of the first record of the log
 * @sched: summaries: what the tasks and CPUs did
 * @allocs: summaries: what was allocated
 * @ctf: CTF: the trace
 */
struct writer {
	FILE *out;
	bool with_names;
	uint64_t scale;
	unsigned int top;
	struct names pids;
	struct names sites;
	uint64_t base;
	struct sched *sched;
	struct allocs *allocs;
	struct ctf_writer *ctf;
};

/**
 * struct rebased - a time relative to the first record of the log
 * @minus: the time is before the first record
 * @units: distance in units of time
 */
struct rebased {
	bool minus;
	uint64_t units;
};

struct rebased rebase(const struct writer *writer, uint64_t time);
void put_names(const struct writer *writer, const struct record *record, bool json);

void write_text(const struct writer *writer, const struct record *record);
void write_json(const struct writer *writer, const struct record *record);
void write_ctf(const struct writer *writer, const struct record *record);
bool write_ctf_end(const struct writer *writer);
void write_summary(const struct writer *writer);
void write_summary_json(const struct writer *writer);

#endif /* _KMON_WRITE_H */
