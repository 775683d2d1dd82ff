/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parse commands about code tags, and find the tags that they select. See
 * lib/codetag_query.c.
 */
#ifndef _LINUX_CODETAG_QUERY_H
#define _LINUX_CODETAG_QUERY_H

#include <linux/types.h>

struct codetag;

/**
 * struct codetag_words - a command line, parsed word by word
 * @word: the current word, NULL at the end of the line
 * @column: column of @word in the line, from 1
 * @error: what is wrong with @word, NULL if nothing is
 *
 * Parsing stops at the first error.
 */
struct codetag_words {
	char *word;
	unsigned int column;
	const char *error;

	/* private: */
	char *text;
	char *next;
};

/**
 * struct codetag_query - the tags that a command selects
 * @file: pattern for the path of the file, or for its last component; NULL for
 *	any
 * @function: pattern for the name of the function, NULL for any
 * @module: pattern for the name of the module, NULL for any
 * @class: pattern for the class, NULL for any
 * @first_line: first line
 * @last_line: last line
 * @first_index: number of the first tag to select, counted from 0 among the
 *	tags that match all other terms
 * @last_index: number of the last tag to select
 *
 * Patterns are those of match_wildcard(): ``*`` and ``?``.
 */
struct codetag_query {
	const char *file;
	const char *function;
	const char *module;
	const char *class;
	unsigned int first_line;
	unsigned int last_line;
	unsigned int first_index;
	unsigned int last_index;

	/* private: */
	unsigned int seen;
};

void codetag_words_begin(struct codetag_words *w, char *text);
void codetag_words_next(struct codetag_words *w);
int codetag_words_wrong(struct codetag_words *w, const char *error);
void codetag_words_report(const struct codetag_words *w, const char *from);
int codetag_words_number(struct codetag_words *w, unsigned int min,
			 unsigned int max, unsigned int *number);

int codetag_query_parse(struct codetag_query *q, struct codetag_words *w);
bool codetag_query_match(struct codetag_query *q, const struct codetag *ct,
			 const char *modname, const char *class);

ssize_t codetag_command(const char *file, const char __user *buf, size_t count,
			int (*run)(struct codetag_words *w));

#endif /* _LINUX_CODETAG_QUERY_H */
