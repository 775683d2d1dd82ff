// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening outputs, see outfile.h.
 *
 * A file is always created with O_EXCL: another user may have put a link, a hard link or
 * a file of his own under this name, and the program must not write to any of them. The
 * program looks at an existing file only to choose what to do. If another user changes
 * the file after that, opening it fails.
 *
 * The directory of the file is opened first, one name at a time, and everything else
 * happens relative to it. So the program does not follow links of other users in the
 * path, either.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "outfile.h"
#include "util.h"

/* The limit of the kernel for links in a path. */
#define LINKS_MAX	40u

static int create(int dir, const char *name)
{
	return openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		      0600);
}

/* Root trusts only root. Other users also trust root, who owns /dev/null. */
static bool is_trusted(const struct stat *st)
{
	return st->st_uid == geteuid() || !st->st_uid;
}

/*
 * A user who does not own a link may have put it there: without fs.protected_hardlinks
 * another user can give the link a second name, in a directory of his own or in a shared
 * one.
 */
static bool may_follow(int dir, const struct stat *link)
{
	struct stat st;

	return is_trusted(link) && !fstat(dir, &st) && is_trusted(&st) &&
	       (link->st_nlink == 1 || !(st.st_mode & 022));
}

static int walk(int dir, const char *path, unsigned int *links);

/* Follow @link, which is in @dir. Closes @dir. Returns a descriptor, or -1 with errno. */
static int follow(int dir, int link, const struct stat *st, unsigned int *links)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(link, "", target, sizeof(target) - 1);
	bool may = may_follow(dir, st);

	if (len >= 0 && may && (*links)--) {
		target[len] = '\0';
		return walk(dir, target, links);
	}
	if (len >= 0)
		errno = may ? ELOOP : EPERM;
	close(dir);
	return -1;
}

static int enter(int dir, const char *name, unsigned int *links)
{
	int fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd >= 0 && !fstat(fd, &st) && S_ISLNK(st.st_mode)) {
		dir = follow(dir, fd, &st, links);
		close(fd);
		return dir;
	}
	close(dir);
	return fd;
}

static int walk(int dir, const char *path, unsigned int *links)
{
	char *copy = need_string(path), *rest = copy, *name;

	if (*path == '/') {
		close(dir);
		dir = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	}
	while (dir >= 0 && (name = strsep(&rest, "/")))
		if (*name)
			dir = enter(dir, name, links);
	free(copy);
	return dir;
}

/**
 * outfile_parent - open the directory of a file
 * @path: path of the file
 * @name: set to the name of the file in the directory, a part of @path
 *
 * The descriptor refers to this directory even if another user renames it.
 *
 * Return: a file descriptor with O_PATH, or -1 with errno.
 */
int outfile_parent(const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	unsigned int links = LINKS_MAX;
	char *way = need_string(path);
	int dir = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	*name = slash ? slash + 1 : path;
	way[*name - path] = '\0';
	if (dir >= 0)
		dir = walk(dir, way, &links);
	free(way);
	return dir;
}

static bool leads_to_proc(int dir, const char *name)
{
	char target[] = "/proc/";

	return readlinkat(dir, name, target, strlen(target)) == (ssize_t)strlen("/proc/") &&
	       !strcmp(target, "/proc/");
}

/**
 * outfile_replaceable - check whether a new file may take this name
 * @dir: directory, from outfile_parent()
 * @name: name in @dir; it may be missing
 *
 * Files and links can be replaced, except links into /proc: /dev/stdout is such a link,
 * and the system needs it.
 *
 * Return: true, or false with errno.
 */
bool outfile_replaceable(int dir, const char *name)
{
	struct stat st;

	errno = EISDIR;
	if (!*name)
		return false;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT;
	errno = S_ISLNK(st.st_mode) ? ELOOP : EISDIR;
	return S_ISREG(st.st_mode) || (S_ISLNK(st.st_mode) && !leads_to_proc(dir, name));
}

/**
 * outfile_in_place - check whether a name must be written to rather than replaced
 * @dir: directory, from outfile_parent(), or AT_FDCWD
 * @name: name in @dir
 *
 * Return: true for a device or a pipe.
 */
bool outfile_in_place(int dir, const char *name)
{
	struct stat st;

	return !fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) && !S_ISREG(st.st_mode) &&
	       !S_ISLNK(st.st_mode) && !S_ISDIR(st.st_mode);
}

/**
 * outfile_open_in_place - open a device or a pipe
 * @dir: directory, from outfile_parent()
 * @name: name in @dir
 *
 * A pipe without a reader is an error, ENXIO: the program does not wait for a reader.
 * Writing may block. A device or pipe of another user is refused, because that user
 * could read the output.
 *
 * Return: a file descriptor, or -1 with errno.
 */
