// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replace a file as a whole, see replace.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "replace.h"

static bool report_error(const struct replace *to, int err)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, to->path,
		strerror(err));
	return false;
}

/**
 * replace_open - find the directory that it is in, before there is work to lose
 * @to: is set
 * @path: of the file; must stay
 *
 * If that fails it is no failure until it is to be written.
 */
void replace_open(struct replace *to, const char *path)
{
	*to = (struct replace){ .path = path };
	to->dir = outfile_parent(path, &to->name);
	if (to->dir < 0)
		to->err = errno;
}

/**
 * replace_in_place - is it no file to replace, but something to write to
 * @to: from replace_open()
 *
 * Return: true for a device or a pipe; then writing may take as long as it pleases.
 */
bool replace_in_place(const struct replace *to)
{
	return to->dir >= 0 && outfile_in_place(to->dir, to->name);
}

/**
 * replace_possible - see whether there is any hope
 * @to: from replace_open()
 *
 * Return: false after a message.
 */
bool replace_possible(const struct replace *to)
{
	bool ok;

	if (to->dir < 0)
		return report_error(to, to->err);
	if (replace_in_place(to))
		ok = outfile_usable(to->dir, to->name);
	else
		ok = !faccessat(to->dir, ".", W_OK, 0) &&
		     outfile_replaceable(to->dir, to->name);
	return ok || report_error(to, errno);
}

/* -1 with errno; 0600, whatever the old one was */
static int open_file(struct replace *to)
{
	to->temp[0] = '\0';
	errno = to->err;
	if (to->dir < 0)
		return -1;
	if (replace_in_place(to))
		return outfile_open_in_place(to->dir, to->name);
	if (!outfile_replaceable(to->dir, to->name))
		return -1;
	return outfile_temp(to->dir, to->temp);
}

/**
 * replace_begin - begin to write
 * @to: from replace_open()
 *
 * Return: what to write to, or NULL after a message.
 */
FILE *replace_begin(struct replace *to)
{
	int fd = open_file(to);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (file)
		return file;
	report_error(to, errno);
	if (fd < 0)
		return NULL;
	close(fd);
	if (*to->temp)
		unlinkat(to->dir, to->temp, 0);
	return NULL;
}

/**
 * replace_end - have it under its name
 * @to: from replace_open()
 * @file: from replace_begin(), is closed
 *
 * Return: false after a message; then the old file, if there was one, is still there.
 */
bool replace_end(struct replace *to, FILE *file)
{
	bool ok = !ferror(file) && !fflush(file) && (!*to->temp || !fsync(fileno(file)));
	int err = errno;

	if (fclose(file) && ok) {
		err = errno;
		ok = false;
	}
	if (ok && *to->temp)
		return outfile_rename(to->dir, to->temp, to->name) || report_error(to, errno);
	if (ok)
		return true;
	if (*to->temp)
		unlinkat(to->dir, to->temp, 0);
	return report_error(to, err);
}

/**
 * replace_close - give up the directory
 * @to: from replace_open()
 */
void replace_close(struct replace *to)
{
	if (to->dir >= 0)
		close(to->dir);
	to->dir = -1;
}
