/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for numbers, from a file with one of both on each line: "pids.dat" and
 * "sites.dat".
 */
#ifndef _KMON_NAMES_H
#define _KMON_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "util.h"

/**
 * struct name - a line
 * @nr: the number
 * @text: what it is called: one line that clean_name() has seen
 */
struct name {
	uint32_t nr;
	char *text;
};

/**
 * struct names - the lines of a file
 * @names: in the order of the file
 * @nr: of @names
 * @room: in @names
 * @index: finds them
 */
struct names {
	struct name *names;
	uint32_t nr;
	uint32_t room;
	struct index index;
};

/**
 * typedef complain_fn - told of what is wrong in a file
 * @file: its name
 * @place: where: an offset, or a line
 * @what: is wrong
 * @data: what was given along
 */
typedef void complain_fn(const char *file, uint64_t place, const char *what, void *data);

bool names_read(struct names *names, FILE *file, const char *path,
		complain_fn *complain, void *data);
const char *names_get(const struct names *names, uint32_t nr);
void names_free(struct names *names);

#endif /* _KMON_NAMES_H */
