/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation tags of pages. See mm/pgalloc_tag.c.
 */
#ifndef _LINUX_PGALLOC_TAG_H
#define _LINUX_PGALLOC_TAG_H

#include <linux/alloc_tag_ref.h>
#include <linux/mm.h>

#ifdef CONFIG_MEM_ALLOC_PROFILING

#ifdef CONFIG_PGALLOC_TAG_FLAT_MAP

/*
 * References by address of the struct page. Element 0 would belong to address
 * 0, so the index is the address divided by the size of a struct page.
 */
extern struct alloc_tag_ref *pgalloc_tag_map;

#define PGALLOC_TAG_HOLES	false

static __always_inline struct alloc_tag_ref *pgalloc_tag_ref(struct page *page)
{
	return pgalloc_tag_map + (unsigned long)page / sizeof(struct page);
}

#else /* CONFIG_PGALLOC_TAG_FLAT_MAP */

/* References by page frame number, in chunks of 64 KiB. */
#define PGALLOC_TAG_CHUNK_SHIFT	15
#define PGALLOC_TAG_CHUNK_SIZE	BIT(PGALLOC_TAG_CHUNK_SHIFT)

extern struct alloc_tag_ref **pgalloc_tag_map;

#define PGALLOC_TAG_HOLES	true

/**
 * pgalloc_tag_ref - find the reference of a page
 * @page: a page that was allocated or is being freed
 *
 * Return: the reference; if PGALLOC_TAG_HOLES, NULL for a page in a memory
 * hole.
 */
static __always_inline struct alloc_tag_ref *pgalloc_tag_ref(struct page *page)
{
	unsigned long pfn = page_to_pfn(page);
	/* Pairs with the smp_store_release() in pgalloc_tag_grow(). */
	struct alloc_tag_ref **map = READ_ONCE(pgalloc_tag_map);
	struct alloc_tag_ref *chunk = map[pfn >> PGALLOC_TAG_CHUNK_SHIFT];

	if (unlikely(!chunk))
		return NULL;
	return chunk + (pfn & (PGALLOC_TAG_CHUNK_SIZE - 1));
}

#endif /* CONFIG_PGALLOC_TAG_FLAT_MAP */

void __pgalloc_tag_split(struct page *page, unsigned int nr);
void __pgalloc_tag_regroup(struct page *page, unsigned long nr,
			   unsigned long part);
void __pgalloc_tag_move(struct page *to, struct page *from);
void __pgalloc_tag_add_range(struct page *page, unsigned long nr);
void __pgalloc_tag_add_bulk(struct list_head *list, struct page **pages,
			    unsigned int nr);
void __pgalloc_tag_sub_tails(u16 index, unsigned int nr);
void __pgalloc_tag_exempt(struct page *page, unsigned long nr);
void pgalloc_tag_release(unsigned long pfn, unsigned long nr);
struct alloc_tag_ref *pgalloc_tag_map_of_addresses(void);
int pgalloc_tag_init(void);

/**
 * pgalloc_tag_add - account a block of pages to the current tag
 * @page: the first page of the block, NULL if the allocation failed
 * @order: order of the block
 */
static __always_inline void pgalloc_tag_add(struct page *page,
					    unsigned int order)
{
	struct alloc_tag_ref *ref;

	if (!mem_alloc_profiling_enabled() || unlikely(!page))
		return;
	ref = pgalloc_tag_ref(page);
	if (!PGALLOC_TAG_HOLES || likely(ref))
		alloc_tag_add(ref, PAGE_SIZE << order);
}

/**
 * pgalloc_tag_sub - release the reference of a block of pages to be freed
 * @page: the first page of the block
 * @order: order of the block
 */
static __always_inline void pgalloc_tag_sub(struct page *page,
					    unsigned int order)
{
	struct alloc_tag_ref *ref;

	if (!alloc_tag_refs_exist())
		return;
	ref = pgalloc_tag_ref(page);
	if (!PGALLOC_TAG_HOLES || likely(ref))
		alloc_tag_sub(ref, PAGE_SIZE << order);
}

/**
 * pgalloc_tag_split - split a block into pages that are freed one by one
 * @page: the first page of the block
 * @nr: number of pages in it
 */
static __always_inline void pgalloc_tag_split(struct page *page, unsigned int nr)
{
	if (alloc_tag_refs_exist())
		__pgalloc_tag_split(page, nr);
}

