/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sizes, times and call sites in words, for the text of `allocinfo leak` and `why`.
 */
#ifndef _ALLOCINFO_WORDS_H
#define _ALLOCINFO_WORDS_H

#include <stddef.h>
#include <stdio.h>

#include "place.h"
#include "table.h"

const char *words_size(double bytes, char text[BYTES_TEXT]);
const char *words_time(double seconds, char *text, size_t room);
const char *words_date(double seconds, char *text, size_t room);
void words_site(const struct site *site, FILE *out);

#endif /* _ALLOCINFO_WORDS_H */
