// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call paths over time, see paths.h.
 *
 * A path that the kernel does not show holds nothing. The kernel may have several sites with
 * the same name, for two allocations in one line; their paths are added.
 */
#include <stdlib.h>
#include <string.h>

#include "paths.h"
#include "util.h"

/* Internals */

static struct path *find_path(const struct paths *paths, const struct context_stack *stack)
{
	size_t i;

	for (i = 0; i < paths->nr; i++) {
		if (context_same_stack(&paths->list[i]->stack, stack))
			return paths->list[i];
	}
	return NULL;
}

static void free_tasks(struct context_stack *stack)
{
	size_t i;

	for (i = 0; i < stack->nr_tasks; i++)
		free((char *)stack->tasks[i].comm);
	free(stack->tasks);
}

static void copy_tasks(struct context_stack *to, const struct context_stack *from)
{
	size_t i;

	to->tasks = need_memory(from->nr_tasks, sizeof(*to->tasks));
	to->nr_tasks = from->nr_tasks;
	for (i = 0; i < from->nr_tasks; i++) {
		to->tasks[i] = from->tasks[i];
		to->tasks[i].comm = need_string(from->tasks[i].comm);
	}
}

static struct path *new_path(struct paths *paths, const struct context_stack *stack)
{
	struct path *path = need_memory(1, sizeof(*path));
	unsigned int i;

	if (paths->nr == paths->room) {
		paths->room = paths->room ? 2 * paths->room : 16;
		paths->list = need_more(paths->list, paths->room, sizeof(*paths->list));
	}
	paths->list[paths->nr++] = path;
	path->stack.nr_frames = stack->nr_frames;
	for (i = 0; i < stack->nr_frames; i++)
		path->stack.frames[i] = need_string(stack->frames[i]);
	return path;
}

static void add_stack(struct paths *paths, const struct context_stack *stack)
{
	struct path *path = find_path(paths, stack);

	if (!path)
		path = new_path(paths, stack);
	path->stack.bytes = sat_add(path->stack.bytes, stack->bytes);
	path->stack.count = sat_add(path->stack.count, stack->count);
	if (stack->nr_tasks) {
		free_tasks(&path->stack);
		copy_tasks(&path->stack, stack);
	}
	path->bytes[paths->snapshots] = path->stack.bytes;
}

static bool is_site(const struct context_site *captured, const struct contexts *contexts,
		    const struct site *site)
{
	const struct context_site *found = contexts_find(contexts, site);

	return found && !site_compare(&captured->site, &found->site);
}

static int compare_paths(const void *a, const void *b)
{
	const struct path *x = *(struct path * const *)a, *y = *(struct path * const *)b;
	bool p = x->trend.verdict == TREND_LEAK, q = y->trend.verdict == TREND_LEAK;

	if (p != q)
		return q - p;
	if (p && x->trend.slope != y->trend.slope)
		return x->trend.slope < y->trend.slope ? 1 : -1;
	return (x->stack.bytes < y->stack.bytes) - (x->stack.bytes > y->stack.bytes);
}

/* Interface */

/**
 * paths_add - add a snapshot
 * @paths: the call paths; all zero before the first snapshot
 * @time: time in seconds
 * @contexts: the snapshot
 * @site: the call site
 */
void paths_add(struct paths *paths, double time, const struct contexts *contexts,
	       const struct site *site)
{
	size_t i, k;

	if (paths->snapshots == TREND_POINTS)
		return;
	paths->time[paths->snapshots] = time;
	paths->dropped = 0;
	for (i = 0; i < paths->nr; i++) {
		paths->list[i]->stack.bytes = 0;
		paths->list[i]->stack.count = 0;
	}
	for (i = 0; i < contexts->nr; i++) {
		if (!is_site(&contexts->sites[i], contexts, site))
			continue;
		paths->dropped = sat_add(paths->dropped, contexts->sites[i].dropped);
		for (k = 0; k < contexts->sites[i].nr; k++)
			add_stack(paths, &contexts->sites[i].stacks[k]);
	}
	paths->snapshots++;
}

/**
 * paths_find - find the call paths that grow, and sort
 * @paths: the call paths
 */
void paths_find(struct paths *paths)
{
	struct path *path;
	size_t i;

	for (i = 0; i < paths->nr; i++) {
		path = paths->list[i];
		trend_find(paths->time, path->bytes, paths->snapshots, paths->nr, &path->trend);
	}
	if (paths->nr)
		qsort(paths->list, paths->nr, sizeof(*paths->list), compare_paths);
}

/**
 * paths_free - free everything
 * @paths: all zero afterwards
 */
void paths_free(struct paths *paths)
{
	unsigned int k;
	size_t i;

	for (i = 0; i < paths->nr; i++) {
		for (k = 0; k < paths->list[i]->stack.nr_frames; k++)
			free((char *)paths->list[i]->stack.frames[k]);
		free_tasks(&paths->list[i]->stack);
		free(paths->list[i]);
	}
	free(paths->list);
	*paths = (struct paths){ 0 };
}
