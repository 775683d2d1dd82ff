/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of call sites by NUMA node, from the text of /proc/allocinfo.nodes.
 * Documentation/ABI/testing/procfs-allocinfo.nodes describes the format.
 *
 * A struct table has the call sites and their bytes, but no calls. A struct nodes has the
 * bytes of each of these sites on each node.
 */
#ifndef _ALLOCINFO_NODES_H
#define _ALLOCINFO_NODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "complaints.h"
#include "rows.h"
#include "table.h"

/* Versions above this major number may mean something else by a column. */
#define NODES_MAJOR	1u
/* The most nodes that a kernel can be configured for. */
#define NODES_MAX	1024u

/**
 * struct nodes - the memory of the call sites of a table by node
 * @ids: number of each node, in ascending order
 * @nr: number of @ids
 * @counts: for each call site, the bytes on each node, and those on none ("unseen"), which
 *	may be negative; nodes_of() finds them
 * @room: number of @counts that fit
 *
 * All zero at first. It can be read again, which reuses its memory.
 */
struct nodes {
	unsigned int ids[NODES_MAX];
	size_t nr;
	int64_t *counts;
	size_t room;
};

bool nodes_parse(struct nodes *nodes, struct table *table, const char *name,
		 const struct complainer *to);
int64_t *nodes_of(const struct nodes *nodes, const struct table *table,
		  const struct site *site);
void nodes_merge(struct nodes *nodes, const struct table *table, const struct rows *rows);
void nodes_free(struct nodes *nodes);

#endif /* _ALLOCINFO_NODES_H */
