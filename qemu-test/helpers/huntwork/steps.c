// SPDX-License-Identifier: GPL-2.0-only
/*
 * Many small steps in one process: a process for each would take longer than the steps.
 */
#define _GNU_SOURCE
#include "huntwork.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK	4096

/* Cuts the next word off; the rest has no spaces in front. */
static char *word(char **line)
{
	char *start = *line + strspn(*line, " \t");
	char *end = start + strcspn(start, " \t");

	*line = *end ? end + 1 + strspn(end + 1, " \t") : end;
	*end = '\0';
	return start;
}

static long put_text(const char *path, const char *text, const char *end, int flags)
{
	char line[4096];
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags), n;
	long status = 0;

	if (fd < 0)
		return -1;
	n = snprintf(line, sizeof(line), "%s%s", text, end);
	/* some files take a word at a time */
	for (int done = 0; done < n && status >= 0; done += status) {
		status = write(fd, line + done, n - done);
		if (!status)
			break;
	}
	if (close(fd))
		status = -1;
	return status;
}

/* One write(): configfs takes the value of a file only as a whole. */
static long copy_text(const char *to, const char *from)
{
	char text[4096];
	int fd = open(from, O_RDONLY | O_CLOEXEC), out;
	long n = fd;

	if (fd >= 0) {
		n = read(fd, text, sizeof(text));
		close(fd);
	}
	if (n < 0)
		return -1;
	out = open(to, O_WRONLY | O_CLOEXEC);
	if (out < 0)
		return -1;
	n = write(out, text, n);
	return close(out) ? -1 : n;
}

static long read_all(const char *path)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return -1;
	while ((n = read(fd, text, sizeof(text))) > 0)
		;
	close(fd);
	return n;
}

static long list_all(const char *path)
{
	DIR *dir = opendir(path);

	if (!dir)
		return -1;
	errno = 0;
	while (readdir(dir))
		;
	closedir(dir);
	return errno ? -1 : 0;
}

/* N blocks of a device, around its cache, sixteen at a time */
static long transfer(const char *path, bool out, unsigned long n)
{
	static char block[16 * BLOCK] __attribute__((aligned(BLOCK)));
	int fd = open(path, (out ? O_WRONLY : O_RDONLY) | O_DIRECT | O_CLOEXEC);
	long status = fd;

	for (unsigned long i = 0; i < n && status >= 0; i += 16) {
		size_t size = BLOCK * (n - i < 16 ? n - i : 16);

		status = out ? write(fd, block, size) : read(fd, block, size);
		if (!status) {
			errno = ENODATA;
			status = -1;
		}
	}
	if (fd >= 0 && close(fd))
		status = -1;
	return status;
}

static long create(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_CREAT | O_EXCL, 0600);

	return fd < 0 ? fd : close(fd);
}

static long open_again(const char *path)
{
	int fd = open_device(path);

	return fd < 0 ? fd : close(fd);
}

static long files_in(char *folder)
{
	int here = open_or_fail(".", O_PATH);
	char *args[] = { folder, NULL };

	do_files(args);
	return fchdir(here) | close(here);
}

static long wait_for(const char *path, bool there)
{
	for (unsigned int i = 0; i < 500; i++) {
		if (!access(path, F_OK) == there)
			return 0;
		usleep(10000);
	}
	errno = ETIMEDOUT;
	return -1;
}

static long run(const char *name, char *rest)
{
	if (!strcmp(name, "put") || !strcmp(name, "text") || !strcmp(name, "append")) {
		char *path = word(&rest);

		return put_text(path, rest, *name == 't' ? "" : "\n", *name == 'a' ? O_APPEND : 0);
	}
	if (!strcmp(name, "copy")) {
		char *to = word(&rest);

		return copy_text(to, word(&rest));
	}
	if (!strcmp(name, "mkdir"))
		return mkdir(word(&rest), 0755);
	if (!strcmp(name, "rmdir"))
		return rmdir(word(&rest));
	if (!strcmp(name, "rm"))
		return unlink(word(&rest));
	if (!strcmp(name, "link")) {
		char *path = word(&rest);

		return symlink(word(&rest), path);
	}
	if (!strcmp(name, "cat"))
		return read_all(word(&rest));
	if (!strcmp(name, "ls"))
		return list_all(word(&rest));
	if (!strcmp(name, "open"))
		return open_again(word(&rest));
	if (!strcmp(name, "create"))
		return create(word(&rest));
	if (!strcmp(name, "files"))
		return files_in(word(&rest));
	if (!strcmp(name, "read") || !strcmp(name, "write")) {
		char *path = word(&rest);

		return transfer(path, *name == 'w', number(rest));
	}
	if (!strcmp(name, "wait"))
		return wait_for(word(&rest), true);
	if (!strcmp(name, "gone"))
		return wait_for(word(&rest), false);
	if (!strcmp(name, "mount")) {
		char *type = word(&rest), *device = word(&rest), *folder = word(&rest);

		return mount(device, folder, type, 0, rest);
	}
	if (!strcmp(name, "remount")) {
		char *folder = word(&rest);

		return mount(NULL, folder, NULL, MS_REMOUNT, rest);
	}
	if (!strcmp(name, "umount"))
		return umount(word(&rest));
	if (!strcmp(name, "sleep")) {
		usleep(number(word(&rest)) * 1000);
		return 0;
	}
	fprintf(stderr, "huntwork: no step %s\n", name);
	exit(2);
}

/*
 * steps FILE: a step a line. After a - it may fail, but not because of memory.
 *
 *	put PATH TEXT, append PATH TEXT		write a line
 *	text PATH TEXT				the same without an end of the line
 *	copy PATH FILE				write the first 4096 bytes of FILE to PATH
 *	mkdir PATH, rmdir PATH, rm PATH, link PATH TARGET
 *	cat PATH, ls PATH			read all of it
 *	open PATH				open it, for reading if it cannot be written
 *	create PATH				create a file
 *	files FOLDER				what `huntwork files` does
 *	read PATH N, write PATH N		N blocks of 4096 bytes of a device, directly
 *	wait PATH, gone PATH			until it appears, or is gone
 *	mount TYPE DEVICE FOLDER OPTIONS, remount FOLDER OPTIONS, umount FOLDER
 *	sleep MILLISECONDS
 */
void do_steps(char **args)
{
	FILE *f = fopen(args[0], "re");
	char line[4096], copy[4096];

	if (!f)
		fail(args[0]);
	while (fgets(line, sizeof(line), f)) {
		char *rest = line + strspn(line, " \t"), *name;
		bool optional = *rest == '-';

		rest[strcspn(rest, "\n")] = '\0';
		if (!*rest || *rest == '#')
			continue;
		rest += optional;
		strcpy(copy, rest);
		name = word(&rest);
		if (optional)
			attempt(copy, run(name, rest));
		else
			must(copy, run(name, rest));
	}
	fclose(f);
}
