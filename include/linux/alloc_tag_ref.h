/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * References to allocation tags, and the counters of the tags. For allocators:
 * callers of allocators need only <linux/alloc_tag.h>. See lib/alloc_tag.c.
 */
#ifndef _LINUX_ALLOC_TAG_REF_H
#define _LINUX_ALLOC_TAG_REF_H

#include <linux/alloc_tag.h>

#ifdef CONFIG_MEM_ALLOC_PROFILING

#include <linux/jump_label.h>
#include <linux/lazy-percpu-counter.h>
#include <linux/sched.h>

/**
 * struct alloc_tag_ref - the tag that a piece of memory is accounted to
 * @index: index of the tag, 0 for none
 *
 * The reference belongs to the memory: only the owner of the memory changes it.
 */
struct alloc_tag_ref {
	u16 index;
};

static_assert(sizeof(struct alloc_tag_ref) == 2);

/*
 * With CONFIG_MEM_ALLOC_PROFILING_DEBUG, a reference with this index marks
 * memory that did not come from an allocation, and so is accounted to no tag.
 * No tag has this index.
 */
#define ALLOC_TAG_EXEMPT	U16_MAX

/* Stays false after "never": then no memory is set aside for references. */
extern bool alloc_tag_available;

/* Counters by index, in chunks: a loaded module moves no existing counter. */
#define ALLOC_TAG_CHUNK_SHIFT	8
#define ALLOC_TAG_CHUNK_SIZE	BIT(ALLOC_TAG_CHUNK_SHIFT)
#define ALLOC_TAG_CHUNKS	((CODETAG_INDEX_MAX + 1) >> ALLOC_TAG_CHUNK_SHIFT)

extern struct lazy_percpu_counter *alloc_tag_chunks[ALLOC_TAG_CHUNKS];

/*
 * The per-CPU parts of hot counters by index, a shortcut to the counters' own
 * parts: NULL for a counter without parts, and for index 0. References lie next
 * to objects, where an overrun can corrupt them: unless there are entries for
 * all values of a reference, an index is checked.
 */
#define ALLOC_TAG_NR_PARTS	(CONFIG_MEM_ALLOC_PROFILING_INDICES + 2)

extern struct lazy_percpu_part __percpu *alloc_tag_parts[ALLOC_TAG_NR_PARTS];

/* The largest index that was given to a tag, plus 1; grows as modules load. */
extern unsigned int alloc_tag_nr;

/**
 * alloc_tag_counter - get the counter of an index
 * @index: index of a tag, not 0; its chunk must exist
 *
 * Return: the counter, which is never moved or freed.
 */
static __always_inline struct lazy_percpu_counter *
alloc_tag_counter(u16 index)
{
	return alloc_tag_chunks[index >> ALLOC_TAG_CHUNK_SHIFT] +
	       (index & (ALLOC_TAG_CHUNK_SIZE - 1));
}

void alloc_tag_count_slow(unsigned long index, long bytes, long calls,
			  struct alloc_tag_ref *ref);

static __always_inline void __alloc_tag_count(unsigned long index, long bytes,
					      long calls,
					      struct alloc_tag_ref *ref)
{
	struct lazy_percpu_part __percpu *parts = NULL;

	if (ALLOC_TAG_NR_PARTS > U16_MAX || likely(index < ALLOC_TAG_NR_PARTS)) {
		/* Pairs with the WRITE_ONCE() in alloc_tag_enter_parts(). */
		parts = READ_ONCE(alloc_tag_parts[index]);
	}
	if (likely(parts))
		lazy_percpu_part_add(parts, bytes, calls);
	else
		alloc_tag_count_slow(index, bytes, calls, ref);
}

/**
 * alloc_tag_count - adjust the counter of a tag
 * @index: index of the tag; 0 does nothing
 * @bytes: added to its bytes
 * @calls: added to its calls
 *
 * For memory that is split or regrouped, and for a bulk allocation that no watcher
 * follows: a watcher learns nothing of it.
 *
 * Context: any.
 */
static __always_inline void alloc_tag_count(unsigned long index, long bytes,
					    long calls)
{
	__alloc_tag_count(index, bytes, calls, NULL);
}

#ifdef CONFIG_MEM_ALLOC_PROFILING_DEBUG
void alloc_tag_warn(const char *what);

static inline void alloc_tag_check_add(const struct alloc_tag_ref *ref,
				       unsigned long index)
{
	if (unlikely(!index))
		alloc_tag_warn("an allocation outside of any hook");
	if (unlikely(ref->index && ref->index != ALLOC_TAG_EXEMPT))
		alloc_tag_warn("an allocation of memory that is accounted already");
}

static inline void alloc_tag_check_sub(const struct alloc_tag_ref *ref)
{
	if (unlikely(!ref->index) && mem_alloc_profiling_enabled())
		alloc_tag_warn("a free of memory that is accounted to nobody");
}
#else
static inline void alloc_tag_check_add(const struct alloc_tag_ref *ref,
				       unsigned long index) { }
static inline void alloc_tag_check_sub(const struct alloc_tag_ref *ref) { }
#endif

/**
 * alloc_tag_add - account memory to the current tag
 * @ref: the reference that belongs to the memory, empty
 * @bytes: size of the memory
 *
 * The caller has checked mem_alloc_profiling_enabled().
 *
 * Context: any.
 */
static __always_inline void alloc_tag_add(struct alloc_tag_ref *ref,
					  size_t bytes)
{
	unsigned long index = current->alloc_tag->ct.index;

	alloc_tag_check_add(ref, index);
	ref->index = index;
	__alloc_tag_count(index, bytes, 1, ref);
}

static __always_inline void __alloc_tag_sub(struct alloc_tag_ref *ref,
					    long minus_bytes)
{
	unsigned long index = ref->index;

	alloc_tag_check_sub(ref);
	ref->index = 0;
	__alloc_tag_count(index, minus_bytes, -1, ref);
}

/**
 * alloc_tag_sub - release the reference of memory that is freed
 * @ref: the reference, empty afterwards
 * @bytes: size of the memory
 *
 * Call this only if alloc_tag_refs_exist().
 *
 * Context: any.
 */
static __always_inline void alloc_tag_sub(struct alloc_tag_ref *ref,
					  size_t bytes)
{
	__alloc_tag_sub(ref, -(long)bytes);
}

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _LINUX_ALLOC_TAG_REF_H */
