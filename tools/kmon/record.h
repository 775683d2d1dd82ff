/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of /dev/kmon, as <linux/kmon.h> describes them.
 */
#ifndef _KMON_RECORD_H
#define _KMON_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/kmon.h>

#define RECORD_MAX	(KMON_HDR_SIZE + KMON_BLOB_MAX)

/* The subject of a record, the same for types with 16-bit and with 32-bit pids. */
enum record_op {
	OP_QUEUE,
	OP_DEQUEUE,
	OP_SWITCH,
	OP_WAKEUP,
	OP_ALLOC,
	OP_FREE,
	OP_USER,
	NR_OPS
};

/**
 * struct record - a decoded record
 * @time: time in nanoseconds
 * @blob: the blob; in a wide record, the part after the number of the CPU
 * @size: size of @blob
 * @cpu: CPU that made the record
 * @op: subject; record_decode() sets this and all following fields
 * @pid: pid of the task; of the previous and the next task; of the waker and the task
 *	that is woken
 * @site: OP_ALLOC: index of the call site, or KMON_NO_SITE
 * @bytes: OP_ALLOC: size of the allocation
 * @ptr: OP_ALLOC and OP_FREE: address
 */
struct record {
	uint64_t time;
	const uint8_t *blob;
	uint16_t size;
	uint16_t cpu;
	enum record_op op;
	uint32_t pid[2];
	uint16_t site;
	uint64_t bytes;
	uint64_t ptr;
};

extern const char * const op_names[NR_OPS];

size_t record_size(const uint8_t *head);
size_t record_whole(const uint8_t *data, size_t size);
uint64_t record_count(const uint8_t *data, size_t size);
void record_open(struct record *record, const uint8_t *raw);
bool record_decode(struct record *record);
unsigned int record_pids(const struct record *record);
unsigned int record_type(const struct record *record);

#endif /* _KMON_RECORD_H */
