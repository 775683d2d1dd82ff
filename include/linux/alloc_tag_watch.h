/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface for a consumer that follows each piece of memory of the call
 * sites that it chooses. See alloc_tag_register_watcher() in lib/alloc_tag.c.
 */
#ifndef _LINUX_ALLOC_TAG_WATCH_H
#define _LINUX_ALLOC_TAG_WATCH_H

#include <linux/types.h>

struct alloc_tag_ref;
struct page;

/**
 * struct alloc_tag_watcher - a consumer that follows memory
 * @wants: returns whether the watcher chose the call site of this index
 * @count: called when memory of a chosen call site is allocated (@calls is 1)
 *	or freed (@calls is -1)
 * @regroup: called after pages of a chosen call site were regrouped, see
 *	pgalloc_tag_regroup()
 * @move: called before two references are swapped, whatever their call sites
 *
 * A chosen call site has no entry in the array of parts, see
 * alloc_tag_drop_parts(). Therefore only its allocations and frees reach
 * @count.
 *
 * The callbacks run in any context, and only while alloc_tag_watch_key is on.
 * They must not allocate: the caller of an allocator may hold any lock. For an
 * allocation, @count runs without any lock of the allocator itself; for a free,
 * the allocator may hold one.
 */
struct alloc_tag_watcher {
	bool (*wants)(unsigned long index);
	void (*count)(unsigned long index, struct alloc_tag_ref *ref,
		      long bytes, long calls);
	void (*regroup)(unsigned long index, struct page *page,
			unsigned long nr, unsigned long part);
	void (*move)(struct alloc_tag_ref *a, struct alloc_tag_ref *b);
};

#ifdef CONFIG_ALLOC_TAG_WATCH

#include <linux/jump_label.h>
#include <linux/static_call.h>

/* The watcher keeps this on while it follows any call site. */
DECLARE_STATIC_KEY_FALSE(alloc_tag_watch_key);

DECLARE_STATIC_CALL(alloc_tag_watch_wants, bool (unsigned long));
DECLARE_STATIC_CALL(alloc_tag_watch_count,
		    void (unsigned long, struct alloc_tag_ref *, long, long));
DECLARE_STATIC_CALL(alloc_tag_watch_regroup,
		    void (unsigned long, struct page *, unsigned long,
			  unsigned long));
DECLARE_STATIC_CALL(alloc_tag_watch_move,
		    void (struct alloc_tag_ref *, struct alloc_tag_ref *));

void alloc_tag_register_watcher(const struct alloc_tag_watcher *watcher);

/**
 * alloc_tag_watched - does the watcher follow this call site?
 * @index: index of its tag
 *
 * Context: any.
 * Return: true if it does.
 */
static __always_inline bool alloc_tag_watched(unsigned long index)
{
	return static_branch_unlikely(&alloc_tag_watch_key) &&
	       static_call(alloc_tag_watch_wants)(index);
}

/**
 * alloc_tag_watch_count - tell the watcher that memory is allocated or freed
 * @index: index of the tag that the memory is accounted to; it is watched
 * @ref: the reference of the memory; NULL for alloc_tag_count(), and then the
 *	watcher is not called
 * @bytes: added to the bytes of the tag
 * @calls: 1 for an allocation, -1 for a free
 *
 * Context: any.
 */
static __always_inline void alloc_tag_watch_count(unsigned long index,
						  struct alloc_tag_ref *ref,
						  long bytes, long calls)
{
	if (ref)
		static_call(alloc_tag_watch_count)(index, ref, bytes, calls);
}

/**
 * alloc_tag_watch_regroup - tell the watcher that pages were regrouped
 * @index: index of the tag that the pages are accounted to
 * @page: the first page
 * @nr: number of pages
 * @part: number of pages in each of the new blocks
 */
static __always_inline void alloc_tag_watch_regroup(unsigned long index,
						    struct page *page,
						    unsigned long nr,
						    unsigned long part)
{
	if (alloc_tag_watched(index))
		static_call(alloc_tag_watch_regroup)(index, page, nr, part);
}

/**
 * alloc_tag_watch_move - tell the watcher that two references will be swapped
 * @a: one reference
 * @b: the other reference
 */
static __always_inline void alloc_tag_watch_move(struct alloc_tag_ref *a,
						 struct alloc_tag_ref *b)
{
	if (static_branch_unlikely(&alloc_tag_watch_key))
		static_call(alloc_tag_watch_move)(a, b);
}

#else /* CONFIG_ALLOC_TAG_WATCH */

static inline bool alloc_tag_watched(unsigned long index)
{
	return false;
}

static inline void alloc_tag_watch_count(unsigned long index,
					 struct alloc_tag_ref *ref, long bytes,
					 long calls) { }
static inline void alloc_tag_watch_regroup(unsigned long index,
					   struct page *page, unsigned long nr,
					   unsigned long part) { }
static inline void alloc_tag_watch_move(struct alloc_tag_ref *a,
					struct alloc_tag_ref *b) { }

#endif /* CONFIG_ALLOC_TAG_WATCH */

#endif /* _LINUX_ALLOC_TAG_WATCH_H */
