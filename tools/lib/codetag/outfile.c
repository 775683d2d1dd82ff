// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open what is written to, see outfile.h.
 *
 * A file is always a new one, made by O_EXCL: another user may have put a link, a hard
 * link or a file of his own under that name, and what is written must go to none of
 * them. What is looked at before is only used to choose: if it has become something
 * else meanwhile, opening it fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"
#include "util.h"

static int create(const char *path)
{
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

/* Root trusts nobody else, others trust root: /dev/null is root's. */
static bool is_trusted(const struct stat *st)
{
	return st->st_uid == geteuid() || !st->st_uid;
}

static bool leads_to_proc(const char *path)
{
	char target[] = "/proc/";

	return readlink(path, target, strlen(target)) == (ssize_t)strlen("/proc/") &&
	       !strcmp(target, "/proc/");
}

/**
 * outfile_replaceable - can there be another file under this name
 * @path: of a file, or of a link, or not there
 *
 * A link into /proc is not replaced: /dev/stdout is one, and the system needs it.
 *
 * Return: false with errno.
 */
bool outfile_replaceable(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return errno == ENOENT;
	errno = S_ISLNK(st.st_mode) ? ELOOP : EISDIR;
	return S_ISREG(st.st_mode) || (S_ISLNK(st.st_mode) && !leads_to_proc(path));
}

/**
 * outfile_in_place - open a device or a pipe
 * @path: of it
 *
 * A pipe that nobody reads is an error, ENXIO, and nothing to wait for. Writing may
 * wait. Neither may belong to another user, who would read what is written.
 *
 * Return: a file descriptor, or -1 with errno.
 */
int outfile_in_place(const char *path)
{
	int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st) && !S_ISREG(st.st_mode) && is_trusted(&st) &&
	    !fcntl(fd, F_SETFL, 0))
		return fd;
	close(fd);
	errno = EPERM;
	return -1;
}

static int overwrite(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return -1;
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) && !S_ISDIR(st.st_mode))
		return outfile_in_place(path);
	if (!outfile_replaceable(path) || unlink(path))
		return -1;
	return create(path);
}

static const char *advice(int err)
{
	switch (err) {
	case EEXIST:
		return "; --force overwrites it";
	case ENXIO:
		return "; does nobody read it?";
	case ELOOP:
		return "; it is a link, which is not followed";
	case EPERM:
		return "; does it belong to another user?";
	}
	return "";
}

static int complain(const char *path)
{
	fprintf(stderr, "%s: %s: %s%s\n", program_invocation_short_name, path,
		strerror(errno), advice(errno));
	return -1;
}

/**
 * outfile_open - open what -o names
 * @path: of the file
 * @force: it may be there already, and is overwritten
 *
 * Return: a file descriptor, or -1 after a message.
 */
int outfile_open(const char *path, bool force)
{
	int fd = create(path);

	if (fd < 0 && errno == EEXIST && force)
		fd = overwrite(path);
	return fd < 0 ? complain(path) : fd;
}

/* With a slash behind its name, a link would be followed. */
static int open_dir(const char *path)
{
	char *name = need_string(path);
	size_t len = strlen(name);
	int fd;

	while (len > 1 && name[len - 1] == '/')
		name[--len] = '\0';
	fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	free(name);
	return fd;
}

static bool is_private(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 022);
}

/**
 * outdir_open - open a directory to write files into
 * @path: is made, for its owner alone, if it is not there
 *
 * Return: a file descriptor for openat(), or -1 after a message.
 */
int outdir_open(const char *path)
{
	int fd = -1;

	if (!mkdir(path, 0700) || errno == EEXIST)
		fd = open_dir(path);
	if (fd < 0)
		return complain(path);
	if (is_private(fd))
		return fd;
	close(fd);
	fprintf(stderr, "%s: %s: belongs to another user, or others may write to it\n",
		program_invocation_short_name, path);
	return -1;
}
