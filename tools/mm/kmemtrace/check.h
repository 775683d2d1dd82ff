/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interfaces between the parts of kmemtrace_check:
 *
 *	kmemtrace_check.c (options) -> check-trace.c (a whole trace) -> check-file.c
 */
#ifndef _KMEMTRACE_CHECK_H
#define _KMEMTRACE_CHECK_H

#include "trace.h"

/**
 * struct check_options - options of the command line
 * @max_errors: errors to print for each file; the others are only counted
 * @quiet: print no summaries
 * @begins_given: @begins is set
 * @begins: how often recording was switched on
 */
struct check_options {
	uint64_t max_errors;
	bool quiet;
	bool begins_given;
	uint64_t begins;
};

/**
 * struct check_result - findings that determine the exit code
 * @errors: number of errors found
 * @trouble: something could not be read
 * @unknown: records may be missing, and the trace does not show it
 */
struct check_result {
	uint64_t errors;
	bool trouble;
	bool unknown;
};

extern struct check_options check_options;
extern struct check_result check_result;

bool check_file(const char *name, const struct trace_header *header);
void check_unreadable(const char *name, const char *what);

void check_one(const char *name);
void check_forget_header(void);
void check_all(const char *dir);

#endif /* _KMEMTRACE_CHECK_H */
