/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation tags of pages. See mm/pgalloc_tag.c.
 */
#ifndef _LINUX_PGALLOC_TAG_H
#define _LINUX_PGALLOC_TAG_H

#include <linux/alloc_tag.h>
#include <linux/mm.h>

#ifdef CONFIG_MEM_ALLOC_PROFILING

#ifdef CONFIG_PGALLOC_TAG_FLAT_MAP

/*
 * References by address of the struct page: element 0 belongs to address 0, so
 * that it takes no more than a shift to find one.
 */
extern struct alloc_tag_ref *pgalloc_tag_map;

#define PGALLOC_TAG_HOLES	false

static __always_inline struct alloc_tag_ref *pgalloc_tag_ref(struct page *page)
{
	return pgalloc_tag_map + (unsigned long)page / sizeof(struct page);
}

#else /* CONFIG_PGALLOC_TAG_FLAT_MAP */

/* References by page frame number, 64 KiB of them in one piece. */
#define PGALLOC_TAG_CHUNK_SHIFT	15
#define PGALLOC_TAG_CHUNK_SIZE	BIT(PGALLOC_TAG_CHUNK_SHIFT)

extern struct alloc_tag_ref **pgalloc_tag_map;

#define PGALLOC_TAG_HOLES	true

/**
 * pgalloc_tag_ref - the reference of a page
 * @page: a page that the page allocator gave out or is about to take back
 *
 * Return: the reference; where PGALLOC_TAG_HOLES is true, NULL for a page that
 * lies in a hole of memory.
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
int pgalloc_tag_init(void);

/**
 * pgalloc_tag_add - account a block of pages to the current tag
 * @page: the first page of a block just allocated, NULL when that failed
 * @order: its order
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
 * @order: its order
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
 * pgalloc_tag_split - a block becomes single pages, each freed by itself
 * @page: the first page of the block
 * @nr: number of pages in it
 */
static __always_inline void pgalloc_tag_split(struct page *page, unsigned int nr)
{
	if (alloc_tag_refs_exist())
		__pgalloc_tag_split(page, nr);
}

/**
 * pgalloc_tag_regroup - pages become blocks, each freed in one piece
 * @page: the first page
 * @nr: how many pages, accounted to one line, as one block or one by one
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
 * pgalloc_tag_move - a page is migrated
 * @to: the page that holds the contents from now on
 * @from: the page that held them
 *
 * The references change places, so that each page is released by whom it was
 * accounted to.
 */
static __always_inline void pgalloc_tag_move(struct page *to, struct page *from)
{
	if (alloc_tag_refs_exist())
		__pgalloc_tag_move(to, from);
}

/**
 * pgalloc_tag_add_range - account pages, each freed by itself
 * @page: the first
 * @nr: how many
 */
static __always_inline void pgalloc_tag_add_range(struct page *page, unsigned long nr)
{
	if (mem_alloc_profiling_enabled())
		__pgalloc_tag_add_range(page, nr);
}

/**
 * pgalloc_tag_add_bulk - account pages that are allocated together
 * @list: where the first @nr are the pages, by their lru; NULL for @pages
 * @pages: the pages
 * @nr: how many
 *
 * To be called under no lock of the page allocator: a consumer may take a stack.
 */
static __always_inline void pgalloc_tag_add_bulk(struct list_head *list,
						 struct page **pages,
						 unsigned int nr)
{
	if (mem_alloc_profiling_enabled())
		__pgalloc_tag_add_bulk(list, pages, nr);
}

/**
 * pgalloc_tag_index - to whom a page is accounted
 * @page: a page the caller holds a reference of
 *
 * Return: an index for pgalloc_tag_sub_tails().
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
 * pgalloc_tag_sub_tails - all but the first page of a block are freed
 * @index: what pgalloc_tag_index() gave for the first page
 * @nr: number of pages freed
 *
 * The first page is freed later, by itself, by another.
 */
static __always_inline void pgalloc_tag_sub_tails(u16 index, unsigned int nr)
{
	if (alloc_tag_refs_exist() && index)
		__pgalloc_tag_sub_tails(index, nr);
}

/**
 * pgalloc_tag_exempt - pages change hands that no allocation is behind
 * @page: the first
 * @nr: how many; their references are empty
 *
 * Lets CONFIG_MEM_ALLOC_PROFILING_DEBUG tell them from those that a hook missed
 * when they are freed. Does nothing without it.
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

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _LINUX_PGALLOC_TAG_H */
