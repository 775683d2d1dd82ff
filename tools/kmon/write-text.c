// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records as lines of text, in the format of the announcement of kmon.
 */
#include <inttypes.h>

#include "write.h"

/* Internals */

static void put_alloc(FILE *out, const struct record *r)
{
	if (r->site == KMON_NO_SITE)
		fputs(",site=none", out);
	else
		fprintf(out, ",site=%u", r->site);
	fprintf(out, ",bytes=%" PRIu64 ",ptr=0x%" PRIx64, r->bytes, r->ptr);
}

/* Only the writer of such a blob knows its format. */
static void put_user(FILE *out, const struct record *r)
{
	unsigned int i;

	if (r->size)
		fprintf(out, ",type=%u,size=%u,data=", record_type(r), r->size);
	else
		fputs(",type=none,size=0,data=", out);
	for (i = 1; i < r->size; i++)
		fprintf(out, "%02x", r->blob[i]);
}

static void put_fields(FILE *out, const struct record *r)
{
	switch (r->op) {
	case OP_QUEUE:
	case OP_DEQUEUE:
		fprintf(out, ",pid=%" PRIu32, r->pid[0]);
		break;
	case OP_SWITCH:
		fprintf(out, ",prev=%" PRIu32 ",next=%" PRIu32, r->pid[0], r->pid[1]);
		break;
	case OP_WAKEUP:
		fprintf(out, ",from=%" PRIu32 ",to=%" PRIu32, r->pid[0], r->pid[1]);
		break;
	case OP_ALLOC:
		put_alloc(out, r);
		break;
	case OP_FREE:
		fprintf(out, ",ptr=0x%" PRIx64, r->ptr);
		break;
	default:
		put_user(out, r);
	}
}

/* Interface */

/**
 * write_text - write a record as a line
 * @writer: the writer
 * @record: the record
 */
void write_text(const struct writer *writer, const struct record *record)
{
	struct rebased time = rebase(writer, record->time);

	fprintf(writer->out, "cpu=%u,ts=%s%" PRIu64 ",op=%s", record->cpu,
		time.minus ? "-" : "", time.units, op_names[record->op]);
	put_fields(writer->out, record);
	if (writer->with_names)
		put_names(writer, record, false);
	fputc('\n', writer->out);
}
