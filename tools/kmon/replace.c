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
 * replace_open - open the directory of the file, before there is work to lose
 * @to: set by this function
 * @path: path of the file; it must stay valid as long as @to is used
 *
 * If this fails, the error is reported when the file is checked or written.
 */
void replace_open(struct replace *to, const char *path)
{
	*to = (struct replace){ .path = path };
	to->dir = outfile_parent(path, &to->name);
	if (to->dir < 0)
		to->err = errno;
}

/**
 * replace_in_place - check whether the name is written to rather than replaced
 * @to: from replace_open()
 *
 * Return: true for a device or a pipe; then writing may block without a limit.
 */
bool replace_in_place(const struct replace *to)
{
	return to->dir >= 0 && outfile_in_place(to->dir, to->name);
}

/**
 * replace_possible - check early whether the file can be written
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

/* Returns -1 with errno on failure. A new file has mode 0600, regardless of the old one. */
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
 * replace_begin - begin to write the new file
 * @to: from replace_open()
 *
 * Return: the stream to write to, or NULL after a message.
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
 * replace_end - give the new file its name
 * @to: from replace_open()
 * @file: from replace_begin(); closed
 *
 * Return: false after a message; an old file then stays.
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
 * replace_close - close the directory
 * @to: from replace_open()
 */
void replace_close(struct replace *to)
{
	if (to->dir >= 0)
		close(to->dir);
	to->dir = -1;
}
