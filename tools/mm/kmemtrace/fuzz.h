/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Common code of the fuzzers: an input is a small trace. It consists of the length of the
 * header (4 bytes, little-endian), the header, the length of cpu0.out, cpu0.out, and
 * cpu1.out. These parts are written as files to a directory, @dir.
 *
 * A fuzzer defines its name before it includes this file: #define FUZZER "name".
 */
#ifndef _KMEMTRACE_FUZZ_H
#define _KMEMTRACE_FUZZ_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[64];

static inline void remove_trace(void)
{
	static const char * const names[] = { "header", "cpu0.out", "cpu1.out" };
	char path[128];
	size_t i;

	for (i = 0; i < 3; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

static inline void make_dir(void)
{
	if (*dir)
		return;
	strcpy(dir, "/dev/shm/" FUZZER ".XXXXXX");
	if (!mkdtemp(dir)) {
		strcpy(dir, "/tmp/" FUZZER ".XXXXXX");
		EXPECT(mkdtemp(dir));
	}
	atexit(remove_trace);
}

static inline void put_file(const char *name, const uint8_t *data, size_t size)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	EXPECT(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

/* Take a part off the input and write it to a file. The length of the part comes first. */
static inline void put_part(const char *name, const uint8_t **data, size_t *size)
{
	size_t len = 0;

	if (*size >= 4) {
		len = (*data)[0] | (*data)[1] << 8 | (*data)[2] << 16 |
		      (size_t)(*data)[3] << 24;
		*data += 4;
		*size -= 4;
	}
	if (len > *size)
		len = *size;
	put_file(name, *data, len);
	*data += len;
	*size -= len;
}

static inline void put_trace(const uint8_t *data, size_t size)
{
	make_dir();
	put_part("header", &data, &size);
	put_part("cpu0.out", &data, &size);
	put_file("cpu1.out", data, size);
}

/* Run the fuzzer with the input in a file, cut off at every byte and as a whole. */
static inline void each_cut(const char *name)
{
	static uint8_t whole[1024 * 1024];
	FILE *file = fopen(name, "r");
	size_t size, i;

	EXPECT(file);
	size = fread(whole, 1, sizeof(whole), file);
	fclose(file);
	for (i = 0; i <= size; i++)
		LLVMFuzzerTestOneInput(whole, i);
	printf("%s: %zu inputs\n", name, size + 1);
}

#endif /* _KMEMTRACE_FUZZ_H */
