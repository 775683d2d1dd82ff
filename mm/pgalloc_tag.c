// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation tags of pages: a map from pages to references, two bytes a page.
 *
 * If all struct pages are contiguous in the kernel's address space (vmemmap),
 * so are the references: the address of the one gives that of the other.
 * Otherwise the references are in chunks of 32768, which a table lists by page
 * frame number. Either way, the map of a piece of memory exists before the page
 * allocator gets its first page from there, at boot or when the memory goes
 * online. So a reference is found without a lock.
 *
 * The reference of a block is that of its first page; those of the other pages
 * are empty. Pages that will be freed one by one have a reference each, and so
 * do the pages of a contiguous range. In a slab with objects of a page or more,
 * the references of the pages are those of the objects, see mm/slab_tag.c.
 *
 * The owner of the memory owns its reference, so only the growth of the map
 * needs a lock.
 */
#define pr_fmt(fmt) "alloc_tag: " fmt

#include <linux/alloc_tag.h>
#include <linux/alloc_tag_watch.h>
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
#include <linux/vmalloc.h>

/* Internals */

/**
 * __pgalloc_tag_split - slow path of pgalloc_tag_split()
 * @page: the first page of the block
 * @nr: number of pages in it
 *
 * The bytes stay the same. The calls become as many as there will be frees. If
 * each page of the block has a reference already, as in a contiguous range,
 * nothing changes.
 */
void __pgalloc_tag_split(struct page *page, unsigned int nr)
{
	u16 index = pgalloc_tag_index(page);
	unsigned int i;

	if (!index || nr == 1 || pgalloc_tag_index(nth_page(page, 1)) == index)
		return;
	alloc_tag_count(index, 0, nr - 1);
	for (i = 1; i < nr; i++)
		pgalloc_tag_ref(nth_page(page, i))->index = index;
	alloc_tag_watch_regroup(index, page, nr, 1);
}

/**
 * __pgalloc_tag_regroup - slow path of pgalloc_tag_regroup()
 * @page: the first page
 * @nr: number of pages
 * @part: number of pages in each of the new blocks
 */
void __pgalloc_tag_regroup(struct page *page, unsigned long nr,
			   unsigned long part)
{
	u16 index = pgalloc_tag_index(page);
	unsigned long i, had = 0;
	struct alloc_tag_ref *ref;

	if (!index)
		return;
	for (i = 0; i < nr; i++) {
		ref = pgalloc_tag_ref(nth_page(page, i));
		had += ref->index == index;
		ref->index = i % part ? 0 : index;
	}
	alloc_tag_count(index, 0, (long)(nr / part) - (long)had);
	alloc_tag_watch_regroup(index, page, nr, part);
}

/**
 * __pgalloc_tag_move - slow path of pgalloc_tag_move()
 * @to: the page that holds the contents from now on
 * @from: the page that held them before
 */
void __pgalloc_tag_move(struct page *to, struct page *from)
{
	struct alloc_tag_ref *a, *b;

	/* Device memory is not the page allocator's and is not in the map. */
	if (is_zone_device_page(to) || is_zone_device_page(from))
		return;
	a = pgalloc_tag_ref(to);
	b = pgalloc_tag_ref(from);
	if (!a || !b)
		return;
	alloc_tag_watch_move(a, b);
	swap(a->index, b->index);
}

/**
 * __pgalloc_tag_add_range - slow path of pgalloc_tag_add_range()
 * @page: the first page
 * @nr: number of pages
 *
 * Accounts all pages or none: only the caller tests whether profiling is on. A
 * test for each page could account only a part of a gigantic page, but its free
 * would release the bytes of all its pages.
 */
void __pgalloc_tag_add_range(struct page *page, unsigned long nr)
{
	struct alloc_tag_ref *ref;
	unsigned long i;

	for (i = 0; i < nr; i++) {
		ref = pgalloc_tag_ref(nth_page(page, i));
		if (!PGALLOC_TAG_HOLES || likely(ref))
			alloc_tag_add(ref, PAGE_SIZE);
	}
}

/**
 * __pgalloc_tag_add_bulk - slow path of pgalloc_tag_add_bulk()
 * @list: list whose first @nr entries are the pages, linked by their lru; NULL
 *	if they are in @pages
 * @pages: array of the pages
 * @nr: number of pages
 *
 * Changes the counter once for all pages, unless the call site is watched.
 */
void __pgalloc_tag_add_bulk(struct list_head *list, struct page **pages,
			    unsigned int nr)
{
	unsigned long index = current->alloc_tag->ct.index;
	bool watched = alloc_tag_watched(index);
	struct alloc_tag_ref *ref;
	struct page *page;
	long added = 0;

	while (nr--) {
		if (list) {
			list = list->next;
			page = list_entry(list, struct page, lru);
		} else {
			page = *pages++;
		}
		ref = pgalloc_tag_ref(page);
		if (PGALLOC_TAG_HOLES && unlikely(!ref))
			continue;
		if (unlikely(watched)) {
			alloc_tag_add(ref, PAGE_SIZE);
			continue;
		}
		alloc_tag_check_add(ref, index);
		ref->index = index;
		added++;
	}
	if (added)
		alloc_tag_count(index, added * PAGE_SIZE, added);
}

