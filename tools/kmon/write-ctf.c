// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records as a trace in the Common Trace Format 1.8, for babeltrace2 and other readers:
 * one stream per CPU. The clock is the kernel's CLOCK_MONOTONIC, as in the records.
 *
 * Names are labels of enumerations, which are part of the metadata: the events contain
 * only numbers, and a reader shows the labels.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "write.h"

/* Data */

/* the layout of the files: no padding between the fields */
#pragma pack(push, 1)

struct event {
	uint8_t id;
	uint64_t time;
	union {
		uint32_t pid[2];
		struct {
			uint16_t site;
			uint64_t bytes;
			uint64_t alloc_ptr;
		};
		uint64_t free_ptr;
		struct {
			uint16_t size;
			uint8_t blob[KMON_BLOB_MAX];
		};
	};
};

#pragma pack(pop)

static_assert(offsetof(struct event, pid) == 9, "as in the metadata");

/* Size of the part of the union that is used, without the bytes of a blob. */
static const uint8_t sizes[NR_OPS] = {
	[OP_QUEUE]	= 4,
	[OP_DEQUEUE]	= 4,
	[OP_SWITCH]	= 8,
	[OP_WAKEUP]	= 8,
	[OP_ALLOC]	= 18,
	[OP_FREE]	= 8,
	[OP_USER]	= 2,
};

static const struct {
	const char *name;
	const char *fields;
} events[NR_OPS] = {
	[OP_QUEUE]	= { "queue", "task pid;" },
	[OP_DEQUEUE]	= { "dequeue", "task pid;" },
	[OP_SWITCH]	= { "switch", "task prev; task next;" },
	[OP_WAKEUP]	= { "wakeup", "task from; task to;" },
	[OP_ALLOC]	= { "alloc", "line site; u64 bytes; x64 ptr;" },
	[OP_FREE]	= { "free", "x64 ptr;" },
	[OP_USER]	= { "user", "u16 size; u8 data[size];" },
};

/* Internals */

static void put_labels(FILE *file, const struct names *names, uint32_t max)
{
	uint32_t i;

	for (i = 0; i < names->nr; i++) {
		if (names->names[i].nr > max)
			continue;
		fputs(",\n", file);
		ctf_put_label(file, names->names[i].text);
		fprintf(file, " = %" PRIu32, names->names[i].nr);
	}
}

/* An enumeration needs at least one label. "none" is there even without a file of names. */
static void put_enumerations(FILE *file, const struct writer *writer)
{
	fputs("typealias enum : u32 {\n\t\"none\" = 4294967295", file);
	put_labels(file, &writer->pids, UINT32_MAX - 1);
	fprintf(file, "\n} := task;\ntypealias enum : u16 {\n\t\"none\" = %u", KMON_NO_SITE);
	put_labels(file, &writer->sites, KMON_NO_SITE - 1);
	fputs("\n} := line;\n", file);
}

static void put_metadata(FILE *file, const struct writer *writer)
{
	unsigned int op;

	ctf_put_head(file, "kmon", "", "", "monotonic");
	put_enumerations(file, writer);
	ctf_put_stream(file, "");
	for (op = 0; op < NR_OPS; op++)
		fprintf(file, "event {\n\tname = \"kmon_%s\";\n\tid = %u;\n\tstream_id = 0;\n"
			"\tfields := struct { %s };\n};\n",
			events[op].name, op, events[op].fields);
}

/* Interface */

/**
 * write_ctf - write a record as an event
 * @writer: the writer
 * @record: the record
 */
void write_ctf(const struct writer *writer, const struct record *record)
{
	struct ctf_stream *stream = ctf_stream(writer->ctf, record->cpu);
	size_t size = offsetof(struct event, pid) + sizes[record->op];
	static struct event event;

	ctf_advance(stream, record->time);
	event.id = record->op;
	event.time = ctf_time(stream);
	if (record->op == OP_USER) {
		event.size = record->size;
		memcpy(event.blob, record->blob, record->size);
		size += record->size;
	} else if (record->op == OP_ALLOC) {
		event.site = record->site;
		event.bytes = record->bytes;
		event.alloc_ptr = record->ptr;
	} else if (record->op == OP_FREE) {
		event.free_ptr = record->ptr;
	} else {
		memcpy(event.pid, record->pid, sizeof(event.pid));
	}
	ctf_put(writer->ctf, stream, &event, size);
}

/**
 * write_ctf_end - write the metadata and close
 * @writer: from parse_begin()
 *
 * Return: false after a message if something could not be written.
 */
bool write_ctf_end(const struct writer *writer)
{
	FILE *metadata = ctf_metadata(writer->ctf);

	if (metadata)
		put_metadata(metadata, writer);
	return ctf_close(writer->ctf, metadata);
}
