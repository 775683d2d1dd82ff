// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation tags of pages: a map from page frame number to reference.
 *
 * Two bytes a page, in chunks of 32768 references, found through a table of
 * chunks. The table covers all memory that the page allocator can hand out;
 * chunks exist where there is memory. Both are there before the first page is
 * given out, and follow memory that is added later before that goes online, so
 * a reference is found with two loads and without a lock.
 *
 * The reference of a block is that of its first page and stands for the whole
 * block; those of the other pages are empty. Pages that will be freed one by one
 * have a reference each, a contiguous range among them. In the slab of a cache
 * with objects of a page or more they are the objects', see mm/slab_tag.c.
 * Whoever owns the memory owns the reference: nothing here is locked but the
 * growing of the map.
 */
#define pr_fmt(fmt) "alloc_tag: " fmt

#include <linux/alloc_tag.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/kmemleak.h>
#include <linux/memblock.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/notifier.h>
#include <linux/pgalloc_tag.h>
#include <linux/slab.h>
#include <linux/string.h>

/* Data */

struct alloc_tag_ref **pgalloc_tag_map __read_mostly;
static unsigned long pgalloc_tag_nr_chunks;

#define CHUNK_BYTES	(PGALLOC_TAG_CHUNK_SIZE * sizeof(struct alloc_tag_ref))

/* Internals */

/**
 * __pgalloc_tag_add - what pgalloc_tag_add() does when enabled
 * @page: the first page of a block just allocated, NULL when that failed
 * @order: its order
 */
void __pgalloc_tag_add(struct page *page, unsigned int order)
{
	struct alloc_tag_ref *ref;

	if (unlikely(!page))
		return;
	ref = pgalloc_tag_ref(page);
	if (likely(ref))
		alloc_tag_add(ref, PAGE_SIZE << order);
}

/**
 * __pgalloc_tag_sub - what pgalloc_tag_sub() does where there are tags
 * @page: the first page of the block
 * @order: its order
 */
void __pgalloc_tag_sub(struct page *page, unsigned int order)
{
	struct alloc_tag_ref *ref = pgalloc_tag_ref(page);

	if (likely(ref))
		alloc_tag_sub(ref, PAGE_SIZE << order);
}

/**
 * __pgalloc_tag_index - what pgalloc_tag_index() does where there are tags
 * @page: a page the caller holds a reference of
 *
 * Return: the index, 0 for none.
 */
u16 __pgalloc_tag_index(struct page *page)
{
	struct alloc_tag_ref *ref = pgalloc_tag_ref(page);

	return ref ? ref->index : 0;
}

/**
 * __pgalloc_tag_split - what pgalloc_tag_split() does where there are tags
 * @page: the first page of the block
 * @nr: number of pages in it
 *
 * The bytes are the same before and after; the calls are as many as there will
 * be frees.
 */
void __pgalloc_tag_split(struct page *page, unsigned int nr)
{
	struct alloc_tag_ref *ref = pgalloc_tag_ref(page);
	u16 index = ref ? ref->index : 0;
	unsigned int i;

	if (!index)
		return;
	lazy_percpu_counter_add(alloc_tag_counter(index), 0, nr - 1);
	for (i = 1; i < nr; i++)
		pgalloc_tag_ref(page + i)->index = index;
}

/**
 * __pgalloc_tag_regroup - what pgalloc_tag_regroup() does where there are tags
 * @page: the first page
 * @nr: how many pages
 * @part: number of pages in each of the new blocks
 */
void __pgalloc_tag_regroup(struct page *page, unsigned long nr,
			   unsigned long part)
{
	u16 index = __pgalloc_tag_index(page);
	unsigned long i, had = 0;
	struct alloc_tag_ref *ref;

	if (!index)
		return;
	for (i = 0; i < nr; i++) {
		ref = pgalloc_tag_ref(nth_page(page, i));
		had += !!ref->index;
		ref->index = i % part ? 0 : index;
	}
	lazy_percpu_counter_add(alloc_tag_counter(index), 0,
				(long)(nr / part) - (long)had);
}

/**
 * __pgalloc_tag_move - what pgalloc_tag_move() does where there are tags
 * @to: the page that holds the contents from now on
 * @from: the page that held them
 */
void __pgalloc_tag_move(struct page *to, struct page *from)
{
	struct alloc_tag_ref *a, *b;

	/* Device memory is not the page allocator's: no references, no map. */
	if (is_zone_device_page(to) || is_zone_device_page(from))
		return;
	a = pgalloc_tag_ref(to);
	b = pgalloc_tag_ref(from);
	if (a && b)
		swap(a->index, b->index);
}

/**
 * __pgalloc_tag_add_range - what pgalloc_tag_add_range() does when enabled
 * @page: the first
 * @nr: how many
 */
