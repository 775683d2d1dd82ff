// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model of alloctop, see top-model.h.
 *
 * The kernel shows its call sites in the same order each time, so the leaf of a line is
 * usually the one that this line had in the last table: one comparison of names, and no
 * hash.
 */
#include <stdlib.h>
#include <string.h>

#include "top-model.h"

#define NAME_SIZE	4096u

/**
 * struct leaf - a call site
 * @site: its names
 * @start: bytes that it held at the start
 * @marks: bytes that it held at the times of struct model
 * @nodes: its nodes, by enum row_by
 * @bytes: bytes that it holds
 * @calls: allocations that it holds
 * @accurate: as in struct site
 * @names: memory of the names
 */
struct leaf {
	struct site site;
	int64_t start;
	int64_t marks[MARKS];
	int64_t bytes;
	int64_t calls;
	uint32_t nodes[NR_GROUPS + 1];
	bool accurate;
	char names[];
};

/* Internals: nodes */

struct node_key {
	const struct site *site;
	enum row_by by;
};

static bool node_same(const void *table, uint32_t nr, const void *pkey)
{
	const struct model *model = table;
	const struct node_key *key = pkey;
	const struct node *node = &model->nodes[nr];

	return node->by == key->by && !row_compare_names(key->by, node->site, key->site);
}

static uint64_t node_hash(const struct node_key *key)
{
	char name[NAME_SIZE];

	row_name(key->by, key->site, name, sizeof(name));
	return hash_string(name) + hash_u64(key->by);
}

/* Nodes of the tree are in the order in which the kernel showed the first call sites. */
static void link_node(struct model *model, uint32_t nr, uint32_t parent)
{
	uint32_t *head = parent == NODE_NONE ? &model->first : &model->nodes[parent].child;

	model->nodes[nr].parent = parent;
	model->nodes[nr].next = *head;
	*head = nr;
}

static uint32_t add_node(struct model *model, const struct node_key *key, uint64_t hash,
			 uint32_t parent)
{
	uint32_t nr = model->nr;

	if (model->nr == model->room) {
		model->room = model->room ? model->room * 2 : 1024;
		model->nodes = need_more(model->nodes, model->room, sizeof(*model->nodes));
	}
	model->nr++;
	model->nodes[nr] = (struct node) {
		.site = key->site, .by = key->by, .child = NODE_NONE, .next = NODE_NONE,
		.parent = NODE_NONE, .accurate = true,
	};
	index_add(&model->node_index, hash, nr);
	if (key->by != BY_MODULE)
		link_node(model, nr, parent);
	return nr;
}

static uint32_t get_node(struct model *model, const struct site *site, enum row_by by,
			 uint32_t parent)
{
	const struct node_key key = { site, by };
	uint64_t hash = node_hash(&key);
	uint32_t nr = index_find(&model->node_index, hash, node_same, model, &key);

	return nr == INDEX_NONE ? add_node(model, &key, hash, parent) : nr;
}

static void get_nodes(struct model *model, struct leaf *leaf)
{
	const struct site *site = &leaf->site;
	uint32_t *nodes = leaf->nodes;

	nodes[BY_MODULE] = get_node(model, site, BY_MODULE, NODE_NONE);
	nodes[BY_DIR] = get_node(model, site, BY_DIR, NODE_NONE);
	nodes[BY_FILE] = get_node(model, site, BY_FILE, nodes[BY_DIR]);
	nodes[BY_FUNC] = get_node(model, site, BY_FUNC, nodes[BY_FILE]);
	nodes[BY_SITE] = get_node(model, site, BY_SITE, nodes[BY_FUNC]);
}

/* Internals: leaves */

static bool leaf_same(const void *table, uint32_t nr, const void *key)
{
	const struct model *model = table;

	return !site_compare(&model->leaves[nr]->site, key);
}

static const char *copy_name(char **to, const char *name)
{
	char *copy = *to;

	*to = stpcpy(copy, name) + 1;
	return copy;
}

static struct leaf *new_leaf(const struct site *site)
{
	struct leaf *leaf;
	char *to;

