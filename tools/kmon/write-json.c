// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records as JSON, an object a line, and strings as JSON has them.
 *
 * A line is complete in itself, so a reader can begin before the log has ended, and
 * needs no more memory than for a line. Addresses are strings, as a double cannot
 * hold them.
 */
#include <inttypes.h>

#include "parse.h"

/* Internals */

/* How many bytes at @s are a character of UTF-8; 0: none are. */
static unsigned int utf8_size(const unsigned char *s)
{
	unsigned int size = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 :
			    *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
	unsigned int i;

	for (i = 1; i < size; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	/* too long for what it says; half of a pair; beyond the last character */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return size;
}

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
 * put_quoted - write a string as JSON has it
 * @out: where to
 * @text: any bytes; what is not UTF-8 becomes U+FFFD
 *
 * The controls of U+0080 to U+009F mean something to terminals, like those below a
 * space, although JSON allows them.
 */
void put_quoted(FILE *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned int size;

	fputc('"', out);
	for (; *s; s += size ? size : 1) {
		size = utf8_size(s);
		if (!size)
			fputs("\\ufffd", out);
		else if (*s < ' ' || *s == 0x7f)
			fprintf(out, "\\u%04x", *s);
		else if (*s == 0xc2 && s[1] < 0xa0)
			fprintf(out, "\\u%04x", s[1]);
		else if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else
			fwrite(s, 1, size, out);
	}
	fputc('"', out);
}

/**
 * write_json - write a record as a line
 * @parse: where to
 * @record: what to
 */
void write_json(struct parse *parse, const struct record *record)
{
	struct rebased time = rebase(parse, record->time);

	fprintf(parse->out, "{\"cpu\":%u,\"ts\":%s%" PRIu64 ",\"time\":%" PRIu64 ",\"op\":\"%s\"",
		record->cpu, time.minus ? "-" : "", time.units, record->time,
		op_names[record->op]);
	put_fields(parse->out, record);
	put_names(parse, record, true);
	fputs("}\n", parse->out);
}
