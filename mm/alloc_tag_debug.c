// SPDX-License-Identifier: GPL-2.0-only
/*
 * Check the counters of allocation tags against the memory in use.
 *
 * A census runs under stop_machine(). It visits all references, those of pages,
 * slab objects, KFENCE objects and per-CPU memory, and sums up the memory of
 * each index. For every call site the sum must equal the counter, and every
 * page in use must have a call site.
 *
 * Without CONFIG_PREEMPT, no CPU is stopped in the middle of an allocation.
 * With CONFIG_PREEMPT, a task can be preempted there, so the result is exact
 * only on an idle system.
 *
 * Files in debugfs, directory alloc_tag/, for root:
 *
 *   pages		number of pages of each kind, and some untagged blocks
 *   slabs		for each cache: live objects, objects with a reference
 *   conservation	call sites whose counter differs from the sum of their
 *			memory
 */
#include <linux/alloc_tag.h>
#include <linux/bitmap.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/init.h>
#include <linux/ioport.h>
#include <linux/kfence.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nmi.h>
#include <linux/pgalloc_tag.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/stop_machine.h>
#include <linux/vmalloc.h>

#include "../lib/alloc_tag.h"
#include "internal.h"
#include "percpu_tag.h"
#include "slab.h"
#ifdef CONFIG_KFENCE
#include "kfence/kfence.h"
#endif

/* Data */

enum alloc_tag_kind {
	KIND_FREE,		/* in the buddy allocator or on a per-CPU list */
	KIND_RESERVED,		/* not RAM */
	KIND_EARLY,		/* allocated from memblock at boot */
	KIND_TAGGED,
	KIND_UNTAGGED,
	KIND_EXEMPT,		/* in use, but not by an allocation */
	KIND_POISONED,
	NR_KINDS,
};

static const char * const kind_names[NR_KINDS] = {
	[KIND_FREE]	= "free",
	[KIND_RESERVED]	= "reserved",
	[KIND_EARLY]	= "early",
	[KIND_TAGGED]	= "tagged",
	[KIND_UNTAGGED]	= "untagged",
	[KIND_EXEMPT]	= "exempt",
	[KIND_POISONED]	= "poisoned",
};

/* The memory of a call site. */
struct tally {
	s64 bytes;
	long calls;
};

/* The objects of a slab cache. */
struct cache_tally {
	struct kmem_cache *cache;
	unsigned long objects;
	unsigned long references;
};

#define NR_EXAMPLES	16

/**
 * struct census - a snapshot of all memory
 * @nr: number of indices
 * @held: sum over the references of each index
 * @counted: value of the counter of each index
 * @nr_caches: number of slab caches
 * @caches: the caches with their objects
 * @end_pfn: first page frame number after all memory
 * @ram: bitmap of the pages that are RAM
 * @listed: bitmap of the pages on per-CPU lists of the page allocator
 * @pages: number of pages of each kind
 * @block: index of the block that the walk is in
 * @kind: kind of that block
 * @nr_examples: number of @examples
 * @examples: page frame number, flags and number of pages of untagged blocks
 */
struct census {
	unsigned int nr;
	struct tally *held;
	struct tally *counted;
	unsigned int nr_caches;
	struct cache_tally *caches;
	unsigned long end_pfn;
	unsigned long *ram;
	unsigned long *listed;
	unsigned long pages[NR_KINDS];
	u16 block;
	enum alloc_tag_kind kind;
	unsigned int nr_examples;
	struct {
		unsigned long pfn;
		unsigned long flags;
		unsigned long nr;
	} examples[NR_EXAMPLES];
};

/* Internals: the census. All of this runs with the machine stopped. */

static void census_hold(void *data, u16 index, size_t bytes)
{
	struct census *c = data;

	if (!index || index >= c->nr)
		return;
	c->held[index].bytes += bytes;
	c->held[index].calls++;
}

static struct cache_tally *census_cache(struct census *c, struct kmem_cache *s)
{
	unsigned int i;

	for (i = 0; i < c->nr_caches; i++)
		if (c->caches[i].cache == s)
			return &c->caches[i];
	return NULL;
}

/* The objects that left the slab, including free ones on a CPU's own lists. */
static unsigned int census_live(const struct slab *slab)
{
#ifdef CONFIG_SLUB
	return slab->inuse;
#else
	return slab->active;
#endif
}

