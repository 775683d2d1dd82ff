/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Replace a file atomically: its name always refers to a whole file, the old or the new.
 *
 * A link itself is replaced, because in a directory that other users can write to it may
 * lead anywhere. A device or a pipe is not replaced, but written to.
 *
 * The directory is opened long before the file is written and is kept open: if another user
 * puts a link in its place, the link is not followed.
 */
#ifndef _KMON_REPLACE_H
#define _KMON_REPLACE_H

#include <stdbool.h>
#include <stdio.h>

#include "outfile.h"

/**
 * struct replace - a file to be replaced
 * @path: path of the file, for messages
 * @name: name of the file in @dir
 * @dir: directory of the file, or -1 if it could not be opened
 * @err: errno if @dir is -1
 * @temp: temporary name until replace_end(); "" if the file is written in place
 */
struct replace {
	const char *path;
	const char *name;
	int dir;
	int err;
	char temp[OUTFILE_TEMP_SIZE];
};

void replace_open(struct replace *to, const char *path);
bool replace_in_place(const struct replace *to);
bool replace_possible(const struct replace *to);
FILE *replace_begin(struct replace *to);
bool replace_end(struct replace *to, FILE *file);
void replace_close(struct replace *to);

#endif /* _KMON_REPLACE_H */
