/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of files of snapshots, which the reader and the writer share. See snap.h for the
 * format.
 */
#ifndef _ALLOCINFO_SNAP_RECORD_H
#define _ALLOCINFO_SNAP_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_SIZE	24u	/* without the contents */

enum record_type {
	RECORD_HEADER	= 'H',
	RECORD_FULL	= 'F',
	RECORD_DELTA	= 'D',
};

/**
 * struct record - a record in a file
 * @type: enum record_type, or a type of a later version
 * @size: size of the contents
 * @text_size: size of the unpacked contents
 * @data: the contents
 */
struct record {
	unsigned char type;
	uint32_t size;
	uint32_t text_size;
	const uint8_t *data;
};

/**
 * struct buffer - memory that only grows
 * @data: the memory
 * @room: its size
 */
struct buffer {
	char *data;
	size_t room;
};

char *buffer_need(struct buffer *buffer, size_t size);

void record_pack(uint8_t *head, const struct record *record);
bool record_read(int fd, uint64_t offset, uint64_t end, struct record *record,
		 struct buffer *buffer);
uint64_t record_find(int fd, uint64_t offset, uint64_t end, struct record *record,
		     struct buffer *buffer);

bool record_cut(int fd, uint64_t offset, uint64_t end);

int part_open(int dir, const char *name, unsigned int nr, int flags);
char *part_name(const char *name, unsigned int nr);
bool part_same(const char *name, const char *path);
bool part_lock(int fd);
bool part_locked(int fd);

#endif /* _ALLOCINFO_SNAP_RECORD_H */
