// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocations by call site, see allocs.h.
 *
 * There are two tables of live objects: the first has the older allocation of each
 * address, the second the newer one, if there are two.
 */
#include <stdlib.h>

#include "allocs.h"

/*
 * The tables use address 0 for unused entries. The kernel allocates neither there nor at
 * the last byte, but a damaged log may contain these addresses.
 */
static uint64_t key_of(const struct record *r)
{
	return r->ptr ? r->ptr : UINT64_MAX;
}

static struct object *find(const struct allocs *a, enum live_age age, uint64_t key)
{
	struct object *object = objects_find(a->live[age], key);

	return object && object->live ? object : NULL;
}

static void add(struct allocs *a, enum live_age age, uint64_t key, uint16_t site,
		struct bytes bytes)
{
	struct object *object = objects_get(a->live[age], key);

	object->site = site;
	object_born(a->live[age], object, bytes);
}

static void count_free(struct site *site, uint64_t bytes)
{
	site->frees++;
	site->live--;
	site->live_bytes = sat_sub(site->live_bytes, bytes);
}

static void count_alloc(struct site *site, uint64_t bytes)
{
	site->allocs++;
	site->bytes = sat_add(site->bytes, bytes);
	site->live++;
	site->live_bytes = sat_add(site->live_bytes, bytes);
}

static void end_life(struct allocs *a, enum live_age age, struct object *object)
{
	uint64_t bytes = object_freed(a->live[age], object).allocated;

	count_free(&a->sites[a->of_index[object->site] - 1], bytes);
	count_free(&a->total, bytes);
}

/* An address cannot be live three times, so a free was lost: drop the older allocation. */
static void drop_older(struct allocs *a, struct object *older, struct object *newer)
{
	struct bytes bytes = object_freed(a->live[LIVE_NEWER], newer);

	end_life(a, LIVE_OLDER, older);
	add(a, LIVE_OLDER, newer->ptr, newer->site, bytes);
	a->missed++;
}

static struct site *site_of(struct allocs *a, uint16_t index)
{
	uint32_t *nr = &a->of_index[index];

	if (!*nr) {
		if (a->nr == a->room) {
			a->room = a->room ? a->room * 2 : 64;
			a->sites = need_more(a->sites, a->room, sizeof(*a->sites));
		}
		a->sites[a->nr] = (struct site){ .nr = index };
		*nr = ++a->nr;
	}
	return &a->sites[*nr - 1];
}

static void record_alloc(struct allocs *a, const struct record *r)
{
	uint64_t key = key_of(r);
	struct object *older = find(a, LIVE_OLDER, key);
	struct object *newer = find(a, LIVE_NEWER, key);

	if (newer)
		drop_older(a, older, newer);
	a->addresses += !older;
	add(a, older ? LIVE_NEWER : LIVE_OLDER, key, r->site,
	    (struct bytes){ r->bytes, r->bytes });
	count_alloc(site_of(a, r->site), r->bytes);
	count_alloc(&a->total, r->bytes);
}

static void record_free(struct allocs *a, const struct record *r)
{
	uint64_t key = key_of(r);
	struct object *older = find(a, LIVE_OLDER, key);
	struct object *newer = find(a, LIVE_NEWER, key);

	if (newer) {
		end_life(a, LIVE_NEWER, newer);
	} else if (older) {
		end_life(a, LIVE_OLDER, older);
		a->addresses--;
	} else {
		a->before++;
	}
}

static int by_bytes(const void *a, const void *b)
{
	const struct site *const *x = a, *const *y = b;

	if ((*x)->bytes != (*y)->bytes)
		return (*x)->bytes > (*y)->bytes ? -1 : 1;
	return ((*x)->nr > (*y)->nr) - ((*x)->nr < (*y)->nr);
}

/* Interface */

/**
 * allocs_new - an empty account of allocations
 *
 * Return: the account, for allocs_free().
 */
struct allocs *allocs_new(void)
{
	struct allocs *allocs = need_memory(1, sizeof(*allocs));

	allocs->live[LIVE_OLDER] = objects_new();
	allocs->live[LIVE_NEWER] = objects_new();
	return allocs;
}

/**
 * allocs_record - count a record
 * @allocs: from allocs_new()
 * @record: the record; not earlier than the previous one
 */
void allocs_record(struct allocs *allocs, const struct record *record)
{
	if (record->op == OP_ALLOC)
		record_alloc(allocs, record);
	else if (record->op == OP_FREE)
		record_free(allocs, record);
}

/**
 * sites_by_bytes - list the call sites, the largest sum of bytes first
 * @allocs: from allocs_new()
 * @nr: set to the number of call sites
 *
 * Return: the list; the caller frees it with free().
 */
const struct site **sites_by_bytes(const struct allocs *allocs, uint32_t *nr)
{
	const struct site **sites = need_memory(allocs->nr, sizeof(*sites));
	uint32_t i;

	*nr = allocs->nr;
	for (i = 0; i < allocs->nr; i++)
		sites[i] = &allocs->sites[i];
	qsort(sites, *nr, sizeof(*sites), by_bytes);
	return sites;
}

/**
 * allocs_free - free an account of allocations
 * @allocs: from allocs_new()
 */
void allocs_free(struct allocs *allocs)
{
	objects_free(allocs->live[LIVE_OLDER]);
	objects_free(allocs->live[LIVE_NEWER]);
	free(allocs->sites);
	free(allocs);
}