/**
 * __pgalloc_tag_sub_tails - slow path of pgalloc_tag_sub_tails()
 * @index: index of the tag
 * @nr: number of pages freed
 *
 * The number of calls does not change, because the first page is still
 * allocated. The index cannot be reused meanwhile: the bytes taken off here are
 * still in its counter.
 */
void __pgalloc_tag_sub_tails(u16 index, unsigned int nr)
{
	alloc_tag_count(index, -(long)nr * PAGE_SIZE, 0);
}

/**
 * __pgalloc_tag_exempt - slow path of pgalloc_tag_exempt()
 * @page: the first page
 * @nr: number of pages
 */
void __pgalloc_tag_exempt(struct page *page, unsigned long nr)
{
	struct alloc_tag_ref *ref;
	unsigned long i;

	for (i = 0; i < nr; i++) {
		ref = pgalloc_tag_ref(nth_page(page, i));
		if (!PGALLOC_TAG_HOLES || ref)
			ref->index = ALLOC_TAG_EXEMPT;
	}
}

/* The map */

/*
 * Initial value of the references. The page allocator gets its memory by frees,
 * from memblock, from CMA or from hotplug. It has not allocated this memory
 * before, so no hook has missed it: it is exempt at first.
 */
#define PGALLOC_TAG_FRESH						\
	(IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING_DEBUG) ? 0xff : 0)

static_assert(ALLOC_TAG_EXEMPT == 0xffff);

#ifdef CONFIG_PGALLOC_TAG_FLAT_MAP

struct alloc_tag_ref *pgalloc_tag_map __ro_after_init;

/*
 * The struct pages that can exist. On arm64, vmemmap covers the direct map only:
 * its first struct page is not that of page frame 0, and with few bits of
 * virtual addresses it has fewer than MAX_PHYSMEM_BITS permits.
 */
#ifdef CONFIG_ARM64
#define PGALLOC_TAG_FIRST	VMEMMAP_START
#define PGALLOC_TAG_NR		(VMEMMAP_SIZE / sizeof(struct page))
#else
#define PGALLOC_TAG_FIRST	((unsigned long)pfn_to_page(0))
#define PGALLOC_TAG_NR		BIT(MAX_PHYSMEM_BITS - PAGE_SHIFT)
#endif

/* Reserve address space for all possible memory; pages are mapped as needed. */
static int __init pgalloc_tag_reserve(void)
{
	static struct vm_struct vm = { .flags = VM_MAP };

	vm.size = PAGE_ALIGN(sizeof(struct alloc_tag_ref) * PGALLOC_TAG_NR);
	vm.caller = __builtin_return_address(0);
	/*
	 * The end of the vmalloc area: without KASLR, the image of arm64 is at
	 * its start, and large modules need the 2 GiB around the image.
	 */
	vm.addr = (void *)((VMALLOC_END - vm.size) & PAGE_MASK);
	vm_area_add_early(&vm);
	pgalloc_tag_map = vm.addr;
	pgalloc_tag_map -= PGALLOC_TAG_FIRST / sizeof(struct page);
	return 0;
}

/**
 * pgalloc_tag_map_of_addresses - get the map for addresses of the direct map
 *
 * Only the flat map has this function.
 *
 * Return: the element for address 0 of the direct map, which need not exist. The
 * element of a page follows from its address, taken as a signed number: it is
 * address >> PAGE_SHIFT elements further on.
 */
struct alloc_tag_ref *pgalloc_tag_map_of_addresses(void)
{
	/* __va() is for addresses of memory, so begin with its first page */
	return pgalloc_tag_ref(pfn_to_page(min_low_pfn)) -
	       ((long)__va(PFN_PHYS(min_low_pfn)) >> PAGE_SHIFT);
}

/*
 * The functions of vmemmap map the pages: they work before the allocators are
 * up, and know which memory to use later.
 */
static int __meminit pgalloc_tag_cover(unsigned long pfn, unsigned long end,
				       int nid)
{
	unsigned long first = (unsigned long)pgalloc_tag_ref(pfn_to_page(pfn));
	unsigned long last = (unsigned long)pgalloc_tag_ref(pfn_to_page(end));
	unsigned long from = PAGE_ALIGN_DOWN(first), to = PAGE_ALIGN(last);
	int ret;

	ret = vmemmap_populate_basepages(from, to, nid, NULL);
	if (ret)
		return ret;
	/*
	 * At boot, fill whole pages: there are struct pages for memory holes,
	 * too. Later, other memory that is in use can have its references in
	 * the same page: with pages of 64 KiB, one page has those of 2 GiB.
	 */
	if (slab_is_available())
		memset((void *)first, PGALLOC_TAG_FRESH, last - first);
	else
		memset((void *)from, PGALLOC_TAG_FRESH, to - from);
	return 0;
}

