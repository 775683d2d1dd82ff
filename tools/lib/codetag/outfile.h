/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs write to: one rule for files, one for directories.
 *
 * A file that is there is refused, unless the user forces it. A new file is made in
 * place of the old one, readable by its owner alone; a link is replaced, and what it
 * leads to is never touched. With force, a device or a pipe is written to. So root can
 * write into a directory that others may write to.
 *
 * A directory must belong to the user, and no other user may write to it.
 */
#ifndef _CODETAG_OUTFILE_H
#define _CODETAG_OUTFILE_H

#include <stdbool.h>

/* The name of a file that gets its own later; eight digits follow. */
#define OUTFILE_TEMP		".codetag-"
#define OUTFILE_TEMP_SIZE	(sizeof(OUTFILE_TEMP) + 8)

int outfile_open(const char *path, bool force);
int outfile_parent(const char *path, const char **name);
bool outfile_in_place(int dir, const char *name);
int outfile_open_in_place(int dir, const char *name);
bool outfile_usable(int dir, const char *name);
bool outfile_replaceable(int dir, const char *name);
int outfile_temp(int dir, char temp[OUTFILE_TEMP_SIZE]);
bool outfile_rename(int dir, const char *temp, const char *name);
int outdir_open(const char *path);

#endif /* _CODETAG_OUTFILE_H */
