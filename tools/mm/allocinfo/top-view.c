// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows that alloctop shows, see top.h.
 *
 * Rows are sorted by a number that is computed once for each of them. Rows with equal
 * numbers are in the order in which the kernel showed their first call sites, so that
 * they do not jump about.
 */
#include <stdlib.h>
#include <string.h>

#include "top.h"

/**
 * struct sort_key - what a row is sorted by
 * @value: the number
 * @site: the names
 * @node: the row
 * @by: kind of the row
 */
struct sort_key {
	int64_t value;
	const struct site *site;
	uint32_t node;
	enum row_by by;
};

static int64_t sort_value(const struct top *top, const struct node *node)
{
	int64_t rate = 0;

	switch (top->sort) {
	case TOP_BYTES:
		return node->bytes;
	case TOP_CALLS:
		return node->calls;
	case TOP_AVERAGE:
		return node->calls > 0 ? node->bytes / node->calls : 0;
	case TOP_GROWTH:
		return node_growth(node);
	case TOP_RATE:
		model_rate(&top->model, node, &rate);
		return rate;
	default:
		return 0;
	}
}

static int compare_values(const void *pa, const void *pb)
{
	const struct sort_key *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return (a->node > b->node) - (a->node < b->node);
}

static int compare_names(const void *pa, const void *pb)
{
	const struct sort_key *a = pa, *b = pb;

	return row_compare_names(a->by, a->site, b->site);
}

static void add_key(struct top *top, size_t *nr, uint32_t number)
{
	const struct node *node = &top->model.nodes[number];

	if (*nr == top->key_room) {
		top->key_room = top->key_room ? top->key_room * 2 : 1024;
		top->keys = need_more(top->keys, top->key_room, sizeof(*top->keys));
	}
	top->keys[(*nr)++] = (struct sort_key) { sort_value(top, node), node->site, number,
						 node->by };
}

/* Without a higher minimum, a row that holds nothing is shown if it held memory before. */
static bool is_shown(const struct top *top, const struct node *node)
{
	if (!node->nr_sites)
		return false;
	if (top->min <= 1 && (node->bytes || node->calls || node->start))
		return true;
	return node->bytes >= 0 && (uint64_t)node->bytes >= top->min;
}

static void sort_keys(struct top *top, size_t from, size_t to)
{
	qsort(top->keys + from, to - from, sizeof(*top->keys),
	      top->sort == TOP_NAME ? compare_names : compare_values);
}

static bool add_line(struct top *top, uint32_t node, uint32_t depth)
{
	if (top->limit && top->nr >= top->limit)
		return false;
	if (top->nr == top->room) {
		top->room = top->room ? top->room * 2 : 1024;
		top->lines = need_more(top->lines, top->room, sizeof(*top->lines));
	}
	top->lines[top->nr++] = (struct line) { node, depth };
	return true;
}

static void add_flat(struct top *top)
{
	const struct model *model = &top->model;
	size_t i, nr = 0;

	for (i = 0; i < model->nr; i++)
		if (model->nodes[i].by == top->by && is_shown(top, &model->nodes[i]))
			add_key(top, &nr, i);
	sort_keys(top, 0, nr);
	for (i = 0; i < nr && add_line(top, top->keys[i].node, 0); i++)
		;
}

/* The keys of a level are on top of those of the levels above it. */
static void add_level(struct top *top, uint32_t first, uint32_t depth, size_t from)
{
	const struct node *node;
	size_t i, nr = from;
	uint32_t number;

	for (number = first; number != NODE_NONE; number = node->next) {
		node = &top->model.nodes[number];
		if (is_shown(top, node))
			add_key(top, &nr, number);
	}
	sort_keys(top, from, nr);
	for (i = from; i < nr; i++) {
		number = top->keys[i].node;
		if (!add_line(top, number, depth))
			return;
		if (top->model.nodes[number].open)
			add_level(top, top->model.nodes[number].child, depth + 1, nr);
	}
}

/**
 * view_build - choose and sort the rows
 * @top: the program; model_sum() was called
 */
void view_build(struct top *top)
{
	top->nr = 0;
	if (top->tree)
		add_level(top, top->model.first, 0, 0);
	else
		add_flat(top);
}

/**
 * view_find - find the row of a node
 * @top: the program
 * @node: the node
 *
 * Return: its number in the rows; their number if it is not shown.
 */
size_t view_find(const struct top *top, uint32_t node)
{
	size_t i;

	for (i = 0; i < top->nr; i++)
		if (top->lines[i].node == node)
			break;
	return i;
}

/**
 * view_open_all - unfold or fold the tree
 * @top: the program; view_build() must follow
 * @open: true to unfold it
 */
void view_open_all(struct top *top, bool open)
{
	size_t i;

	for (i = 0; i < top->model.nr; i++)
		top->model.nodes[i].open = open;
}