#else /* CONFIG_PGALLOC_TAG_FLAT_MAP */

struct alloc_tag_ref **pgalloc_tag_map __read_mostly;
static unsigned long pgalloc_tag_nr_chunks;

#define CHUNK_BYTES	(PGALLOC_TAG_CHUNK_SIZE * sizeof(struct alloc_tag_ref))

static __ref void *pgalloc_tag_get(size_t size, int nid)
{
	if (slab_is_available())
		return kvzalloc_node(size, GFP_KERNEL, nid);
	return memblock_alloc_node(size, SMP_CACHE_BYTES, nid);
}

/*
 * The old table is not freed, because its readers take no lock that we could
 * wait for. It has at most 8 bytes for every 128 MiB of memory. kmemleak would
 * report a table from the slab allocator, but never reports memory from
 * memblock.
 */
static int __meminit pgalloc_tag_grow(unsigned long nr, int nid)
{
	struct alloc_tag_ref **map;

	if (nr <= pgalloc_tag_nr_chunks)
		return 0;
	map = pgalloc_tag_get(nr * sizeof(*map), nid);
	if (!map)
		return -ENOMEM;
	if (pgalloc_tag_map)
		memcpy(map, pgalloc_tag_map,
		       pgalloc_tag_nr_chunks * sizeof(*map));
	if (slab_is_available())
		kmemleak_not_leak(map);
	/* Pairs with the dependent loads in pgalloc_tag_ref(). */
	smp_store_release(&pgalloc_tag_map, map);
	pgalloc_tag_nr_chunks = nr;
	return 0;
}

static int __init pgalloc_tag_reserve(void)
{
	return pgalloc_tag_grow(DIV_ROUND_UP(PFN_UP(memblock_end_of_DRAM()),
					     PGALLOC_TAG_CHUNK_SIZE),
				NUMA_NO_NODE);
}

static int __meminit pgalloc_tag_cover(unsigned long pfn, unsigned long end,
				       int nid)
{
	unsigned long i, last = (end - 1) >> PGALLOC_TAG_CHUNK_SHIFT;

	if (pgalloc_tag_grow(last + 1, nid))
		return -ENOMEM;
	for (i = pfn >> PGALLOC_TAG_CHUNK_SHIFT; i <= last; i++) {
		if (pgalloc_tag_map[i])
			continue;
		pgalloc_tag_map[i] = pgalloc_tag_get(CHUNK_BYTES, nid);
		if (!pgalloc_tag_map[i])
			return -ENOMEM;
		if (PGALLOC_TAG_FRESH)
			memset(pgalloc_tag_map[i], PGALLOC_TAG_FRESH,
			       CHUNK_BYTES);
	}
	return 0;
}

#endif /* CONFIG_PGALLOC_TAG_FLAT_MAP */

#ifdef CONFIG_MEMORY_HOTPLUG

/**
 * pgalloc_tag_release - stop accounting pages that are not in use any more
 * @pfn: the number of the first page
 * @nr: number of pages
 *
 * For allocated pages that leave the memory of this machine without a free, for
 * example to the hypervisor. If they come back, their free finds no reference
 * and subtracts nothing.
 *
 * Context: any; the caller owns the pages.
 */
void pgalloc_tag_release(unsigned long pfn, unsigned long nr)
{
	for (; nr; pfn++, nr--) {
		if (pgalloc_tag_index(pfn_to_page(pfn)))
			pgalloc_tag_sub(pfn_to_page(pfn), 0);
		pgalloc_tag_exempt(pfn_to_page(pfn), 1);
	}
}
EXPORT_SYMBOL_GPL(pgalloc_tag_release);

/* Called under the memory hotplug lock. The map of offline memory is kept. */
static int __meminit pgalloc_tag_notify(struct notifier_block *nb,
					unsigned long action, void *data)
{
	struct memory_notify *arg = data;
	unsigned long end = arg->start_pfn + arg->nr_pages;
	int nid = pfn_to_nid(arg->start_pfn);

	switch (action) {
	case MEM_GOING_ONLINE:
		return notifier_from_errno(pgalloc_tag_cover(arg->start_pfn,
							     end, nid));
	case MEM_OFFLINE:
		/*
		 * Poisoned pages, and those that a driver has taken out of use,
		 * are still allocated, and nobody will free them.
		 */
		pgalloc_tag_release(arg->start_pfn, arg->nr_pages);
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
 * pgalloc_tag_init - allocate the map for the memory present at boot
 *
 * Context: boot, while memblock is the allocator.
 * Return: 0 or -ENOMEM.
 */
int __init pgalloc_tag_init(void)
{
	unsigned long start, end;
	int i, nid;

	if (pgalloc_tag_reserve())
		return -ENOMEM;
	for_each_mem_pfn_range(i, MAX_NUMNODES, &start, &end, &nid)
		if (pgalloc_tag_cover(start, end, nid))
			return -ENOMEM;
	return 0;
}