void __pgalloc_tag_add_range(struct page *page, unsigned long nr)
{
	unsigned long i;

	for (i = 0; i < nr; i++)
		pgalloc_tag_add(nth_page(page, i), 0);
}

/**
 * __pgalloc_tag_sub_tails - what pgalloc_tag_sub_tails() does for a tag
 * @index: the tag's
 * @nr: number of pages freed
 *
 * The call stays, for the page that is not freed yet; and so does the index,
 * since the bytes taken off here are still in its counter.
 */
void __pgalloc_tag_sub_tails(u16 index, unsigned int nr)
{
	lazy_percpu_counter_add(alloc_tag_counter(index),
				-(long)nr * PAGE_SIZE, 0);
}

/* Memory that comes later */

#ifdef CONFIG_MEMORY_HOTPLUG

/*
 * The old table is not freed: a reader that is still in it takes no lock that
 * could be waited for, and it is 8 bytes for every 128 MiB.
 */
static int pgalloc_tag_grow(unsigned long nr)
{
	struct alloc_tag_ref **map;

	if (nr <= pgalloc_tag_nr_chunks)
		return 0;
	map = kvcalloc(nr, sizeof(*map), GFP_KERNEL);
	if (!map)
		return -ENOMEM;
	memcpy(map, pgalloc_tag_map, pgalloc_tag_nr_chunks * sizeof(*map));
	kmemleak_not_leak(map);
	/* Pairs with the dependent loads in pgalloc_tag_ref(). */
	smp_store_release(&pgalloc_tag_map, map);
	pgalloc_tag_nr_chunks = nr;
	return 0;
}

static int pgalloc_tag_cover(unsigned long pfn, unsigned long end)
{
	unsigned long i, last = (end - 1) >> PGALLOC_TAG_CHUNK_SHIFT;

	if (pgalloc_tag_grow(last + 1))
		return -ENOMEM;
	for (i = pfn >> PGALLOC_TAG_CHUNK_SHIFT; i <= last; i++) {
		if (pgalloc_tag_map[i])
			continue;
		pgalloc_tag_map[i] = kvzalloc(CHUNK_BYTES, GFP_KERNEL);
		if (!pgalloc_tag_map[i])
			return -ENOMEM;
	}
	return 0;
}

/*
 * Memory goes offline with pages that somebody still holds: poisoned ones, and
 * those that a driver took out of use itself. Nobody will free them, one by one
 * or at all.
 */
static void pgalloc_tag_release(unsigned long pfn, unsigned long end)
{
	for (; pfn < end; pfn++)
		pgalloc_tag_sub(pfn_to_page(pfn), 0);
}

/* Runs under the memory hotplug lock. Chunks stay when memory goes offline. */
static int pgalloc_tag_notify(struct notifier_block *nb, unsigned long action,
			      void *data)
{
	struct memory_notify *arg = data;

	unsigned long end = arg->start_pfn + arg->nr_pages;

	switch (action) {
	case MEM_GOING_ONLINE:
		return notifier_from_errno(pgalloc_tag_cover(arg->start_pfn,
							     end));
	case MEM_OFFLINE:
		pgalloc_tag_release(arg->start_pfn, end);
		break;
	}
	return NOTIFY_OK;
}

static int __init pgalloc_tag_hotplug_init(void)
{
	if (alloc_tag_available)
		hotplug_memory_notifier(pgalloc_tag_notify, 0);
	return 0;
}
core_initcall(pgalloc_tag_hotplug_init);

#endif /* CONFIG_MEMORY_HOTPLUG */

/* Init */

/**
 * pgalloc_tag_init - lay out the map for the memory that is there
 *
 * Context: boot, memblock in charge.
 * Return: 0 or -ENOMEM.
 */
int __init pgalloc_tag_init(void)
{
	unsigned long start, end, c;
	int i, nid;

	pgalloc_tag_nr_chunks = DIV_ROUND_UP(PFN_UP(memblock_end_of_DRAM()),
					     PGALLOC_TAG_CHUNK_SIZE);
	pgalloc_tag_map = memblock_alloc(pgalloc_tag_nr_chunks *
					 sizeof(*pgalloc_tag_map),
					 SMP_CACHE_BYTES);
	if (!pgalloc_tag_map)
		return -ENOMEM;

	for_each_mem_pfn_range(i, MAX_NUMNODES, &start, &end, &nid) {
		for (c = start >> PGALLOC_TAG_CHUNK_SHIFT;
		     c <= (end - 1) >> PGALLOC_TAG_CHUNK_SHIFT; c++) {
			if (pgalloc_tag_map[c])
				continue;
			pgalloc_tag_map[c] = memblock_alloc_node(CHUNK_BYTES,
								 SMP_CACHE_BYTES,
								 nid);
			if (!pgalloc_tag_map[c])
				return -ENOMEM;
		}
	}
	return 0;
}
