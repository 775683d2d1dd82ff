/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The model of alloctop: what each call site held at the start, a minute ago and now, and
 * sums of that by function, file, directory and module.
 *
 * A table is read into the same memory again and again, so the model has copies of the
 * names. Call sites and groups of them are nodes. A node stays in the model until the
 * program ends, so its number never changes.
 */
#ifndef _ALLOCINFO_TOP_MODEL_H
#define _ALLOCINFO_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query.h"
#include "rows.h"
#include "table.h"
#include "util.h"

#define NODE_NONE	UINT32_MAX

/* Marks are ten seconds or more apart, so the oldest one is at least a minute old. */
#define MARKS		8u
#define MARK_SPACING	10.0
#define MINUTE		60.0

/* The groups of a call site, other than the site itself; a path of the tree without one. */
#define NR_GROUPS	4u

/**
 * struct node - a call site or a group of call sites
 * @site: names, as in struct row
 * @bytes: bytes that its call sites hold now
 * @calls: allocations that they hold now
 * @start: bytes that they held at the start
 * @then: bytes that they held at the mark of the model
 * @parent: node above it in the tree
 * @child: first node below it in the tree
 * @next: next node below @parent
 * @nr_sites: number of its call sites
 * @by: kind of the node
 * @open: the tree shows what is below it
 * @accurate: all of the call sites have counters of their own
 */
struct node {
	const struct site *site;
	int64_t bytes;
	int64_t calls;
	int64_t start;
	int64_t then;
	uint32_t parent;
	uint32_t child;
	uint32_t next;
	uint32_t nr_sites;
	uint8_t by;
	bool open;
	bool accurate;
};

struct leaf;

/**
 * struct model - all call sites
 * @nodes: the nodes
 * @nr: number of @nodes
 * @room: number of @nodes that fit
 * @first: first directory
 * @only: for each enum row_by, the node that was chosen, or NODE_NONE: only call sites that
 *	are in all chosen nodes count
 * @bytes: bytes of the call sites that count and pass the filter
 * @calls: their allocations
 * @sites: their number
 * @time: time of the last update, in seconds
 * @begin: time of the start
 * @mark_time: time of @then in the nodes
 * @nr_leaves: number of call sites
 */
struct model {
	struct node *nodes;
	size_t nr;
	size_t room;
	uint32_t first;
	uint32_t only[NR_GROUPS + 1];
	int64_t bytes;
	int64_t calls;
	size_t sites;
	double time;
	double begin;
	double mark_time;
	size_t nr_leaves;

	/* private: */
	struct leaf **leaves;
	size_t leaf_room;
	uint32_t *order;
	size_t order_nr;
	struct index leaf_index;
	struct index node_index;
	double marks[MARKS];
	size_t nr_marks;
	bool started;
};

void model_init(struct model *model);
void model_update(struct model *model, const struct table *table, double time);
void model_sum(struct model *model, const struct query *query);
void model_restart(struct model *model);
void model_only(struct model *model, uint32_t node);
void model_all(struct model *model);
int64_t node_growth(const struct node *node);
bool model_rate(const struct model *model, const struct node *node, int64_t *rate);
void model_free(struct model *model);

#endif /* _ALLOCINFO_TOP_MODEL_H */
