/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON written with json-c, in pieces.
 *
 * The outermost object and its lists are written by the caller, so that a long report does
 * not have to be in memory as a whole; json-c writes each piece. A write error stays in
 * the file and is found by outfile_close().
 *
 * A program that uses this links $(JSON_OBJ) and $(JSON_LIBS), see tools.mk.
 */
#ifndef _CODETAG_JSONFILE_H
#define _CODETAG_JSONFILE_H

#include <json-c/json.h>
#include <stdint.h>
#include <stdio.h>

void json_add(struct json_object *to, const char *name, struct json_object *value);
void json_add_number(struct json_object *to, const char *name, uint64_t number);
void json_add_string(struct json_object *to, const char *name, const char *text);
void json_put(FILE *out, struct json_object *object);
void json_put_member(FILE *out, const char *name, struct json_object *object);

#endif /* _CODETAG_JSONFILE_H */
