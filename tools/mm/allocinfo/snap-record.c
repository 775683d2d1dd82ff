// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of files of snapshots, see snap-record.h.
 */
#include <assert.h>
#include <endian.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "snap-record.h"
#include "snap.h"
#include "util.h"

/* Data */

struct head {
	char magic[SNAP_MAGIC_SIZE];
	uint8_t type;
	uint8_t zero[3];
	uint32_t size;
	uint32_t text_size;
	uint32_t crc;
};

static_assert(sizeof(struct head) == RECORD_SIZE, "the format has 24 bytes");

/* bytes that are searched at a time */
#define CHUNK	65536u

/* Internals */

static uint32_t crc_of(const struct head *head, const uint8_t *data, size_t size)
{
	uLong crc = crc32(0, (const Bytef *)head, offsetof(struct head, crc));

	return crc32(crc, data, size);
}

static bool read_fully(int fd, void *to, size_t size, uint64_t offset)
{
	ssize_t got;

	for (; size; size -= got, offset += got, to = (char *)to + got) {
		got = pread(fd, to, size, offset);
		if (got <= 0)
			return false;
	}
	return true;
}

/* Returns the offset of the next SNAP_MAGIC, or @end. */
static uint64_t find_magic(int fd, uint64_t offset, uint64_t end)
{
	static char chunk[CHUNK];
	size_t size;
	char *found;

	while (end - offset >= RECORD_SIZE) {
		size = min_u64(CHUNK, end - offset);
		if (!read_fully(fd, chunk, size, offset))
			return end;
		found = memmem(chunk, size, SNAP_MAGIC, SNAP_MAGIC_SIZE);
		if (found)
			return offset + (found - chunk);
		/* the magic may continue in the next chunk */
		offset += size - (SNAP_MAGIC_SIZE - 1);
	}
	return end;
}

/* Interface */

/**
 * buffer_need - make room in a buffer, or exit
 * @buffer: the buffer
 * @size: bytes that must fit
 *
 * Return: the memory of the buffer, with its contents.
 */
char *buffer_need(struct buffer *buffer, size_t size)
{
	if (size > buffer->room) {
		buffer->data = need_more(buffer->data, size + size / 4, 1);
		buffer->room = size + size / 4;
	}
	return buffer->data;
}

/**
 * record_pack - write what precedes the contents of a record
 * @head: RECORD_SIZE bytes
 * @record: the record
 */
void record_pack(uint8_t *head, const struct record *record)
{
	struct head h = {
		.magic = SNAP_MAGIC,
		.type = record->type,
		.size = htole32(record->size),
		.text_size = htole32(record->text_size),
	};

	h.crc = htole32(crc_of(&h, record->data, record->size));
	memcpy(head, &h, sizeof(h));
}

/**
 * record_read - read a record
 * @fd: the file
 * @offset: where the record begins
 * @end: size of the file
 * @record: the record
 * @buffer: for the contents
 *
 * Return: false if there is no whole record without damage.
 */
bool record_read(int fd, uint64_t offset, uint64_t end, struct record *record,
		 struct buffer *buffer)
{
	struct head head;

	if (end - offset < sizeof(head) || !read_fully(fd, &head, sizeof(head), offset) ||
	    memcmp(head.magic, SNAP_MAGIC, SNAP_MAGIC_SIZE))
		return false;
	record->type = head.type;
	record->size = le32toh(head.size);
	record->text_size = le32toh(head.text_size);
	if (record->size > end - offset - sizeof(head) || record->text_size > SNAP_TEXT_MAX)
		return false;
	record->data = (uint8_t *)buffer_need(buffer, record->size + 1);
	return read_fully(fd, buffer->data, record->size, offset + sizeof(head)) &&
	       crc_of(&head, record->data, record->size) == le32toh(head.crc);
}

/**
 * record_find - read the next record, after damage if there is any
 * @fd: the file
 * @offset: where the record should begin
 * @end: size of the file
 * @record: the record
 * @buffer: for the contents
 *
 * Return: offset of the record, or @end if there is none.
 */
uint64_t record_find(int fd, uint64_t offset, uint64_t end, struct record *record,
		     struct buffer *buffer)
{
	while (offset < end && !record_read(fd, offset, end, record, buffer))
		offset = find_magic(fd, offset + 1, end);
	return offset;
}

/**
 * record_cut - check whether a file ends in the middle of a record
 * @fd: the file
 * @offset: where the record begins
 * @end: size of the file
 *
 * Return: true if what is there is the beginning of a record, which continues behind @end.
 */
bool record_cut(int fd, uint64_t offset, uint64_t end)
{
	struct head head;
	size_t have = min_u64(end - offset, sizeof(head));

	return read_fully(fd, &head, have, offset) &&
	       !memcmp(head.magic, SNAP_MAGIC, min_u64(have, SNAP_MAGIC_SIZE)) &&
	       (have < sizeof(head) || le32toh(head.size) > end - offset - sizeof(head));
}

/**
 * part_name - name of a part of a recording
 * @name: name of the newest part
 * @nr: number of the part, 0 for the newest
 *
 * Return: the name; the caller frees it with free().
 */
char *part_name(const char *name, unsigned int nr)
{
	char *part;

	if (!nr)
		return need_string(name);
	part = need_memory(strlen(name) + 12, 1);
	sprintf(part, "%s.%u", name, nr);
	return part;
}

/**
 * part_open - open a part of a recording
 * @dir: directory, or AT_FDCWD
 * @name: name of the newest part
 * @nr: number of the part, 0 for the newest
 * @flags: for open()
 *
 * Return: a file descriptor, or -1 with errno.
 */
int part_open(int dir, const char *name, unsigned int nr, int flags)
{
	char *part = part_name(name, nr);
	int fd = openat(dir, part, flags | O_CLOEXEC | O_NOCTTY, 0600);

	free(part);
	return fd;
}

/**
 * part_same - check whether a file is a part of a recording
 * @name: name of the newest part
 * @path: path of the file
 *
 * As when a recording is read, one number may be missing.
 *
 * Return: true if it is one.
 */
bool part_same(const char *name, const char *path)
{
	unsigned int nr, missing = 0;
	struct stat st, part_st;
	bool same = false;
	char *part;

	if (stat(path, &st))
		return false;
	for (nr = 0; !same && missing < 2; nr++) {
		part = part_name(name, nr);
		missing = stat(part, &part_st) ? missing + 1 : 0;
		same = !missing && part_st.st_dev == st.st_dev && part_st.st_ino == st.st_ino;
		free(part);
	}
	return same;
}

/**
 * part_lock - keep other recorders away from a part, until it is closed
 * @fd: the part, open for writing
 *
 * Return: false if another recorder has it.
 */
bool part_lock(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, F_OFD_SETLK, &lock);
}

/**
 * part_locked - check whether a recorder has a part
 * @fd: the part
 *
 * The check takes no lock, so it cannot get into the way of a recorder that begins.
 *
 * Return: true if one has.
 */
bool part_locked(int fd)
{
	struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, F_OFD_GETLK, &lock) && lock.l_type != F_UNLCK;
}
