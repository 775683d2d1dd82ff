// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replace a file as a whole, see replace.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"
#include "replace.h"
#include "util.h"

/* Behind the name of the file, while it is written. */
#define TEMP_SUFFIX	".XXXXXX"

static bool complain(const char *path)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, path,
		strerror(errno));
	return false;
}

static FILE *open_in_place(const char *path)
{
	int fd = outfile_in_place(path);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		complain(path);
	return file;
}

/**
 * replace_in_place - is it no file to replace, but something to write to
 * @path: of the file
 *
 * Return: true for a device or a pipe; then writing may take as long as it pleases.
 */
bool replace_in_place(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) &&
	       !S_ISDIR(st.st_mode);
}

/**
 * replace_possible - see whether there is any hope, before there is work to lose
 * @path: of the file
 *
 * Return: false after a message.
 */
bool replace_possible(const char *path)
{
	char *name;
	bool ok;

	if (replace_in_place(path))
		return outfile_usable(path) || complain(path);
	name = need_string(path);
	ok = !access(dirname(name), W_OK) && outfile_replaceable(path);
	free(name);
	return ok || complain(path);
}

/**
 * replace_begin - begin to write
 * @path: of the file
 * @temp: the name it has until replace_end(); NULL: it is written in place
 *
 * Return: what to write to, or NULL after a message.
 */
FILE *replace_begin(const char *path, char **temp)
{
	FILE *file = NULL;
	int fd = -1;

	*temp = NULL;
	if (replace_in_place(path))
		return open_in_place(path);
	/* 0600, whatever the old one was */
	if (outfile_replaceable(path) && asprintf(temp, "%s" TEMP_SUFFIX, path) >= 0)
		fd = mkostemp(*temp, O_CLOEXEC);
	if (fd >= 0)
		file = fdopen(fd, "w");
	if (file)
		return file;
	complain(path);
	if (fd >= 0) {
		close(fd);
		unlink(*temp);
	}
	free(*temp);
	return NULL;
}

/**
 * replace_end - have it under its name
 * @path: of the file
 * @temp: from replace_begin(), is gone afterwards
 * @file: from replace_begin(), is closed
 *
 * Return: false after a message; then the old file, if there was one, is still there.
 */
bool replace_end(const char *path, char *temp, FILE *file)
{
	bool ok = !ferror(file) && !fflush(file) && (!temp || !fsync(fileno(file)));

	if (fclose(file))
		ok = false;
	if (!temp)
		return ok || complain(path);
	/* rename() replaces a link, too, and not what it leads to. */
	if (ok && rename(temp, path))
		ok = false;
	if (!ok) {
		complain(path);
		unlink(temp);
	}
	free(temp);
	return ok;
}
