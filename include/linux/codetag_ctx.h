/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An event that the page allocator reports to context capture only, and not to
 * allocation tags. See lib/alloc_tag_ctx.c.
 */
#ifndef _LINUX_CODETAG_CTX_H
#define _LINUX_CODETAG_CTX_H

#include <linux/alloc_tag_watch.h>

/**
 * alloc_tag_ctx_regroup - regroup the entries of pages, but not their tags
 * @index: index of the tag that the pages are accounted to
 * @page: the first page
 * @nr: number of pages
 * @part: number of pages in each of the new blocks
 *
 * For the page allocator, which sometimes regroups pages without a change of
 * their references.
 */
static inline void alloc_tag_ctx_regroup(unsigned long index, struct page *page,
					 unsigned long nr, unsigned long part)
{
	alloc_tag_watch_regroup(index, page, nr, part);
}

#endif /* _LINUX_CODETAG_CTX_H */
