// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names that come behind a record, the same in text and in JSON.
 */
#include "parse.h"
#include "utf8.h"

static void put_name(FILE *out, const char *key, const char *name, bool json)
{
	if (!name)
		return;
	fprintf(out, json ? ",\"%s\":" : ",%s=", key);
	put_quoted(out, name);
}

/**
 * put_names - write the names of the numbers in a record
 * @parse: where to
 * @r: the record, whose numbers are written
 * @json: as JSON, else as text
 *
 * Of a number without a name there is nothing. Nor is there of 0 in a wakeup, which is
 * an interrupt and not the idle task.
 */
void put_names(const struct parse *parse, const struct record *r, bool json)
{
	FILE *out = parse->out;

	if (r->op == OP_QUEUE || r->op == OP_DEQUEUE) {
		put_name(out, "name", names_get(&parse->pids, r->pid[0]), json);
	} else if (r->op == OP_SWITCH) {
		put_name(out, "prev_name", names_get(&parse->pids, r->pid[0]), json);
		put_name(out, "next_name", names_get(&parse->pids, r->pid[1]), json);
	} else if (r->op == OP_WAKEUP) {
		if (r->pid[0])
			put_name(out, "from_name", names_get(&parse->pids, r->pid[0]), json);
		put_name(out, "to_name", names_get(&parse->pids, r->pid[1]), json);
	} else if (r->op == OP_ALLOC) {
		put_name(out, "line", names_get(&parse->sites, r->site), json);
	}
}