static void census_objects(struct census *c, struct cache_tally *t,
			   struct slab *slab)
{
	unsigned int i, nr = objs_per_slab(t->cache, slab);
	struct alloc_tag_ref *ref;

	t->objects += census_live(slab);
	for (i = 0; i < nr; i++) {
		ref = slab_tag_ref_nr(t->cache, slab, i);
		if (!ref || !ref->index || ref->index == ALLOC_TAG_EXEMPT)
			continue;
		t->references++;
		census_hold(c, ref->index, t->cache->size);
	}
}

/*
 * Is this a slab of the slab allocator? The pages of KFENCE look like slabs
 * too. But their references are in KFENCE's metadata, and the page of a freed
 * object must not be read. A KFENCE pool from memblock does not get here, since
 * its pages are reserved, but a pool that was allocated at run time does.
 */
static bool census_is_slab(struct page *page)
{
	return PageSlab(page) && !is_kfence_address(page_address(page));
}

/* Count the objects of a block, if any. Return the index of its pages. */
static u16 census_block(struct census *c, struct page *page)
{
	struct cache_tally *t;
	struct slab *slab;

	if (!census_is_slab(page))
		return pgalloc_tag_index(page);
	slab = page_slab(page);
	t = census_cache(c, slab->slab_cache);
	if (!t)
		return pgalloc_tag_index(page);
	census_objects(c, t, slab);
	return slab_tag_slab_index(t->cache, slab);
}

static enum alloc_tag_kind census_kind(struct page *page, u16 index)
{
	if (PageHWPoison(page))
		return KIND_POISONED;
	if (index == ALLOC_TAG_EXEMPT)
		return KIND_EXEMPT;
	return index ? KIND_TAGGED : KIND_UNTAGGED;
}

static void census_example(struct census *c, unsigned long pfn,
			   struct page *page, unsigned long nr)
{
	if (c->nr_examples == NR_EXAMPLES)
		return;
	c->examples[c->nr_examples].pfn = pfn;
	c->examples[c->nr_examples].flags = page->flags;
	c->examples[c->nr_examples].nr = nr;
	c->nr_examples++;
}

/* Count pages that are not in use. Return how many, 0 if the page is in use. */
static unsigned long census_idle(struct census *c, struct page *page,
				 unsigned long pfn)
{
	unsigned long nr = 1;

	/* Check this first: pages that are not RAM need not be in the map. */
	if (PageReserved(page)) {
		c->pages[test_bit(pfn, c->ram) ? KIND_EARLY : KIND_RESERVED]++;
		return nr;
	}
	if (PageBuddy(page))
		nr = 1UL << buddy_order(page);
	else if (!test_bit(pfn, c->listed))
		return 0;
	c->pages[KIND_FREE] += nr;
	return nr;
}

/* Count the page or block at @pfn. Return its number of pages. */
static unsigned long census_pages(struct census *c, unsigned long pfn)
{
	struct page *page = pfn_to_online_page(pfn);
	unsigned long nr;
	u16 index;

	nr = page ? census_idle(c, page, pfn) : 1;
	if (nr) {
		c->block = 0;
		c->kind = KIND_UNTAGGED;
		return nr;
	}
	nr = PageHead(page) ? compound_nr(page) : 1;
	index = census_block(c, page);
	if ((!index || index == ALLOC_TAG_EXEMPT) && nr == 1 &&
	    !PageCompound(page) && !page_count(page)) {
		/* A tail page of a block that is not compound. */
		c->pages[c->kind]++;
		if (c->block && c->block < c->nr)
			c->held[c->block].bytes += PAGE_SIZE;
		return 1;
	}
	c->block = index;
	c->kind = census_kind(page, index);
	c->pages[c->kind] += nr;
	if (c->kind == KIND_UNTAGGED)
		census_example(c, pfn, page, nr);
	census_hold(c, index, nr * PAGE_SIZE);
	return nr;
}

#ifdef CONFIG_KFENCE
static void census_kfence(struct census *c)
{
	struct kfence_metadata *meta = kfence_metadata;

	/* An object that outlived its cache has a reference, but no size. */
	for (; meta < kfence_metadata + CONFIG_KFENCE_NUM_OBJECTS; meta++)
		if (meta->tag.index && meta->cache)
			census_hold(c, meta->tag.index, meta->cache->size);
}
#else
static void census_kfence(struct census *c) { }
#endif

