/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Converting a log: read the records, sort them, and pass them to a writer.
 */
#ifndef _KMON_PARSE_H
#define _KMON_PARSE_H

#include <stdio.h>

#include "complaints.h"
#include "sort.h"
#include "write.h"

enum format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_CTF,
	FORMAT_SUMMARY,
	FORMAT_SUMMARY_JSON,
};

/**
 * struct parse - a log that is being converted
 * @format: output format
 * @writer: output, names and scale; parse_begin() sets the rest
 * @ctf_dir: FORMAT_CTF: directory for the trace
 * @sort: sort the records by time; required by FORMAT_CTF and by the summaries
 * @memory: bytes of memory for sorting
 * @complainer: receives complaints about damage
 * @begun: @writer.base is set
 * @failed: the log could not be converted to its end
 * @unwritten: the CTF trace could not be written
 * @sorter: records that are not written yet
 */
struct parse {
	enum format format;
	struct writer writer;
	const char *ctf_dir;
	bool sort;
	size_t memory;
	struct complainer complainer;
	bool begun;
	bool failed;
	bool unwritten;
	struct sorter *sorter;
};

bool parse_begin(struct parse *parse);
bool parse_file(struct parse *parse, FILE *file, const char *name);
bool parse_end(struct parse *parse);
void parse_free(struct parse *parse);

#endif /* _KMON_PARSE_H */
