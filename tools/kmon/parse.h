/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A log on its way through kmonparse: read, sorted, written in some form.
 */
#ifndef _KMON_PARSE_H
#define _KMON_PARSE_H

#include <stdio.h>

#include "allocs.h"
#include "names.h"
#include "sched.h"
#include "sort.h"

#define KMONPARSE_VERSION	"1"

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CTF,
	FORMAT_SUMMARY,
	FORMAT_SUMMARY_JSON,
};

/**
 * struct parse - what is asked for, and what has come of it
 * @format: what to write
 * @out: where to; not for FORMAT_CTF
 * @ctf_dir: for FORMAT_CTF
 * @sort: records by time; FORMAT_CTF and summaries need it
 * @with_names: in FORMAT_TEXT: names of tasks and lines
 * @scale: nanoseconds in a unit of time
 * @top: rows of a list of a summary, 0: all
 * @memory: to sort in
 * @pids: names of tasks
 * @sites: names of lines of code
 * @complainer: receives complaints about damage
 * @begun: @base is set
 * @base: time of the first record of the log, as it is in the file
 * @failed: it came to a bad end
 * @unwritten: because the trace in @ctf_dir could not be written
 * @sorter: records that are not written yet
 * @sched: for summaries
 * @allocs: for summaries
 * @ctf: for FORMAT_CTF
 */
struct parse {
	enum format format;
	FILE *out;
	const char *ctf_dir;
	bool sort;
	bool with_names;
	uint64_t scale;
	unsigned int top;
	size_t memory;
	struct names pids;
	struct names sites;
	struct complainer complainer;
	bool begun;
	uint64_t base;
	bool failed;
	bool unwritten;
	struct sorter *sorter;
	struct sched *sched;
	struct allocs *allocs;
	struct ctf_writer *ctf;
};

bool parse_begin(struct parse *parse);
bool parse_file(struct parse *parse, FILE *file, const char *name);
bool parse_end(struct parse *parse);
void parse_free(struct parse *parse);

/**
 * struct rebased - a time from the first record of the log on
 * @minus: it is earlier
 * @units: how many
 */
struct rebased {
	bool minus;
	uint64_t units;
};

struct rebased rebase(const struct parse *parse, uint64_t time);

/* a record in each form, and what comes at the end of all */
void write_text(struct parse *parse, const struct record *record);
void write_json(struct parse *parse, const struct record *record);
void write_ctf(struct parse *parse, const struct record *record);
bool write_ctf_end(struct parse *parse);
void write_summary(struct parse *parse);
void write_summary_json(struct parse *parse);

void put_names(const struct parse *parse, const struct record *record, bool json);

/* for both summaries: pointers, the first rows first, to be freed */
const struct task **tasks_by_run(const struct sched *sched);
const struct site **sites_by_bytes(const struct allocs *allocs, uint32_t *nr);
uint64_t latency_median(const struct sched *sched);

#endif /* _KMON_PARSE_H */
