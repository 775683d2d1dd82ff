// SPDX-License-Identifier: GPL-2.0-only
/*
 * pfn PID: prints the frame of a page in the largest anonymous mapping of the process, for
 * tests that poison one.  Exit code 1 if there is none.
 */
#define _XOPEN_SOURCE 700
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRESENT		(UINT64_C(1) << 63)
#define FRAME		((UINT64_C(1) << 55) - 1)

/* The largest private writable mapping without a file */
static int largest(const char *pid, unsigned long *from, unsigned long *to)
{
	char path[64], line[512], mode[8], rest[256];
	unsigned long a, b;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%s/maps", pid);
	maps = fopen(path, "r");
	if (!maps)
		return 0;
	*from = *to = 0;
	while (fgets(line, sizeof(line), maps)) {
		rest[0] = '\0';
		if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255s", &a, &b, mode,
			   rest) < 3)
			continue;
		if (!strcmp(mode, "rw-p") && !rest[0] && b - a > *to - *from) {
			*from = a;
			*to = b;
		}
	}
	fclose(maps);
	return *to > *from;
}

int main(int argc, char **argv)
{
	unsigned long from, to, size = (unsigned long)sysconf(_SC_PAGESIZE);
	char path[64];
	uint64_t entry;
	int fd;

	if (argc != 2 || !largest(argv[1], &from, &to))
		return 1;
	snprintf(path, sizeof(path), "/proc/%s/pagemap", argv[1]);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return 1;
	for (; from < to; from += size) {
		if (pread(fd, &entry, sizeof(entry),
			  (off_t)(from / size * sizeof(entry))) != sizeof(entry))
			return 1;
		if ((entry & PRESENT) && (entry & FRAME)) {
			printf("0x%" PRIx64 "\n", entry & FRAME);
			return 0;
		}
	}
	return 1;
}
