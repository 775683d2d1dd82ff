/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The output of kmonlog: whole records, however the program ends.
 */
#ifndef _KMON_OUTPUT_H
#define _KMON_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct output - a file, a pipe, or what else standard output is
 * @fd: where to
 * @name: for messages
 * @max: not more bytes than this, 0: no limit
 * @wait: called before each write() to what is no file; waits until @fd can take
 *	something, and says no when it shall not be waited for any longer
 * @bytes: written
 * @records: written, whole ones
 * @full: the next record would be over @max
 * @failed: nothing more can be written
 * @is_file: @fd is a regular file, which can be cut
 * @created: @fd is a file that was made here
 */
struct output {
	int fd;
	const char *name;
	uint64_t max;
	bool (*wait)(int fd);
	uint64_t bytes;
	uint64_t records;
	bool full;
	bool failed;
	bool is_file;
	bool created;
};

bool output_open(struct output *output, const char *path, bool force);
size_t output_put(struct output *output, const uint8_t *data, size_t size);
void output_undo(struct output *output);
void output_close(struct output *output);

#endif /* _KMON_OUTPUT_H */
