/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that come from elsewhere, made safe for a terminal, JSON, CSV and folded stacks.
 */
#ifndef _CODETAG_UTF8_H
#define _CODETAG_UTF8_H

#include <stdio.h>

void clean_name(char *name);
void put_quoted(FILE *out, const char *text);
void put_csv(FILE *out, const char *text);
void put_frame(FILE *out, const char *text);

#endif /* _CODETAG_UTF8_H */