/**
 * pgalloc_tag_regroup - make pages into blocks, each of which is freed as one
 * @page: the first page
 * @nr: number of pages; all of one call site, as one block or as single pages
 * @part: number of pages in each of the new blocks
 */
static __always_inline void pgalloc_tag_regroup(struct page *page,
						unsigned long nr,
						unsigned long part)
{
	if (alloc_tag_refs_exist())
		__pgalloc_tag_regroup(page, nr, part);
}

/**
 * pgalloc_tag_move - let the references of a page move with its contents
 * @to: the page that holds the contents from now on
 * @from: the page that held them before
 *
 * For page migration. The two pages swap their references: the tag of the
 * contents moves with them, and the tag of the new page's allocation goes to
 * the old page, which is freed.
 */
static __always_inline void pgalloc_tag_move(struct page *to, struct page *from)
{
	if (alloc_tag_refs_exist())
		__pgalloc_tag_move(to, from);
}

/**
 * pgalloc_tag_add_range - account pages that are freed one by one
 * @page: the first page
 * @nr: number of pages
 */
static __always_inline void pgalloc_tag_add_range(struct page *page, unsigned long nr)
{
	if (mem_alloc_profiling_enabled())
		__pgalloc_tag_add_range(page, nr);
}

/**
 * pgalloc_tag_add_bulk - account pages that are allocated together
 * @list: list whose first @nr entries are the pages, linked by their lru; NULL
 *	if they are in @pages
 * @pages: array of the pages
 * @nr: number of pages
 *
 * Call this without any lock of the page allocator: a consumer may save a stack
 * trace.
 */
static __always_inline void pgalloc_tag_add_bulk(struct list_head *list,
						 struct page **pages,
						 unsigned int nr)
{
	if (mem_alloc_profiling_enabled())
		__pgalloc_tag_add_bulk(list, pages, nr);
}

/**
 * pgalloc_tag_index - get the index of the tag that a page is accounted to
 * @page: a page that the caller holds a reference on
 *
 * Return: the index, for pgalloc_tag_sub_tails(); 0 for none.
 */
static __always_inline u16 pgalloc_tag_index(struct page *page)
{
	struct alloc_tag_ref *ref;

	if (!alloc_tag_refs_exist())
		return 0;
	ref = pgalloc_tag_ref(page);
	return !PGALLOC_TAG_HOLES || ref ? ref->index : 0;
}

/**
 * pgalloc_tag_sub_tails - account the free of all but the first page of a block
 * @index: the index that pgalloc_tag_index() returned for the first page
 * @nr: number of pages freed
 *
 * Another holder frees the first page later.
 */
static __always_inline void pgalloc_tag_sub_tails(u16 index, unsigned int nr)
{
	if (alloc_tag_refs_exist() && index)
		__pgalloc_tag_sub_tails(index, nr);
}

/**
 * pgalloc_tag_exempt - mark pages that are in use without an allocation
 * @page: the first page
 * @nr: number of pages; their references are empty
 *
 * When such pages are freed, CONFIG_MEM_ALLOC_PROFILING_DEBUG does not take
 * them for pages that a hook missed. Does nothing without that option.
 */
static __always_inline void pgalloc_tag_exempt(struct page *page, unsigned long nr)
{
	if (IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING_DEBUG) &&
	    alloc_tag_refs_exist())
		__pgalloc_tag_exempt(page, nr);
}

#else /* CONFIG_MEM_ALLOC_PROFILING */

static inline void pgalloc_tag_add(struct page *page, unsigned int order) { }
static inline void pgalloc_tag_sub(struct page *page, unsigned int order) { }
static inline void pgalloc_tag_split(struct page *page, unsigned int nr) { }
static inline void pgalloc_tag_regroup(struct page *page, unsigned long nr,
				       unsigned long part) { }
static inline void pgalloc_tag_move(struct page *to, struct page *from) { }
static inline void pgalloc_tag_add_range(struct page *page, unsigned long nr) { }
static inline void pgalloc_tag_add_bulk(struct list_head *list,
					struct page **pages, unsigned int nr) { }
static inline u16 pgalloc_tag_index(struct page *page) { return 0; }
static inline void pgalloc_tag_sub_tails(u16 index, unsigned int nr) { }
static inline void pgalloc_tag_exempt(struct page *page, unsigned long nr) { }
static inline void pgalloc_tag_release(unsigned long pfn, unsigned long nr) { }

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _LINUX_PGALLOC_TAG_H */
