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
 * struct output - a file, a pipe or a device
 * @fd: descriptor of the output
 * @name: name of the output, for messages
 * @max: limit in bytes, 0 for no limit
 * @wait: called before each write() unless @is_file; waits until @fd can take data, and
 *	returns false to give up
 * @bytes: number of bytes written
 * @records: number of whole records written
 * @full: the next record would exceed @max
 * @failed: nothing more can be written
 * @is_file: @fd is a regular file, which can be cut
 * @created: @fd is a file that output_open() created
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
