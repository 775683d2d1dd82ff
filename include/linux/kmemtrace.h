/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: every allocation and free of memory, streamed. See mm/kmemtrace.c.
 */
#ifndef _LINUX_KMEMTRACE_H
#define _LINUX_KMEMTRACE_H

#include <linux/kasan.h>
#include <linux/mm.h>

#ifdef CONFIG_KMEMTRACE
void kmemtrace_early_init(void);
void kmemtrace_init(void);
#else
static inline void kmemtrace_early_init(void) { }
static inline void kmemtrace_init(void) { }
#endif

/* The address of a slab object in a trace. */
static __always_inline u64 kmemtrace_object_address(const void *object)
{
	return (unsigned long)kasan_reset_tag(object);
}

/*
 * The address of pages in a trace: that in the linear map. For high memory, it
 * is the address that they would have if the linear map continued.
 */
static __always_inline u64 kmemtrace_page_address(struct page *page)
{
	unsigned long end = (unsigned long)high_memory;

	if (PageHighMem(page))
		return end + ((u64)(page_to_pfn(page) - PFN_UP(__pa(end - 1)))
			      << PAGE_SHIFT);
	return kmemtrace_object_address(page_to_virt(page));
}

#endif /* _LINUX_KMEMTRACE_H */
