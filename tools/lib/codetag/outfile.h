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

int outfile_open(const char *path, bool force);
int outfile_in_place(const char *path);
bool outfile_usable(const char *path);
bool outfile_replaceable(const char *path);
int outdir_open(const char *path);

#endif /* _CODETAG_OUTFILE_H */