	leaf = need_memory(sizeof(*leaf) + strlen(site->file) + strlen(site->module) +
			   strlen(site->func) + 3, 1);
	leaf->accurate = true;
	to = leaf->names;
	leaf->site = (struct site) { .line = site->line, .accurate = true };
	leaf->site.file = copy_name(&to, site->file);
	leaf->site.module = copy_name(&to, site->module);
	leaf->site.func = copy_name(&to, site->func);
	return leaf;
}

static uint32_t add_leaf(struct model *model, const struct site *site, uint64_t hash)
{
	uint32_t nr = model->nr_leaves;

	if (model->nr_leaves == model->leaf_room) {
		model->leaf_room = model->leaf_room ? model->leaf_room * 2 : 1024;
		model->leaves = need_more(model->leaves, model->leaf_room,
					  sizeof(*model->leaves));
	}
	model->leaves[nr] = new_leaf(site);
	model->nr_leaves++;
	index_add(&model->leaf_index, hash, nr);
	get_nodes(model, model->leaves[nr]);
	return nr;
}

static uint32_t get_leaf(struct model *model, const struct site *site)
{
	uint64_t hash = site_hash(site);
	uint32_t nr = index_find(&model->leaf_index, hash, leaf_same, model, site);

	return nr == INDEX_NONE ? add_leaf(model, site, hash) : nr;
}

/* Returns the leaf of line @i of a table. */
static struct leaf *leaf_of(struct model *model, size_t i, const struct site *site)
{
	uint32_t *nr = &model->order[i];

	if (i >= model->order_nr || site_compare(&model->leaves[*nr]->site, site))
		*nr = get_leaf(model, site);
	return model->leaves[*nr];
}

static void read_table(struct model *model, const struct table *table)
{
	struct leaf *leaf;
	size_t i;

	for (i = 0; i < model->nr_leaves; i++) {
		leaf = model->leaves[i];
		leaf->bytes = 0;
		leaf->calls = 0;
		leaf->accurate = true;
	}
	model->order = need_more(model->order, table->nr, sizeof(*model->order));
	for (i = 0; i < table->nr; i++) {
		leaf = leaf_of(model, i, &table->sites[i]);
		leaf->bytes = add_counts(leaf->bytes, table->sites[i].bytes);
		leaf->calls = add_counts(leaf->calls, table->sites[i].calls);
		leaf->accurate &= table->sites[i].accurate;
	}
	model->order_nr = table->nr;
}

/* Internals: marks */

/* Marks are in the order of their times; the oldest one gives way. */
static void add_mark(struct model *model)
{
	size_t i, j;

	if (model->nr_marks == MARKS) {
		memmove(model->marks, model->marks + 1, (MARKS - 1) * sizeof(*model->marks));
		model->nr_marks--;
		for (i = 0; i < model->nr_leaves; i++) {
			int64_t *marks = model->leaves[i]->marks;

			memmove(marks, marks + 1, (MARKS - 1) * sizeof(*marks));
			marks[MARKS - 1] = 0;
		}
	}
	j = model->nr_marks++;
	model->marks[j] = model->time;
	for (i = 0; i < model->nr_leaves; i++)
		model->leaves[i]->marks[j] = model->leaves[i]->bytes;
}

/* The youngest mark that is a minute old, or else the oldest one. */
static size_t choose_mark(const struct model *model)
{
	size_t i = model->nr_marks;

	while (i-- > 1)
		if (model->time - model->marks[i] >= MINUTE)
			return i;
	return 0;
}

/* Internals: sums */

static void add_to_node(struct node *node, const struct leaf *leaf, size_t mark)
{
	node->bytes = add_counts(node->bytes, leaf->bytes);
	node->calls = add_counts(node->calls, leaf->calls);
	node->start = add_counts(node->start, leaf->start);
	node->then = add_counts(node->then, leaf->marks[mark]);
	node->accurate &= leaf->accurate;
	node->nr_sites++;
}

static bool is_counted(const struct model *model, const struct leaf *leaf)
{
	size_t i;

	for (i = 0; i <= NR_GROUPS; i++)
		if (model->only[i] != NODE_NONE && model->only[i] != leaf->nodes[i])
			return false;
	return true;
}

