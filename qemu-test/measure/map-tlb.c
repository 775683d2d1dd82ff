// SPDX-License-Identifier: GPL-2.0-only
/*
 * Would pages of 2 MiB make the map of mm/pgalloc_tag.c faster? This program imitates its
 * use: it visits pages in random order, alone or in runs of 32, touches the struct page of each
 * and its reference in the map, and prints nanoseconds for each page. In the column "no map" it
 * touches the struct page alone.
 *
 *	cc -O2 -o /tmp/map-tlb qemu-test/measure/map-tlb.c
 *	/tmp/map-tlb [GIB]	memory whose pages are visited, a multiple of 4, default 16
 *
 * The struct pages are on pages of 2 MiB, as in a kernel. Each figure is the least of seven
 * rounds, which alternate between the columns.
 *
 * Exit code: 1 when something failed, 2 for wrong usage.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define LARGE		(2UL << 20)
#define STRUCT_PAGE	64
#define VISITS		(4L << 20)
#define ROUNDS		7

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *memory(size_t size, int advice)
{
	char *p = mmap(NULL, size + LARGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED) {
		fprintf(stderr, "map-tlb: %s\n", strerror(errno));
		exit(1);
	}
	p += -(uintptr_t)p % LARGE;
	if (madvise(p, size, advice)) {
		fprintf(stderr, "map-tlb: no transparent huge pages: %s\n", strerror(errno));
		exit(1);
	}
	memset(p, 1, size);
	return p;
}

/* Do the pages of this memory have the size that was asked for? */
static void check(const void *memory, size_t size, int large)
{
	unsigned long from, to, start = 0, end = 0, kib, large_bytes = 0;
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &from, &to) == 2) {
			start = from;
			end = to;
		} else if ((uintptr_t)memory >= start && (uintptr_t)memory < end &&
			   sscanf(line, "AnonHugePages: %lu kB", &kib) == 1) {
			large_bytes = kib << 10;
		}
	}
	if (f)
		fclose(f);
	if (large ? large_bytes < size : large_bytes > 0) {
		fprintf(stderr, "map-tlb: %lu of %zu bytes are in pages of 2 MiB\n",
			large_bytes, size);
		exit(1);
	}
}

static double visit(char *pages, uint64_t nr, uint16_t *map, unsigned int run)
{
	uint64_t state = 88172645463325252, page = 0;
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long i = 0; i < VISITS; i++) {
		page = i % run ? (page + 1) % nr : next(&state) % nr;
		++*(volatile int *)(pages + page * STRUCT_PAGE);
		if (map)
			*(volatile uint16_t *)(map + page) ^= i;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((end.tv_sec - start.tv_sec) * 1e9 + end.tv_nsec - start.tv_nsec) / VISITS;
}

int main(int argc, char **argv)
{
	static const unsigned int runs[] = { 1, 32 };
	uint64_t gib = argc > 1 ? strtoul(argv[1], NULL, 10) : 16, nr = gib << 18;
	uint16_t *maps[3] = { NULL };
	char *pages;

	if (argc > 2 || gib < 4 || gib > 1024 || gib % 4) {
		fprintf(stderr, "usage: map-tlb [GIB]\n");
		return 2;
	}
	pages = memory(nr * STRUCT_PAGE, MADV_HUGEPAGE);
	maps[1] = memory(nr * sizeof(*maps[1]), MADV_NOHUGEPAGE);
	maps[2] = memory(nr * sizeof(*maps[2]), MADV_HUGEPAGE);
	check(pages, nr * STRUCT_PAGE, 1);
	check(maps[1], nr * sizeof(*maps[1]), 0);
	check(maps[2], nr * sizeof(*maps[2]), 1);
	printf("%-22s%12s%12s%12s\n", "ns for a page", "no map", "4 KiB", "2 MiB");
	for (int r = 0; r < 2; r++) {
		double least[3] = { 1e9, 1e9, 1e9 };

		for (int i = 0; i < ROUNDS * 3; i++) {
			double took = visit(pages, nr, maps[i % 3], runs[r]);

			if (took < least[i % 3])
				least[i % 3] = took;
		}
		printf("%3lu GiB, runs of %-6u%12.1f%12.1f%12.1f\n", gib, runs[r], least[0],
		       least[1], least[2]);
	}
	return 0;
}
