// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures reads of /proc/allocinfo in several ways. Prints a line for each way with
 * the least of a few runs, "read: WAY CYCLES RECORDS", or "read: WAY n/a" if the kernel
 * does not have it or has not set it up.
 *
 *	text-64k	the whole text, in reads of 64 KiB
 *	text-4k		the same in reads of 4 KiB
 *	walk		every record by ioctl
 *	filtered	the records of one source file by ioctl
 *	nodes		/proc/allocinfo.nodes, which visits all memory
 *
 * For a guest with one CPU under -icount, where a cycle is an instruction. This file
 * has its own definition of the interface, like a program that was compiled with the
 * header of another kernel: so it also checks the layout.
 *
 * Exit code: 1 when something failed.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cycles.h"

#define TIMES		5
#define INFO		"/proc/allocinfo"
#define STR_SIZE	64
#define FILTERED	"mm/slub.c"

struct tag {
	char		modname[STR_SIZE];
	char		function[STR_SIZE];
	char		filename[STR_SIZE];
	uint64_t	lineno;
};

struct tag_data {
	struct tag	tag;
	uint64_t	bytes;
	uint64_t	calls;
	uint8_t		accurate;
	uint8_t		pad[7];
};

struct filter {
	uint64_t	mask;
	struct tag	fields;
	uint64_t	min_size;
	uint64_t	max_size;
	uint64_t	inaccurate;
};

struct get_at {
	uint64_t	pos;
	struct filter	filter;
	struct tag_data	data;
};

static_assert(sizeof(struct tag_data) == 224, "allocinfo_tag_data");
static_assert(sizeof(struct filter) == 232, "allocinfo_filter");
static_assert(sizeof(struct get_at) == 464, "allocinfo_get_at");

#define GET_AT		_IOWR(0xA6, 1, struct get_at)
#define GET_NEXT	_IOR(0xA6, 2, struct tag_data)
#define MASK_FILENAME	(1ULL << 2)

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "allocinfo_cost: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* The number of lines without the two header lines */
static long read_text(int fd, size_t size)
{
	static char buf[64 << 10];
	long lines = -2;
	ssize_t n;

	while ((n = read(fd, buf, size)) > 0)
		for (char *p = buf; (p = memchr(p, '\n', buf + n - p)); p++)
			lines++;
	if (n < 0)
		die("read");
	return lines;
}

/* The number of records, or -1 without ioctls */
static long walk(int fd, const char *filename)
{
	struct get_at at = { 0 };
	long records = 0;

	if (filename) {
		at.filter.mask = MASK_FILENAME;
		strncpy(at.filter.fields.filename, filename, STR_SIZE - 1);
	}
	if (ioctl(fd, GET_AT, &at)) {
		if (errno == ENOTTY)
			return -1;
		if (errno == ENOENT)
			return 0;
		die("GET_AT");
	}
	do
		records++;
	while (!ioctl(fd, GET_NEXT, &at.data));
	if (errno != ENOENT)
		die("GET_NEXT");
	return records;
}

static long text_64k(int fd)
{
	return read_text(fd, 64 << 10);
}

static long text_4k(int fd)
{
	return read_text(fd, 4 << 10);
}

static long walk_all(int fd)
{
	return walk(fd, NULL);
}

static long walk_filtered(int fd)
{
	return walk(fd, FILTERED);
}

static void measure(const char *name, const char *path, long (*way)(int fd))
{
	unsigned long long best = -1;
	long records = 0;

	for (int i = 0; i < TIMES; i++) {
		unsigned long long start = cycles(), took;
		int fd = open(path, O_RDONLY);

		/* The tables by node are not set up under "never" */
		if (fd < 0 && (errno == ENOENT || errno == EOPNOTSUPP)) {
			records = -1;
			break;
		}
		if (fd < 0)
			die(path);
		records = way(fd);
		close(fd);
		took = cycles() - start;
		if (took < best)
			best = took;
	}
	if (records < 0)
		printf("read: %s n/a\n", name);
	else
		printf("read: %s %llu %ld\n", name, best, records);
}

int main(void)
{
	measure("text-64k", INFO, text_64k);
	measure("text-4k", INFO, text_4k);
	measure("walk", INFO, walk_all);
	measure("filtered", INFO, walk_filtered);
	measure("nodes", INFO ".nodes", text_64k);
	return 0;
}
