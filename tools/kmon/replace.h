/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Write a file so that under its name there is always a whole one, the old or the
 * new.
 *
 * A link is replaced itself, whatever it leads to: in a directory that others may
 * write to it may lead anywhere. A device or a pipe is not replaced, but written to.
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
