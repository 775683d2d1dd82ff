// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory of call sites by NUMA node, see nodes.h.
 */
#include <stdlib.h>
#include <string.h>

#include "nodes.h"
#include "number.h"
#include "util.h"

/* Data */

#define NODES_FILE	"/proc/allocinfo.nodes"

/* Internals */

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " ");
}

/* Moves *@p behind a word of the second line. Returns false if it is another one. */
static bool take_word(const char **p, const char *word)
{
	const char *at = skip_blanks(*p);
	size_t len = strlen(word);

	if (strncmp(at, word, len))
		return false;
	*p = at + len;
	return true;
}

static bool take_id(struct nodes *nodes, const char **p)
{
	uint64_t id;

	if (!number_take(*p, &id, p) || *(*p)++ != '>' || nodes->nr == NODES_MAX ||
	    id >= NODES_MAX || (nodes->nr && id <= nodes->ids[nodes->nr - 1]))
		return false;
	nodes->ids[nodes->nr++] = id;
	return true;
}

/* "#     <size>    <node 0>    <node 1>     <unseen> <tag info>" */
static bool take_columns(struct nodes *nodes, const char *line)
{
	nodes->nr = 0;
	if (!take_word(&line, "#") || !take_word(&line, "<size>"))
		return false;
	while (take_word(&line, "<node ")) {
		if (!take_id(nodes, &line))
			return false;
	}
	return nodes->nr && take_word(&line, "<unseen>") && take_word(&line, "<tag info>") &&
	       (!*line || *line == '\n');
}

static int64_t *room_for(struct nodes *nodes, size_t site)
{
	size_t columns = nodes->nr + 1, need = (site + 1) * columns;

	if (need > nodes->room) {
		nodes->room = 2 * need;
		nodes->counts = need_more(nodes->counts, nodes->room, sizeof(*nodes->counts));
	}
	return nodes->counts + site * columns;
}

/* The bytes of a line are the sum of the other numbers. */
static bool take_counts(char **p, struct site *site, size_t nr, void *data)
{
	struct nodes *nodes = data;
	int64_t *counts = room_for(nodes, nr), sum = 0;
	size_t i;

	if (!table_take_count(p, &site->bytes))
		return false;
	for (i = 0; i <= nodes->nr; i++) {
		if (!table_take_count(p, &counts[i]) ||
		    __builtin_add_overflow(sum, counts[i], &sum))
			return false;
	}
	return sum == site->bytes;
}

/* Interface */

/**
 * nodes_parse - find the call sites and their numbers in the text
 * @nodes: receives the numbers
 * @table: its text is parsed, and it receives the call sites, whose names are in this text
 * @name: name of the file, for complaints
 * @to: receives complaints about lines that are damaged, with their number
 *
 * Return: false if the first two lines of the text are not the heading of
 * /proc/allocinfo.nodes.
 */
bool nodes_parse(struct nodes *nodes, struct table *table, const char *name,
		 const struct complainer *to)
{
	const struct table_format format = {
		.file = NODES_FILE,
		.heading = "allocinfo.nodes - version: ",
		.major = NODES_MAJOR,
		.take = take_counts,
		.data = nodes,
	};
	const char *second = memchr(table->text, '\n', table->size);
	bool good = second && take_columns(nodes, second + 1);

	if (!good) {
		nodes->nr = 0;
		complain(to, name, 1, "not a copy of " NODES_FILE);
	}
	return good && table_parse_as(table, &format, name, to);
}

/**
 * nodes_of - the numbers of a call site
 * @nodes: made by nodes_parse()
 * @table: with @nodes
 * @site: a call site of @table
 *
 * Return: the bytes on each node, then those on none.
 */
int64_t *nodes_of(const struct nodes *nodes, const struct table *table,
		  const struct site *site)
{
	return nodes->counts + (site - table->sites) * (nodes->nr + 1);
}

/**
 * nodes_merge - add the numbers of each row to those of its first call site
 * @nodes: made by nodes_parse()
 * @table: with @nodes
 * @rows: made of @table and not sorted since
 *
 * Afterwards, nodes_of() with the call site of a row has the numbers of the row.
 */
void nodes_merge(struct nodes *nodes, const struct table *table, const struct rows *rows)
{
	const struct site *site;
	const struct row *row;
	int64_t *to, *from;
	size_t i, nr;

	for (nr = 0; nr < table->nr; nr++) {
		site = &table->sites[nr];
		row = rows_find(rows, site);
		if (!row || row->site == site)
			continue;
		to = nodes_of(nodes, table, row->site);
		from = nodes_of(nodes, table, site);
		for (i = 0; i <= nodes->nr; i++)
			to[i] = add_counts(to[i], from[i]);
	}
}

/**
 * nodes_free - free the memory of numbers
 * @nodes: all zero afterwards
 */
void nodes_free(struct nodes *nodes)
{
	free(nodes->counts);
	*nodes = (struct nodes){ 0 };
}
