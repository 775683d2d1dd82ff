// SPDX-License-Identifier: GPL-2.0-only
/*
 * readall FILE: the file, read to its end before the first byte of it is written.
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

	if (argc != 2) {
		fprintf(stderr, "usage: readall FILE\n");
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
	for (; at < len; at += n) {
		n = write(STDOUT_FILENO, text + at, len - at);
		if (n < 0)
			return complain("standard output");
	}
	return 0;
}
