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

/* The name that is to be replaced, or NULL: it is a link that leads nowhere. */
static char *real_name(const char *path)
{
	struct stat st;

	if (lstat(path, &st) || !S_ISLNK(st.st_mode))
		return need_string(path);
	return realpath(path, NULL);
}

/*
 * A pipe that nobody reads is an error, and nothing to wait for; but with a reader,
 * all of it shall get through.
 */
static FILE *open_in_place(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	FILE *file = NULL;

	if (fd >= 0 && !fcntl(fd, F_SETFL, 0))
		file = fdopen(fd, "w");
	if (file)
		return file;
	complain(path);
	if (fd >= 0)
		close(fd);
	return NULL;
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

	return !stat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/**
 * replace_possible - see whether there is any hope, before there is work to lose
 * @path: of the file
 *
 * Return: false after a message.
 */
bool replace_possible(const char *path)
{
	struct stat st;
	char *name;
	bool ok;

	if (replace_in_place(path))
		return !access(path, W_OK) || complain(path);
	name = real_name(path);
	if (!name)
		return complain(path);
	ok = !access(dirname(name), W_OK);
	free(name);
	if (ok && !stat(path, &st) && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		ok = false;
	}
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
	mode_t mask;
	FILE *file = NULL;
	int fd = -1;
	char *name;

	*temp = NULL;
	if (replace_in_place(path))
		return open_in_place(path);
	mask = umask(077);
	umask(mask);
	name = real_name(path);
	if (name && asprintf(temp, "%s" TEMP_SUFFIX, name) >= 0)
		fd = mkstemp(*temp);
	free(name);
	if (fd >= 0 && !fchmod(fd, 0666 & ~mask))
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
	char *name;

	if (fclose(file))
		ok = false;
	if (!temp)
		return ok || complain(path);
	/* What @path leads to now may be elsewhere. */
	name = need_string(temp);
	name[strlen(name) - strlen(TEMP_SUFFIX)] = '\0';
	if (ok && rename(temp, name))
		ok = false;
	if (!ok) {
		complain(path);
		unlink(temp);
	}
	free(name);
	free(temp);
	return ok;
}