int outfile_open_in_place(int dir, const char *name)
{
	int fd = openat(dir, name,
			O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
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

/**
 * outfile_usable - check whether a device or a pipe can be opened later
 * @dir: directory, from outfile_parent()
 * @name: name in @dir
 *
 * The check does not open it, because a pipe may not have a reader yet.
 *
 * Return: true, or false with errno.
 */
bool outfile_usable(int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	errno = EPERM;
	return is_trusted(&st) && !faccessat(dir, name, W_OK, 0);
}

/**
 * outfile_temp - create a file under a temporary name
 * @dir: directory, from outfile_parent()
 * @temp: set to the temporary name
 *
 * Return: a file descriptor, or -1 with errno.
 */
int outfile_temp(int dir, char temp[OUTFILE_TEMP_SIZE])
{
	unsigned int random;

	if (getrandom(&random, sizeof(random), 0) != sizeof(random))
		return -1;
	snprintf(temp, OUTFILE_TEMP_SIZE, OUTFILE_TEMP "%08x", random);
	return create(dir, temp);
}

/**
 * outfile_rename - give a temporary file its final name
 * @dir: directory, from outfile_parent()
 * @temp: name from outfile_temp()
 * @name: final name; an existing file or link of this name is replaced atomically
 *
 * Return: true, or false with errno after removing @temp.
 */
bool outfile_rename(int dir, const char *temp, const char *name)
{
	int err;

	if (!renameat(dir, temp, dir, name))
		return true;
	err = errno;
	unlinkat(dir, temp, 0);
	errno = err;
	return false;
}

static int open_replacement(int dir, const char *name)
{
	char temp[OUTFILE_TEMP_SIZE];
	int fd = outfile_temp(dir, temp), err;

	if (fd < 0 || outfile_rename(dir, temp, name))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

static int overwrite(int dir, const char *name)
{
	if (outfile_in_place(dir, name))
		return outfile_open_in_place(dir, name);
	return outfile_replaceable(dir, name) ? open_replacement(dir, name) : -1;
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

static int report_error(const char *path)
{
	fprintf(stderr, "%s: %s: %s%s\n", program_invocation_short_name, path,
		strerror(errno), advice(errno));
	return -1;
}

/**
 * outfile_open - open an output file
 * @path: path of the file
 * @force: overwrite an existing file
 *
 * Return: a file descriptor, or -1 after a message.
 */
int outfile_open(const char *path, bool force)
{
	const char *name;
	int dir = outfile_parent(path, &name), fd;

	if (dir < 0)
		return report_error(path);
	fd = create(dir, name);
	if (fd < 0 && errno == EEXIST && force)
		fd = overwrite(dir, name);
	close(dir);
	return fd < 0 ? report_error(path) : fd;
}

/**
 * outfile_stream - open an output file as a stream
 * @path: path of the file; NULL for standard output
 * @force: overwrite an existing file
 *
 * Return: the stream, for outfile_close(), or NULL after a message.
 */
FILE *outfile_stream(const char *path, bool force)
{
	FILE *out;
	int fd;

	if (!path)
		return stdout;
	fd = outfile_open(path, force);
	if (fd < 0)
		return NULL;
	out = fdopen(fd, "w");
	if (!out)
		fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, path,
			strerror(errno));
	return out;
}

/**
 * outfile_close - write out and close an output
 * @out: from outfile_stream()
 * @path: path of the file; NULL for standard output
 * @ok: false if the caller could not write everything, with errno
 *
 * Return: true if everything was written; otherwise false, after a message.
 */
bool outfile_close(FILE *out, const char *path, bool ok)
{
	if (fflush(out) || ferror(out))
		ok = false;
	if (out != stdout && fclose(out))
		ok = false;
	if (!ok)
		fprintf(stderr, "%s: %s: cannot write: %s\n", program_invocation_short_name,
			path ? path : "standard output", strerror(errno));
	return ok;
}

/* The kernel follows a link if a slash follows its name. */
static char *without_slash(const char *path)
{
	char *name = need_string(path);
	size_t len = strlen(name);

	while (len && name[len - 1] == '/')
		name[--len] = '\0';
	return name;
}

static int make_dir(const char *path)
{
	char *whole = without_slash(path);
	const char *name;
	int dir = outfile_parent(*path && !*whole ? "/." : whole, &name), fd = -1;

	if (dir >= 0 && (!mkdirat(dir, name, 0700) || errno == EEXIST))
		fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0)
		close(dir);
	free(whole);
	return fd;
}

static bool is_private(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_uid == geteuid() && !(st.st_mode & 022);
}

/**
 * outdir_open - open an output directory
 * @path: path of the directory; if it is missing, it is created for its owner alone
 *
 * Return: a file descriptor for openat(), or -1 after a message.
 */
int outdir_open(const char *path)
{
	int fd = make_dir(path);

	if (fd < 0)
		return report_error(path);
	if (is_private(fd))
		return fd;
	close(fd);
	fprintf(stderr, "%s: %s: belongs to another user, or others may write to it\n",
		program_invocation_short_name, path);
	return -1;
}
