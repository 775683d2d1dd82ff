// SPDX-License-Identifier: GPL-2.0-only
/*
 * readall FILE OUT: the file into another, which is not touched before the first one
 * is read to its end.
 *
 * For a file that tells of the kernel's own memory: what a pipe or a temporary
 * file takes up while it is written, and the processes that read it from there,
 * are not among what it says.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROOM	(4 << 20)

static char text[ROOM];

static int complain(const char *what)
{
	fprintf(stderr, "readall: %s: %s\n", what, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	size_t len = 0, at = 0;
	ssize_t n;
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: readall FILE OUT\n");
		return 2;
	}
	/* all of it is there, and so it weighs the same each time */
	memset(text, 1, sizeof(text));
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		return complain(argv[1]);
	do {
		n = read(fd, text + len, ROOM - len);
		if (n < 0)
			return complain(argv[1]);
		len += n;
	} while (n && len < ROOM);
	if (n) {
		fprintf(stderr, "readall: %s: more than %d bytes\n", argv[1], ROOM);
		return 1;
	}
	fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd < 0)
		return complain(argv[2]);
	for (; at < len; at += n) {
		n = write(fd, text + at, len - at);
		if (n < 0)
			return complain(argv[2]);
	}
	return 0;
}
