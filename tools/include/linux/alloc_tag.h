/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For kernel sources that are built as user-space programs: allocations are not accounted,
 * and the headers of the tools define the functions.
 */
#ifndef _TOOLS_LINUX_ALLOC_TAG_H
#define _TOOLS_LINUX_ALLOC_TAG_H

#define alloc_hooks(_do_alloc)		(_do_alloc)
#define alloc_hooks_void(_do_alloc)	(_do_alloc)

#define kzalloc_noprof			kzalloc
#define kmem_cache_alloc_noprof		kmem_cache_alloc
#define kmem_cache_alloc_lru_noprof	kmem_cache_alloc_lru
#define kmem_cache_alloc_bulk_noprof	kmem_cache_alloc_bulk
#define kmem_cache_retag_noprof(s, object)	((void)(object))

#endif /* _TOOLS_LINUX_ALLOC_TAG_H */
