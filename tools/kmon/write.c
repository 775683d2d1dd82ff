// SPDX-License-Identifier: GPL-2.0-only
/*
 * Common parts of the writers of text and JSON: names after a record, and times.
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
 * @writer: the writer
 * @r: the record; its numbers are already written
 * @json: write JSON instead of text
 *
 * A number without a name is skipped. So is pid 0 as the waker, because it stands for an
 * interrupt and not for the idle task.
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
 * rebase - convert a time to units since the first record
 * @writer: contains the time of the first record and the length of a unit
 * @time: time of a record in nanoseconds
 *
 * A time before the first record is negative and is rounded away from zero, so that all
 * units have the same length and the order of times does not change.
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
