/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation context capture: who allocated, when, and by which way, at lines
 * of code that somebody chose. See lib/alloc_tag_ctx.c.
 */
#ifndef _LINUX_CODETAG_CTX_H
#define _LINUX_CODETAG_CTX_H

#include <linux/types.h>

struct alloc_tag_ref;
struct page;

#ifdef CONFIG_MEM_ALLOC_CONTEXT

#include <linux/jump_label.h>

/* Was any line chosen? */
DECLARE_STATIC_KEY_FALSE(alloc_tag_ctx_key);

bool __alloc_tag_ctx_wanted(unsigned long index);
void __alloc_tag_ctx_count(unsigned long index, struct alloc_tag_ref *ref,
			   long bytes, long calls);
void __alloc_tag_ctx_regroup(unsigned long index, struct page *page,
			     unsigned long nr, unsigned long part);
void __alloc_tag_ctx_move(struct alloc_tag_ref *a, struct alloc_tag_ref *b);

/**
 * alloc_tag_ctx_wanted - was this line chosen?
 * @index: of its tag
 *
 * While it is, the line has no entry in the table of parts: that is what leads
 * its allocations and frees here, and no others.
 *
 * Context: any.
 * Return: whether it was.
 */
static __always_inline bool alloc_tag_ctx_wanted(unsigned long index)
{
	return static_branch_unlikely(&alloc_tag_ctx_key) &&
	       __alloc_tag_ctx_wanted(index);
}

/**
 * alloc_tag_ctx_count - memory is allocated, or freed
 * @index: of the tag it is accounted to, which is wanted
 * @ref: the reference of the memory; NULL where memory only changes its shape
 * @bytes: what the tag is accounted for more
 * @calls: 1 for an allocation, -1 for a free
 *
 * Context: any.
 */
static inline void alloc_tag_ctx_count(unsigned long index,
				       struct alloc_tag_ref *ref, long bytes,
				       long calls)
{
	if (ref)
		__alloc_tag_ctx_count(index, ref, bytes, calls);
}

/**
 * alloc_tag_ctx_regroup - what pgalloc_tag_regroup() does, for contexts
 * @index: of the tag that the pages are accounted to
 * @page: the first page
 * @nr: how many pages
 * @part: number of pages in each of the new blocks
 */
static inline void alloc_tag_ctx_regroup(unsigned long index, struct page *page,
					 unsigned long nr, unsigned long part)
{
	if (alloc_tag_ctx_wanted(index))
		__alloc_tag_ctx_regroup(index, page, nr, part);
}

/**
 * alloc_tag_ctx_move - two references are about to change places
 * @a: the one
 * @b: the other
 */
static inline void alloc_tag_ctx_move(struct alloc_tag_ref *a,
				      struct alloc_tag_ref *b)
{
	if (static_branch_unlikely(&alloc_tag_ctx_key))
		__alloc_tag_ctx_move(a, b);
}

#else /* CONFIG_MEM_ALLOC_CONTEXT */

static inline bool alloc_tag_ctx_wanted(unsigned long index)
{
	return false;
}

static inline void alloc_tag_ctx_count(unsigned long index,
				       struct alloc_tag_ref *ref, long bytes,
				       long calls) { }
static inline void alloc_tag_ctx_regroup(unsigned long index, struct page *page,
					 unsigned long nr, unsigned long part) { }
static inline void alloc_tag_ctx_move(struct alloc_tag_ref *a,
				      struct alloc_tag_ref *b) { }

#endif /* CONFIG_MEM_ALLOC_CONTEXT */

#endif /* _LINUX_CODETAG_CTX_H */
