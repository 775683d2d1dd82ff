// SPDX-License-Identifier: GPL-2.0-only
/*
 * readall FILE OUT [FILE OUT]: copies each FILE to its OUT. It reads all files to their end
 * before it touches any OUT.
 *
 * For files that show the kernel's own memory: this way they do not contain the memory of a
 * pipe, of a temporary file that is being written, or of other processes. So two files can
 * be compared.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROOM	(4 << 20)
#define MOST	2

static char text[MOST][ROOM];
static size_t len[MOST];

static int complain(const char *what)
{
	fprintf(stderr, "readall: %s: %s\n", what, strerror(errno));
	return 1;
}

static int take(int i, const char *name)
{
	int fd = open(name, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return complain(name);
	do {
		n = read(fd, text[i] + len[i], ROOM - len[i]);
		if (n < 0)
			return complain(name);
		len[i] += n;
	} while (n && len[i] < ROOM);
	if (n) {
		fprintf(stderr, "readall: %s: more than %d bytes\n", name, ROOM);
		return 1;
	}
	return 0;
}

static int give(int i, const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	size_t at = 0;
	ssize_t n;

	if (fd < 0)
		return complain(name);
	for (; at < len[i]; at += n) {
		n = write(fd, text[i] + at, len[i] - at);
		if (n < 0)
			return complain(name);
	}
	return 0;
}

int main(int argc, char **argv)
{
	int i, files = argc / 2;

	if (argc % 2 == 0 || files < 1 || files > MOST) {
		fprintf(stderr, "usage: readall FILE OUT [FILE OUT]\n");
		return 2;
	}
	/* populate all of it, so that it uses the same memory each time */
	memset(text, 1, sizeof(text));
	for (i = 0; i < files; i++)
		if (take(i, argv[2 * i + 1]))
			return 1;
	for (i = 0; i < files; i++)
		if (give(i, argv[2 * i + 2]))
			return 1;
	return 0;
}
