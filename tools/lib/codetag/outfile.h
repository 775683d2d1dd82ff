/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Outputs of the programs: one rule for files, one for directories.
 *
 * An existing file is only overwritten if the user forces it. Then a new file takes the
 * place of the old one, readable only by its owner. A link is replaced, and its target
 * is never touched. With force, the programs also write to an existing device or pipe.
 * So root can safely write into a directory that other users can write to.
 *
 * A directory must belong to the user, and no other user may have write access.
 */
#ifndef _CODETAG_OUTFILE_H
#define _CODETAG_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

/* Prefix of the name of a temporary file; eight hexadecimal digits follow. */
#define OUTFILE_TEMP		".codetag-"
#define OUTFILE_TEMP_SIZE	(sizeof(OUTFILE_TEMP) + 8)

int outfile_open(const char *path, bool force);
FILE *outfile_stream(const char *path, bool force);
bool outfile_close(FILE *out, const char *path, bool ok);
int outfile_parent(const char *path, const char **name);
bool outfile_in_place(int dir, const char *name);
int outfile_open_in_place(int dir, const char *name);
bool outfile_usable(int dir, const char *name);
bool outfile_replaceable(int dir, const char *name);
int outfile_temp(int dir, char temp[OUTFILE_TEMP_SIZE]);
bool outfile_rename(int dir, const char *temp, const char *name);
int outdir_open(const char *path);

#endif /* _CODETAG_OUTFILE_H */