static void census_list(struct census *c, struct list_head *list,
			unsigned int order)
{
	struct page *page;

	list_for_each_entry(page, list, pcp_list)
		bitmap_set(c->listed, page_to_pfn(page), 1U << order);
}

static unsigned int census_list_order(unsigned int i)
{
	return i < NR_LOWORDER_PCP_LISTS ? i / MIGRATE_PCPTYPES :
					   pageblock_order;
}

static void census_lists(struct census *c)
{
	struct per_cpu_pages *pcp;
	struct zone *zone;
	unsigned int i;
	int cpu;

	for_each_populated_zone(zone) {
		for_each_possible_cpu(cpu) {
			pcp = per_cpu_ptr(zone->per_cpu_pageset, cpu);
			for (i = 0; i < NR_PCP_LISTS; i++)
				census_list(c, &pcp->lists[i],
					    census_list_order(i));
		}
	}
}

static void census_counters(struct census *c)
{
	unsigned int i;

	for (i = 1; i < c->nr; i++)
		if (alloc_tag_chunks[i >> ALLOC_TAG_CHUNK_SHIFT])
			lazy_percpu_counter_read(alloc_tag_counter(i),
						 &c->counted[i].bytes,
						 &c->counted[i].calls);
}

/* Number of pages to visit between two calls of touch_nmi_watchdog(). */
#define CENSUS_WATCHED	BIT(18)

static int census_stopped(void *data)
{
	struct census *c = data;
	unsigned long pfn = 0, watched = 0;
	unsigned int i;

	census_lists(c);
	while (pfn < c->end_pfn) {
		if (pfn >= watched) {
			touch_nmi_watchdog();
			watched = pfn + CENSUS_WATCHED;
		}
		pfn += census_pages(c, pfn);
	}
	for (i = 0; i < c->nr_caches; i++)
		c->caches[i].objects -= slab_tag_nr_cached(c->caches[i].cache);
	census_kfence(c);
	pcpu_tag_for_each(census_hold, c);
	census_counters(c);
	return 0;
}

/* Internals: before and after the census */

static int census_mark_ram(unsigned long pfn, unsigned long nr, void *data)
{
	struct census *c = data;

	if (pfn < c->end_pfn)
		bitmap_set(c->ram, pfn, min(nr, c->end_pfn - pfn));
	return 0;
}

static unsigned long census_end_pfn(void)
{
	unsigned long end = 0;
	pg_data_t *pgdat;

	for_each_online_pgdat(pgdat)
		end = max(end, pgdat_end_pfn(pgdat));
	return end;
}

static void census_free(struct census *c)
{
	if (!c)
		return;
	kvfree(c->held);
	kvfree(c->counted);
	kvfree(c->caches);
	kvfree(c->ram);
	kvfree(c->listed);
	kfree(c);
}

static struct census *census_alloc(void)
{
	struct census *c = kzalloc(sizeof(*c), GFP_KERNEL);
	struct kmem_cache *s;

	if (!c)
		return NULL;
	c->nr = READ_ONCE(alloc_tag_nr);
	c->end_pfn = census_end_pfn();
	list_for_each_entry(s, &slab_caches, list)
		c->nr_caches++;
	c->held = kvcalloc(c->nr, sizeof(*c->held), GFP_KERNEL);
	c->counted = kvcalloc(c->nr, sizeof(*c->counted), GFP_KERNEL);
	c->caches = kvcalloc(c->nr_caches, sizeof(*c->caches), GFP_KERNEL);
	c->ram = kvcalloc(BITS_TO_LONGS(c->end_pfn), sizeof(long), GFP_KERNEL);
	c->listed = kvcalloc(BITS_TO_LONGS(c->end_pfn), sizeof(long),
			     GFP_KERNEL);
	if (!c->held || !c->counted || !c->caches || !c->ram || !c->listed) {
		census_free(c);
		return NULL;
	}
	c->nr_caches = 0;
	list_for_each_entry(s, &slab_caches, list)
		c->caches[c->nr_caches++].cache = s;
	return c;
}

