/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of rows in each format, and numbers of bytes for people. The names come from
 * struct input, where they are safe for a terminal and for JSON.
 */
#ifndef _ALLOCINFO_PLACE_H
#define _ALLOCINFO_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "jsonfile.h"
#include "rows.h"

#define PLACE_TEXT	512
#define BYTES_TEXT	24

const char *place_heading(enum row_by by);
const char *place_text(enum row_by by, const struct site *site, char text[PLACE_TEXT]);
void place_csv_heading(FILE *out, enum row_by by);
void place_csv(FILE *out, enum row_by by, const struct site *site);
void place_json(struct json_object *to, enum row_by by, const struct site *site);

const char *bytes_text(int64_t bytes, bool plain, char text[BYTES_TEXT]);
void json_add_signed(struct json_object *to, const char *name, int64_t number);

#endif /* _ALLOCINFO_PLACE_H */