static void clear_sums(struct model *model)
{
	struct node *node;

	model->bytes = 0;
	model->calls = 0;
	model->sites = 0;
	for (node = model->nodes; node < model->nodes + model->nr; node++) {
		node->bytes = 0;
		node->calls = 0;
		node->start = 0;
		node->then = 0;
		node->nr_sites = 0;
		node->accurate = true;
	}
}

/* Interface */

/**
 * model_init - set up a model
 * @model: the model
 */
void model_init(struct model *model)
{
	*model = (struct model) { .first = NODE_NONE };
	model_all(model);
}

/**
 * model_update - take over the figures of a table
 * @model: the model; model_sum() must follow
 * @table: the table
 * @time: its time in seconds
 *
 * A call site that appears later held nothing at the start.
 */
void model_update(struct model *model, const struct table *table, double time)
{
	bool first = !model->started;

	model->time = time;
	model->started = true;
	read_table(model, table);
	if (first)
		model_restart(model);
	else if (time - model->marks[model->nr_marks - 1] >= MARK_SPACING)
		add_mark(model);
}

/**
 * model_restart - let growth count from now on
 * @model: the model; model_sum() must follow
 */
void model_restart(struct model *model)
{
	size_t i;

	model->begin = model->time;
	model->nr_marks = 0;
	for (i = 0; i < model->nr_leaves; i++) {
		model->leaves[i]->start = model->leaves[i]->bytes;
		memset(model->leaves[i]->marks, 0, sizeof(model->leaves[i]->marks));
	}
	add_mark(model);
}

/**
 * model_only - let only the call sites of a node count
 * @model: the model; call model_sum() afterwards
 * @node: a node that is no call site
 *
 * A node of another kind that was chosen before stays chosen: then only call sites that
 * are in both nodes count.
 */
void model_only(struct model *model, uint32_t node)
{
	model->only[model->nodes[node].by] = node;
}

/**
 * model_all - let all call sites count again
 * @model: the model; call model_sum() afterwards
 */
void model_all(struct model *model)
{
	size_t i;

	for (i = 0; i <= NR_GROUPS; i++)
		model->only[i] = NODE_NONE;
}

/**
 * model_sum - add up the call sites that count and pass a filter
 * @model: the model
 * @query: the filter
 */
void model_sum(struct model *model, const struct query *query)
{
	size_t i, j, mark = choose_mark(model);
	bool all = !query->file && !query->func && !query->module && !query->first &&
		   query->last == UINT32_MAX;

	model->mark_time = model->marks[mark];
	clear_sums(model);
	for (i = 0; i < model->nr_leaves; i++) {
		const struct leaf *leaf = model->leaves[i];

		if (!is_counted(model, leaf) || (!all && !query_matches(query, &leaf->site)))
			continue;
		for (j = 0; j <= NR_GROUPS; j++)
			add_to_node(&model->nodes[leaf->nodes[j]], leaf, mark);
		model->bytes = add_counts(model->bytes, leaf->bytes);
		model->calls = add_counts(model->calls, leaf->calls);
		model->sites++;
	}
}

/**
 * node_growth - growth since the start
 * @node: the node
 *
 * Return: the bytes.
 */
int64_t node_growth(const struct node *node)
{
	return add_counts(node->bytes, -node->start);
}

/**
 * model_rate - growth of a node in a minute
 * @model: the model
 * @node: a node of it
 * @rate: result in bytes
 *
 * Growth is that since the mark, which is at least a minute old if the program runs that
 * long.
 *
 * Return: false if no time has passed since the start.
 */
bool model_rate(const struct model *model, const struct node *node, int64_t *rate)
{
	double time = model->time - model->mark_time;
	double value;

	if (time <= 0)
		return false;
	value = (double)add_counts(node->bytes, -node->then) * MINUTE / time;
	*rate = value >= 0x1p63 ? INT64_MAX : value <= -0x1p63 ? INT64_MIN : value;
	return true;
}

/**
 * model_free - free the memory of a model
 * @model: the model
 */
void model_free(struct model *model)
{
	size_t i;

	for (i = 0; i < model->nr_leaves; i++)
		free(model->leaves[i]);
	free(model->leaves);
	free(model->nodes);
	free(model->order);
	index_free(&model->leaf_index);
	index_free(&model->node_index);
	model_init(model);
}