/*
 * The locks keep CPUs, memory, slab caches and tags as they are from the set-up
 * until the results are printed.
 */
static struct census *census_take(void (*show)(struct seq_file *m,
					       const struct census *c),
				  struct seq_file *m)
{
	struct census *c;

	if (!alloc_tag_available)
		return ERR_PTR(-EOPNOTSUPP);
	cpus_read_lock();
	get_online_mems();
	mutex_lock(&slab_mutex);
	codetag_lock(&alloc_tag_type);
	c = census_alloc();
	if (c) {
		walk_system_ram_range(0, c->end_pfn, c, census_mark_ram);
		stop_machine_cpuslocked(census_stopped, c, NULL);
		show(m, c);
	}
	codetag_unlock(&alloc_tag_type);
	mutex_unlock(&slab_mutex);
	put_online_mems();
	cpus_read_unlock();
	return c ? c : ERR_PTR(-ENOMEM);
}

static int census_show(struct seq_file *m,
		       void (*show)(struct seq_file *m, const struct census *c))
{
	struct census *c = census_take(show, m);

	if (IS_ERR(c))
		return PTR_ERR(c);
	census_free(c);
	return 0;
}

/* Interface */

static void pages_print(struct seq_file *m, const struct census *c)
{
	unsigned int i;

	for (i = 0; i < NR_KINDS; i++)
		seq_printf(m, "%s %lu\n", kind_names[i], c->pages[i]);
	for (i = 0; i < c->nr_examples; i++)
		seq_printf(m, "untagged: pfn=%#lx flags=%pGp pages=%lu\n",
			   c->examples[i].pfn, &c->examples[i].flags,
			   c->examples[i].nr);
}

static int pages_show(struct seq_file *m, void *v)
{
	return census_show(m, pages_print);
}
DEFINE_SHOW_ATTRIBUTE(pages);

static void slabs_print(struct seq_file *m, const struct census *c)
{
	unsigned int i;

	for (i = 0; i < c->nr_caches; i++)
		seq_printf(m, "%s %lu %lu\n", c->caches[i].cache->name,
			   c->caches[i].objects, c->caches[i].references);
}

static int slabs_show(struct seq_file *m, void *v)
{
	return census_show(m, slabs_print);
}
DEFINE_SHOW_ATTRIBUTE(slabs);

static void conservation_row(struct seq_file *m, const struct census *c,
			     unsigned int i)
{
	struct codetag *ct = codetag_from_index(&alloc_tag_type, i);
	char name[160];
	struct seq_buf s;

	seq_buf_init(&s, name, sizeof(name));
	if (ct)
		codetag_to_text(&s, ct, NULL);
	seq_printf(m, "counter %lld %ld references %lld %ld %.*s\n",
		   c->counted[i].bytes, c->counted[i].calls, c->held[i].bytes,
		   c->held[i].calls, (int)seq_buf_used(&s), name);
}

static void conservation_print(struct seq_file *m, const struct census *c)
{
	struct tally sum = { };
	unsigned int i, negative = 0, differing = 0;

	for (i = 1; i < c->nr; i++) {
		negative += c->counted[i].bytes < 0 || c->counted[i].calls < 0;
		sum.bytes += c->held[i].bytes;
		sum.calls += c->held[i].calls;
		if (c->held[i].bytes == c->counted[i].bytes &&
		    c->held[i].calls == c->counted[i].calls)
			continue;
		conservation_row(m, c, i);
		differing++;
	}
	seq_printf(m, "bytes: %lld\ncalls: %ld\nnegative: %u\ndiffering: %u\n",
		   sum.bytes, sum.calls, negative, differing);
}

static int conservation_show(struct seq_file *m, void *v)
{
	return census_show(m, conservation_print);
}
DEFINE_SHOW_ATTRIBUTE(conservation);

static int __init alloc_tag_debug_init(void)
{
	struct dentry *dir = debugfs_create_dir("alloc_tag", NULL);

	debugfs_create_file("pages", 0400, dir, NULL, &pages_fops);
	debugfs_create_file("slabs", 0400, dir, NULL, &slabs_fops);
	debugfs_create_file("conservation", 0400, dir, NULL,
			    &conservation_fops);
	return 0;
}
late_initcall(alloc_tag_debug_init);
