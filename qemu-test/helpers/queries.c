// SPDX-License-Identifier: GPL-2.0-only
/*
 * queries FILE SECONDS SEED [SUFFIX]: writes commands about code tags to a file of debugfs:
 * correct ones, ones with mistakes, and random ones, each followed by SUFFIX.
 *
 * Prints "ACCEPTED REFUSED". Exit code 1 after an error that no command may cause.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MOST	6000	/* bytes of a command: more than the file accepts */

static const char * const words[] = {
	"file", "line", "func", "module", "class", "index", "enable", "disable",
	"oneshot", "frequency", "probability", "times", "task", "super.c", "fs/*",
	"*", "?", "*.c", "mm/slub.c", "ext4_*", "vmlinux", "ctag_uses", "memory",
	"ctag", "make_object", "nobody", "0", "1", "5", "100", "101", "-1", "1-",
	"-", "5-4", "1-100", "4294967295", "4294967296", "99999999999999999999",
	"\"", "'", "\"a b\"", "\"\"", "''", "\"a\"b", "\t", "\n", " ", "x",
};

#define NR_WORDS	(sizeof(words) / sizeof(*words))

/* Parts of correct commands */
static const char * const lines[] = {
	"module ctag_uses func make_object enable",
	"file ctag_uses.c line 1-1000 index 0-1 disable",
	"file fs/ext4/super.c enable",
	"module ctag_uses class ctag frequency 3 times 5",
	"func ext4_* probability 50",
	"class memory disable",
	"disable",
};

#define NR_LINES	(sizeof(lines) / sizeof(*lines))

static char text[MOST + 256];

static size_t make_words(void)
{
	size_t len = 0;
	int n = rand() % 12;

	while (n--)
		len += sprintf(text + len, "%s%s", words[rand() % NR_WORDS],
			       rand() % 8 ? " " : "");
	return len;
}

static size_t make_changed(void)
{
	size_t len = sprintf(text, "%s", lines[rand() % NR_LINES]);
	int n = rand() % 4;

	while (n--)
		text[rand() % len] = rand() % 4 ? 32 + rand() % 95 : rand() % 256;
	return len;
}

static size_t make_noise(void)
{
	size_t i, len = rand() % 16 ? rand() % 100 : rand() % MOST;
	int one = rand() % 2 ? rand() % 256 : -1;

	for (i = 0; i < len; i++)
		text[i] = one < 0 ? rand() % 256 : one;
	return len;
}

static size_t make(const char *suffix)
{
	int how = rand() % 16;
	size_t len = how < 8 ? make_words() : how < 15 ? make_changed() : make_noise();

	memcpy(text + len, suffix, strlen(suffix));
	return len + strlen(suffix);
}

int main(int argc, char **argv)
{
	unsigned long accepted = 0, refused = 0;
	time_t end;
	size_t len;
	int fd;

	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: queries FILE SECONDS SEED [SUFFIX]\n");
		return 2;
	}
	end = time(NULL) + atoi(argv[2]);
	srand(atoi(argv[3]));
	fd = open(argv[1], O_WRONLY);
	if (fd < 0) {
		perror(argv[1]);
		return 2;
	}
	while (time(NULL) < end) {
		len = make(argc > 4 ? argv[4] : "");
		if (!len)
			continue;
		if (write(fd, text, len) == (ssize_t)len) {
			accepted++;
		} else if (errno == EINVAL || errno == ENOENT || errno == E2BIG) {
			refused++;
		} else {
			fprintf(stderr, "%s: %s\n", strerror(errno), text);
			return 1;
		}
	}
	printf("%lu %lu\n", accepted, refused);
	return 0;
}
