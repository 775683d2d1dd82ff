/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for numbers, from a file with a number and a name on each line: "pids.dat" and
 * "sites.dat".
 */
#ifndef _KMON_NAMES_H
#define _KMON_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "complaints.h"
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

bool names_read(struct names *names, FILE *file, const char *path,
		const struct complainer *to);
const char *names_get(const struct names *names, uint32_t nr);
void names_free(struct names *names);

#endif /* _KMON_NAMES_H */
