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
 * struct name - a line of the file
 * @nr: the number
 * @text: the name, after clean_name()
 */
struct name {
	uint32_t nr;
	char *text;
};

/**
 * struct names - the lines of a file
 * @names: names, in the order of the file
 * @nr: number of @names
 * @room: number of @names that fit
 * @index: finds a name by its number
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
