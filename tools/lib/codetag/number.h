/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers, sizes and times from the command line and from lines of text.
 */
#ifndef _CODETAG_NUMBER_H
#define _CODETAG_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

bool number_take(const char *text, uint64_t *number, const char **end);
bool number_parse(const char *text, uint64_t max, uint64_t *number);
bool size_parse(const char *text, uint64_t max, uint64_t *size);
bool seconds_parse(const char *text, uint64_t max, uint64_t *seconds);

#endif /* _CODETAG_NUMBER_H */
