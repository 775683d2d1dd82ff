/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the page allocator tells the capture of allocation contexts beyond what the
 * hooks of allocation tags say. See lib/alloc_tag_ctx.c.
 */
#ifndef _LINUX_CODETAG_CTX_H
#define _LINUX_CODETAG_CTX_H

#include <linux/alloc_tag_watch.h>

/**
 * alloc_tag_ctx_regroup - what pgalloc_tag_regroup() does, for contexts
 * @index: of the tag that the pages are accounted to
 * @page: the first page
 * @nr: how many pages
 * @part: number of pages in each of the new blocks
 *
 * Where the page allocator regroups pages, and their tags stay as they are.
 */
static inline void alloc_tag_ctx_regroup(unsigned long index, struct page *page,
					 unsigned long nr, unsigned long part)
{
	alloc_tag_watch_regroup(index, page, nr, part);
}

#endif /* _LINUX_CODETAG_CTX_H */
