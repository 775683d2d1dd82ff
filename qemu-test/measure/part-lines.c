// SPDX-License-Identifier: GPL-2.0-only
/*
 * What does a change of a counter cost if parts are not aligned to their size? A part
 * (struct lazy_percpu_part) has two words, and a change of the counter adds to both words. If
 * parts are only aligned to one word, they can begin at odd words. Then one part in four is in
 * two cache lines. This program changes parts in random order, and prints nanoseconds for each
 * change.
 *
 *	cc -O2 -o /tmp/part-lines qemu-test/measure/part-lines.c
 *	/tmp/part-lines [PARTS...]	numbers of parts, default 100, 5000 and 1000000
 *
 * Each figure is the least of 31 rounds, which alternate between the columns.
 *
 * Exit code: 1 when something failed, 2 for wrong usage.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE	64
#define PART	16
#define MOST	(1L << 24)
#define CHANGES	(1L << 20)
#define ROUNDS	31

static double change(char *parts, uint64_t nr)
{
	uint64_t state = 88172645463325252;
	struct timespec start, end;

	clock_gettime(CLOCK_MONOTONIC, &start);
	for (long i = 0; i < CHANGES; i++) {
		volatile int64_t *part;

		state = state * 6364136223846793005 + 1442695040888963407;
		part = (int64_t *)(parts + ((state >> 32) * nr >> 32) * PART);
		part[0] += 64;
		part[1] += 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	return ((end.tv_sec - start.tv_sec) * 1e9 + end.tv_nsec - start.tv_nsec) / CHANGES;
}

static int measure(long nr)
{
	size_t size = (nr * PART + 2 * LINE - 1) / LINE * LINE;
	char *memory = aligned_alloc(LINE, size);
	double least[2] = { 1e9, 1e9 };

	if (!memory) {
		fprintf(stderr, "part-lines: no memory\n");
		return 1;
	}
	memset(memory, 0, size);
	for (int i = 0; i < ROUNDS * 2; i++) {
		double took = change(memory + i % 2 * PART / 2, nr);

		if (took < least[i % 2])
			least[i % 2] = took;
	}
	printf("%-22ld%12.2f%12.2f\n", nr, least[0], least[1]);
	free(memory);
	return 0;
}

int main(int argc, char **argv)
{
	static const long usual[] = { 100, 5000, 1000000 };
	const int nr = argc > 1 ? argc - 1 : 3;

	for (int i = 1; i < argc; i++) {
		char *end;
		long parts = strtol(argv[i], &end, 10);

		if (parts < 1 || parts > MOST || *end) {
			fprintf(stderr, "usage: part-lines [PARTS...]\n");
			return 2;
		}
	}
	printf("%-22s%12s%12s\n", "ns for a change", "aligned", "odd words");
	for (int i = 0; i < nr; i++)
		if (measure(argc > 1 ? atol(argv[i + 1]) : usual[i]))
			return 1;
	return 0;
}
