// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who allocated what, see allocs.h.
 *
 * What is live is found by its address, in a table that entries are taken out of
 * again, so it is as large as what is live. The place of an entry is the first one
 * that is free, from where its hash points on; when one is taken out, those behind it
 * that stand there only because of it move up.
 */
#include <stdlib.h>

#include "allocs.h"

#define LIVE_MIN	1024u
/* a page, and the object at its begin */
#define LIVE_DEPTH	2u

/* What is live at an address, the newest last; an entry with none is empty. */
struct live {
	uint64_t ptr;
	uint64_t bytes[LIVE_DEPTH];
	uint16_t site[LIVE_DEPTH];
	uint8_t nr;
};

static size_t place_of(const struct allocs *a, uint64_t ptr)
{
	return hash_u64(ptr) & (a->size - 1);
}

/* Where the entry is, or the empty one where it would be. */
static struct live *find(const struct allocs *a, uint64_t ptr)
{
	size_t at = place_of(a, ptr);

	while (a->live[at].nr && a->live[at].ptr != ptr)
		at = (at + 1) & (a->size - 1);
	return &a->live[at];
}

static void grow(struct allocs *a)
{
	struct live *old = a->live;
	size_t i, size = a->size;

	a->size = size ? size * 2 : LIVE_MIN;
	a->live = need_memory(a->size, sizeof(*a->live));
	for (i = 0; i < size; i++) {
		if (old[i].nr)
			*find(a, old[i].ptr) = old[i];
	}
	free(old);
}

static void take_out(struct allocs *a, struct live *entry)
{
	size_t mask = a->size - 1, hole = entry - a->live, at = hole, home;

	for (;;) {
		at = (at + 1) & mask;
		if (!a->live[at].nr)
			break;
		home = place_of(a, a->live[at].ptr);
		if (((at - home) & mask) < ((at - hole) & mask))
			continue;
		a->live[hole] = a->live[at];
		hole = at;
	}
	a->live[hole].nr = 0;
	a->used--;
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

static void end_life(struct allocs *a, const struct live *entry, unsigned int i)
{
	count_free(&a->sites[a->of_index[entry->site[i]] - 1], entry->bytes[i]);
	count_free(&a->total, entry->bytes[i]);
}

/* It cannot be live once more than LIVE_DEPTH: a free was lost, of whichever. */
static void drop_oldest(struct allocs *a, struct live *entry)
{
	unsigned int i;

	end_life(a, entry, 0);
	entry->nr--;
	for (i = 0; i < entry->nr; i++) {
		entry->bytes[i] = entry->bytes[i + 1];
		entry->site[i] = entry->site[i + 1];
	}
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
	struct live *entry;

	if (a->used >= a->size / 2)
		grow(a);
	entry = find(a, r->ptr);
	if (entry->nr == LIVE_DEPTH)
		drop_oldest(a, entry);
	a->used += !entry->nr;
	entry->ptr = r->ptr;
	entry->bytes[entry->nr] = r->bytes;
	entry->site[entry->nr++] = r->site;
	count_alloc(site_of(a, r->site), r->bytes);
	count_alloc(&a->total, r->bytes);
}

static void record_free(struct allocs *a, const struct record *r)
{
	struct live *entry = find(a, r->ptr);

	if (!entry->nr) {
		a->before++;
		return;
	}
	end_life(a, entry, --entry->nr);
	if (!entry->nr)
		take_out(a, entry);
}

/* Interface */

/**
 * allocs_new - begin
 *
 * Return: for allocs_free().
 */
struct allocs *allocs_new(void)
{
	struct allocs *allocs = need_memory(1, sizeof(*allocs));

	grow(allocs);
	return allocs;
}

/**
 * allocs_record - one record more
 * @allocs: from allocs_new()
 * @record: not earlier than the one before
 */
void allocs_record(struct allocs *allocs, const struct record *record)
{
	if (record->op == OP_ALLOC)
		record_alloc(allocs, record);
	else if (record->op == OP_FREE)
		record_free(allocs, record);
}

/**
 * allocs_free - give back the memory
 * @allocs: from allocs_new()
 */
void allocs_free(struct allocs *allocs)
{
	free(allocs->live);
	free(allocs->sites);
	free(allocs);
}
