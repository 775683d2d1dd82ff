// SPDX-License-Identifier: GPL-2.0-only
/*
 * The output of kmonlog, see output.h.
 *
 * If writing to a file fails, the file is cut after its last whole record, so that it is a
 * valid log. A pipe cannot be cut: its reader may find the last record incomplete.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"
#include "output.h"
#include "record.h"

/* Internals */

static void report_error(struct output *output, int err)
{
	fprintf(stderr, "kmonlog: %s: %s\n", output->name, strerror(err));
	output->failed = true;
}

static bool is_regular(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISREG(st.st_mode);
}

/*
 * A pipe that is ready takes PIPE_BUF bytes without blocking. So the program only waits
 * in @wait, which handles signals. Returns -2 if @wait gives up.
 */
static ssize_t write_some(struct output *output, const uint8_t *data, size_t size)
{
	if (output->is_file)
		return write(output->fd, data, size);
	if (output->wait && !output->wait(output->fd)) {
		errno = EINTR;
		return -2;
	}
	return write(output->fd, data, size < PIPE_BUF ? size : PIPE_BUF);
}

/* Returns the number of bytes written. */
static size_t write_all(struct output *output, const uint8_t *data, size_t size)
{
	size_t at = 0;
	ssize_t n;

	while (at < size) {
		n = write_some(output, data + at, size - at);
		if (n == -1 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n == -2)
			output->failed = true;
		else if (n <= 0)
			report_error(output, n ? errno : EIO);
		/* If write() returns 0, trying again would never end. */
		if (n <= 0)
			break;
		at += n;
	}
	return at;
}

/* Remove the last @size bytes of a file. From a pipe nothing can be removed. */
static void cut(struct output *output, size_t size)
{
	off_t end = lseek(output->fd, 0, SEEK_CUR);

	if (!size || !output->is_file)
		return;
	if (end < (off_t)size || ftruncate(output->fd, end - size))
		report_error(output, errno);
	else
		lseek(output->fd, end - size, SEEK_SET);
}

/* Returns the size of the whole records that do not exceed the limit. */
static size_t within(struct output *output, const uint8_t *data, size_t size)
{
	if (!output->max || size <= output->max - output->bytes)
		return size;
	output->full = true;
	return record_whole(data, output->max - output->bytes);
}

/* Remove the file if its path still leads to it: a directory may have been replaced. */
static void remove_created(struct output *output)
{
	struct stat is, st;
	const char *name;
	int dir = outfile_parent(output->name, &name);

	if (dir < 0)
		return;
	if (!fstat(output->fd, &is) && !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) &&
	    is.st_dev == st.st_dev && is.st_ino == st.st_ino)
		unlinkat(dir, name, 0);
	close(dir);
}

/* Interface */

/**
 * output_open - open the output
 * @output: the output, in which the caller has set @max and @wait
 * @path: path of a file; NULL for standard output
 * @force: overwrite an existing file
 *
 * Return: false after a message.
 */
bool output_open(struct output *output, const char *path, bool force)
{
	output->fd = STDOUT_FILENO;
	output->name = path ? path : "standard output";
	if (!path && isatty(STDOUT_FILENO)) {
		fputs("kmonlog: a log cannot be printed on a terminal; use -o\n", stderr);
		return false;
	}
	if (path)
		output->fd = outfile_open(path, force);
	output->is_file = is_regular(output->fd);
	output->created = path && output->is_file;
	return output->fd >= 0;
}

/**
 * output_put - write records
 * @output: from output_open()
 * @data: whole records
 * @size: size of @data
 *
 * If not all of @data is written, @failed or @full is set in @output.
 *
 * Return: size of the whole records that were written.
 */
size_t output_put(struct output *output, const uint8_t *data, size_t size)
{
	size_t done, whole;

	if (output->failed || output->full)
		return 0;
	size = within(output, data, size);
	done = write_all(output, data, size);
	whole = record_whole(data, done);
	cut(output, done - whole);
	output->bytes += output->is_file ? whole : done;
	output->records += record_count(data, whole);
	if (output->max && output->max - output->bytes < KMON_HDR_SIZE)
		output->full = true;
	return whole;
}

/**
 * output_undo - close an output to which nothing was written
 * @output: from output_open()
 *
 * A file is removed. A pipe or a device stays.
 */
void output_undo(struct output *output)
{
	if (output->created)
		remove_created(output);
	close(output->fd);
}

/**
 * output_close - close the output
 * @output: from output_open()
 */
void output_close(struct output *output)
{
	/* A full disk may be reported only now. */
	if (output->is_file && fsync(output->fd) && errno != EINVAL && errno != EROFS)
		report_error(output, errno);
	if (close(output->fd) && !output->failed)
		report_error(output, errno);
}
