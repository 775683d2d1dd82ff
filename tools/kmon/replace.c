// SPDX-License-Identifier: GPL-2.0-only
/*
 * Replace a file as a whole, see replace.h.
 */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "replace.h"
#include "util.h"

static bool complain(const char *path)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, path,
		strerror(errno));
	return false;
}

/**
 * replace_possible - see whether there is any hope, before there is work to lose
 * @path: of the file
 *
 * Return: false after a message.
 */
bool replace_possible(const char *path)
{
	char *copy = need_string(path);
	struct stat st;
	bool ok = !access(dirname(copy), W_OK);

	free(copy);
	if (ok && !stat(path, &st) && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		ok = false;
	}
	return ok || complain(path);
}

/**
 * replace_begin - begin to write
 * @path: of the file
 * @temp: the name it has until replace_end()
 *
 * Return: what to write to, or NULL after a message.
 */
FILE *replace_begin(const char *path, char **temp)
{
	mode_t mask = umask(077);
	FILE *file = NULL;
	int fd = -1;

	umask(mask);
	*temp = NULL;
	if (asprintf(temp, "%s.XXXXXX", path) >= 0)
		fd = mkstemp(*temp);
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
	bool ok = !ferror(file) && !fflush(file) && !fsync(fileno(file));

	if (fclose(file))
		ok = false;
	if (ok && rename(temp, path))
		ok = false;
	if (!ok) {
		complain(path);
		unlink(temp);
	}
	free(temp);
	return ok;
}
