/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write a file so that under its name there is always a whole one, the old or the
 * new.
 *
 * What is no regular file, as /dev/null, is not replaced, but written to. Behind a
 * link, it is what the link leads to that is replaced.
 */
#ifndef _KMON_REPLACE_H
#define _KMON_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

bool replace_in_place(const char *path);
bool replace_possible(const char *path);
FILE *replace_begin(const char *path, char **temp);
bool replace_end(const char *path, char *temp, FILE *file);

#endif /* _KMON_REPLACE_H */
