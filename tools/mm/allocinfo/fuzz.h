/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For fuzzers that are built as programs, without libFuzzer: reading their inputs.
 */
#ifndef _ALLOCINFO_FUZZ_H
#define _ALLOCINFO_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "expect.h"
#include "util.h"

/**
 * fuzz_files - pass the contents of each file to a check
 * @files: names of files, ended by NULL
 * @check: the check; it may change the contents
 *
 * Return: exit code; a file that cannot be read ends the program.
 */
static inline int fuzz_files(char **files, void (*check)(uint8_t *data, size_t size))
{
	uint8_t *data;
	long size;
	FILE *f;

	for (; *files; files++) {
		f = fopen(*files, "r");
		EXPECT(f && !fseek(f, 0, SEEK_END) && (size = ftell(f)) > 0);
		rewind(f);
		data = need_memory(size, 1);
		EXPECT(fread(data, 1, size, f) == (size_t)size);
		fclose(f);
		check(data, size);
		free(data);
	}
	return EXIT_SUCCESS;
}

#endif /* _ALLOCINFO_FUZZ_H */
