// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records as JSON, one object on each line.
 *
 * Each line is a complete object, so a reader can begin before the log has ended and needs
 * memory for one line only. Addresses are strings, because a double cannot hold 64 bits.
 */
#include <inttypes.h>

#include "write.h"

/* Internals */

static void put_alloc(FILE *out, const struct record *r)
{
	if (r->site == KMON_NO_SITE)
		fputs(",\"site\":null", out);
	else
		fprintf(out, ",\"site\":%u", r->site);
	fprintf(out, ",\"bytes\":%" PRIu64 ",\"ptr\":\"0x%" PRIx64 "\"", r->bytes, r->ptr);
}

static void put_user(FILE *out, const struct record *r)
{
	unsigned int i;

	if (r->size)
		fprintf(out, ",\"type\":%u", record_type(r));
	else
		fputs(",\"type\":null", out);
	fprintf(out, ",\"size\":%u,\"data\":\"", r->size);
	for (i = 1; i < r->size; i++)
		fprintf(out, "%02x", r->blob[i]);
	fputc('"', out);
}

static void put_fields(FILE *out, const struct record *r)
{
	switch (r->op) {
	case OP_QUEUE:
	case OP_DEQUEUE:
		fprintf(out, ",\"pid\":%" PRIu32, r->pid[0]);
		break;
	case OP_SWITCH:
		fprintf(out, ",\"prev\":%" PRIu32 ",\"next\":%" PRIu32, r->pid[0], r->pid[1]);
		break;
	case OP_WAKEUP:
		fprintf(out, ",\"from\":%" PRIu32 ",\"to\":%" PRIu32, r->pid[0], r->pid[1]);
		break;
	case OP_ALLOC:
		put_alloc(out, r);
		break;
	case OP_FREE:
		fprintf(out, ",\"ptr\":\"0x%" PRIx64 "\"", r->ptr);
		break;
	default:
		put_user(out, r);
	}
}

/* Interface */

/**
 * write_json - write a record as a line
 * @writer: the writer
 * @record: the record
 */
void write_json(const struct writer *writer, const struct record *record)
{
	struct rebased time = rebase(writer, record->time);

	fprintf(writer->out, "{\"cpu\":%u,\"ts\":%s%" PRIu64 ",\"time\":%" PRIu64 ",\"op\":\"%s\"",
		record->cpu, time.minus ? "-" : "", time.units, record->time,
		op_names[record->op]);
	put_fields(writer->out, record);
	put_names(writer, record, true);
	fputs("}\n", writer->out);
}
