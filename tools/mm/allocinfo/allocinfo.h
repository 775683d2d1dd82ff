/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of allocinfo. Each is in a file of its own, cmd-*.c, and takes the words
 * after "allocinfo". A command returns an exit code of status.h.
 */
#ifndef _ALLOCINFO_H
#define _ALLOCINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "query.h"
#include "rows.h"

#define PROC_DIR	"/proc"

/* The last lines of --help of each command and of allocinfo itself. */
#define HELP_OPTIONS \
"  -h, --help           print this text\n" \
"  -V, --version        print the version\n"

/**
 * struct word - a word of an option and its value
 * @word: the word; the last entry of a list has none
 * @value: its value
 */
struct word {
	const char *word;
	int value;
};

/**
 * struct common - options that mean the same in all commands that have them
 * @output: file to write, NULL for standard output
 * @proc: directory to read instead of /proc
 * @top: number of rows to print, SIZE_MAX for all, 0 if it was not given
 * @plain: print plain numbers of bytes
 * @force: overwrite @output
 */
struct common {
	const char *output;
	const char *proc;
	uint64_t top;
	bool plain;
	bool force;
};

/* Long options without a letter. Those that only one command has begin at OPT_OWN. */
enum { OPT_PROC = 256, OPT_FORMAT, OPT_OWN };

int word_value(const struct word *words, const char *word);
uint64_t seconds_value(const char *word);
enum row_by by_value(const char *word);
void filter_value(struct query *query, char **words);
void common_option(struct common *common, int opt, const char *usage);

int cmd_record(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_leak(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_export(int argc, char **argv);

#endif /* _ALLOCINFO_H */
