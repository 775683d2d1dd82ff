// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of /dev/kmon, see record.h. Nothing in them is aligned, and all numbers
 * are little-endian on every machine.
 */
#include "record.h"

const char * const op_names[NR_OPS] = {
	[OP_QUEUE]	= "QUE",
	[OP_DEQUEUE]	= "DEQ",
	[OP_SWITCH]	= "SWC",
	[OP_WAKEUP]	= "WAK",
	[OP_ALLOC]	= "ALC",
	[OP_FREE]	= "FRE",
	[OP_USER]	= "USR",
};

/* The kernel's own types. All other types are OP_USER. */
static const struct layout {
	uint8_t op;
	uint8_t pids;
	uint8_t pid_size;
	uint8_t size;		/* minimum size of the blob */
} layouts[] = {
	[KMON_DT_TSKQUEUE]	= { OP_QUEUE, 1, 2, 3 },
	[KMON_DT_TSKDEQUEUE]	= { OP_DEQUEUE, 1, 2, 3 },
	[KMON_DT_TSKSWITCH]	= { OP_SWITCH, 2, 2, 5 },
	[KMON_DT_TSKWAKEUP]	= { OP_WAKEUP, 2, 2, 5 },
	[KMON_DT_TSKQUEUE32]	= { OP_QUEUE, 1, 4, 5 },
	[KMON_DT_TSKDEQUEUE32]	= { OP_DEQUEUE, 1, 4, 5 },
	[KMON_DT_TSKSWITCH32]	= { OP_SWITCH, 2, 4, 9 },
	[KMON_DT_TSKWAKEUP32]	= { OP_WAKEUP, 2, 4, 9 },
	[KMON_DT_ALLOC]		= { OP_ALLOC, 0, 0, 19 },
	[KMON_DT_FREE]		= { OP_FREE, 0, 0, 9 },
	/* wide records that record_open() leaves: too short, CPU below 255, or nested */
	[KMON_DT_WIDE]		= { OP_USER, 0, 0, KMON_WIDE_SIZE },
};

static uint64_t get_number(const uint8_t *from, unsigned int size)
{
	uint64_t number = 0;

	while (size--)
		number = number << 8 | from[size];
	return number;
}

static const struct layout *layout_of(const struct record *record)
{
	unsigned int type = record_type(record);

	if (!record->size || !type || type >= sizeof(layouts) / sizeof(*layouts))
		return NULL;
	return &layouts[type];
}

/**
 * record_size - get the size of a record
 * @head: its first KMON_HDR_SIZE bytes
 *
 * Return: size in bytes, including the header.
 */
size_t record_size(const uint8_t *head)
{
	return KMON_HDR_SIZE + get_number(head + KMON_HDR_SIZE_OF_BLOB, 2);
}

/**
 * record_whole - get the size of the whole records in a buffer
 * @data: data that begin with a record
 * @size: size of @data
 *
 * Return: size in bytes, up to the end of the last record that is not cut short.
 */
size_t record_whole(const uint8_t *data, size_t size)
{
	size_t at = 0, next;

	while (size - at >= KMON_HDR_SIZE) {
		next = record_size(data + at);
		if (next > size - at)
			break;
		at += next;
	}
	return at;
}

/**
 * record_count - count records
 * @data: whole records
 * @size: size of @data
 *
 * Return: number of records.
 */
uint64_t record_count(const uint8_t *data, size_t size)
{
	uint64_t nr = 0;
	size_t at;

	for (at = 0; at < size; at += record_size(data + at))
		nr++;
	return nr;
}

/**
 * record_open - read the header of a record
 * @record: result
 * @raw: a whole record; it must stay valid as long as @record is used
 */
void record_open(struct record *record, const uint8_t *raw)
{
	*record = (struct record){
		.time = get_number(raw + KMON_HDR_TIME, 8),
		.blob = raw + KMON_HDR_SIZE,
		.size = get_number(raw + KMON_HDR_SIZE_OF_BLOB, 2),
		.cpu = raw[KMON_HDR_CPU],
	};
	if (record->cpu != KMON_CPU_MAX || record_type(record) != KMON_DT_WIDE ||
	    record->size < KMON_WIDE_SIZE)
		return;
	record->cpu = get_number(record->blob + 1, 2);
	record->blob += KMON_WIDE_SIZE;
	record->size -= KMON_WIDE_SIZE;
}

/**
 * record_decode - read the blob of a record
 * @record: from record_open()
 *
 * If a blob is longer than its type requires, the rest is ignored.
 *
 * Return: false if the blob is too short for its type.
 */
bool record_decode(struct record *record)
{
	const struct layout *layout = layout_of(record);
	const uint8_t *body = record->blob + 1;
	unsigned int i;

	record->op = OP_USER;
	if (!layout)
		return true;
	if (record->size < layout->size)
		return false;
	record->op = layout->op;
	for (i = 0; i < layout->pids; i++)
		record->pid[i] = get_number(body + i * layout->pid_size, layout->pid_size);
	if (record->op == OP_ALLOC) {
		record->site = get_number(body, 2);
		record->bytes = get_number(body + 2, 8);
		record->ptr = get_number(body + 10, 8);
	} else if (record->op == OP_FREE) {
		record->ptr = get_number(body, 8);
	}
	return true;
}

/**
 * record_pids - get the number of pids in a record
 * @record: from record_decode()
 *
 * Return: number of elements of @record->pid that are set.
 */
unsigned int record_pids(const struct record *record)
{
	const struct layout *layout = layout_of(record);

	return layout ? layout->pids : 0;
}

/**
 * record_type - get the first byte of a blob
 * @record: from record_open()
 *
 * Return: the type, 0 if the blob is empty.
 */
unsigned int record_type(const struct record *record)
{
	return record->size ? record->blob[0] : 0;
}
