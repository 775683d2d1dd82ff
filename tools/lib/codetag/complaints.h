/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Complaints about damaged input, and a limit to how many of them are printed.
 *
 * The code that reads a file reports damage through complain(). The program chooses what
 * happens then: complaints_print() prints the first ones and counts all of them.
 */
#ifndef _CODETAG_COMPLAINTS_H
#define _CODETAG_COMPLAINTS_H

#include <stdarg.h>
#include <stdint.h>

#include "util.h"

/**
 * typedef complain_fn - receives a complaint
 * @file: name of the damaged file
 * @place: position in @file: an offset in bytes, or the number of a line of text
 * @what: the complaint, without a newline
 * @data: from struct complainer
 */
typedef void complain_fn(const char *file, uint64_t place, const char *what, void *data);

/**
 * struct complainer - receiver of complaints
 * @fn: called for each complaint; NULL to ignore them
 * @data: passed to @fn
 */
struct complainer {
	complain_fn *fn;
	void *data;
};

void vcomplain(const struct complainer *to, const char *file, uint64_t place,
	       const char *format, va_list args);
void __printf(4, 5) complain(const struct complainer *to, const char *file,
			     uint64_t place, const char *format, ...);
void complaints_print(const char *file, uint64_t place, const char *what, void *count);
void complaints_end(uint64_t count);

#endif /* _CODETAG_COMPLAINTS_H */
