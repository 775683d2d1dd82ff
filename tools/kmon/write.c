// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the writers of text and JSON share: names after a record, and times.
 */
#include "utf8.h"
#include "write.h"

static void put_name(FILE *out, const char *key, const char *name, bool json)
{
	if (!name)
		return;
	fprintf(out, json ? ",\"%s\":" : ",%s=", key);
	put_quoted(out, name);
}

/**
 * put_names - write the names of the numbers in a record
 * @writer: where to
 * @r: the record, whose numbers are written
 * @json: as JSON, else as text
 *
 * Of a number without a name there is nothing. Nor is there of 0 in a wakeup, which is
 * an interrupt and not the idle task.
 */
void put_names(const struct writer *writer, const struct record *r, bool json)
{
	FILE *out = writer->out;

	if (r->op == OP_QUEUE || r->op == OP_DEQUEUE) {
		put_name(out, "name", names_get(&writer->pids, r->pid[0]), json);
	} else if (r->op == OP_SWITCH) {
		put_name(out, "prev_name", names_get(&writer->pids, r->pid[0]), json);
		put_name(out, "next_name", names_get(&writer->pids, r->pid[1]), json);
	} else if (r->op == OP_WAKEUP) {
		if (r->pid[0])
			put_name(out, "from_name", names_get(&writer->pids, r->pid[0]), json);
		put_name(out, "to_name", names_get(&writer->pids, r->pid[1]), json);
	} else if (r->op == OP_ALLOC) {
		put_name(out, "line", names_get(&writer->sites, r->site), json);
	}
}

/**
 * rebase - the time of a record as it is shown
 * @writer: has the time of the first record
 * @time: nanoseconds, as they are in the record
 *
 * What is earlier than the first record is negative, and rounded away from zero, so
 * that all units are of the same length and no order is turned around.
 *
 * Return: units since the first record.
 */
struct rebased rebase(const struct writer *writer, uint64_t time)
{
	uint64_t before;

	if (time >= writer->base)
		return (struct rebased){ false, (time - writer->base) / writer->scale };
	before = writer->base - time;
	return (struct rebased){ true, before / writer->scale + !!(before % writer->scale) };
}
