/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation tags of per-CPU memory. See mm/percpu_tag.c.
 */
#ifndef _MM_PERCPU_TAG_H
#define _MM_PERCPU_TAG_H

#include <linux/alloc_tag_ref.h>
#include <linux/lockdep.h>
#include <linux/percpu.h>

#include "percpu-internal.h"

#ifdef CONFIG_MEM_ALLOC_PROFILING

extern unsigned int pcpu_tag_cpus;

int pcpu_tag_init_chunk(struct pcpu_chunk *chunk, gfp_t gfp);
void pcpu_tag_exit_chunk(struct pcpu_chunk *chunk);

/**
 * pcpu_tag_add - account an area to the current tag
 * @chunk: the chunk that the area is in
 * @off: offset of the area in the chunk, in bytes
 * @size: size of the area for each CPU, in bytes
 *
 * Context: after pcpu_lock is released, because a consumer may save a stack
 * trace, and before anything can free the area.
 */
static inline void pcpu_tag_add(struct pcpu_chunk *chunk, int off, size_t size)
{
	lockdep_assert_not_held(&pcpu_lock);

	if (mem_alloc_profiling_enabled() && likely(chunk->tags))
		alloc_tag_add(&chunk->tags[off >> PCPU_MIN_ALLOC_SHIFT],
			      size * pcpu_tag_cpus);
}

/**
 * pcpu_tag_sub - release the reference of an area that is freed
 * @chunk: the chunk that the area is in
 * @off: offset of the area in the chunk, in bytes
 * @size: size of the area for each CPU, in bytes
 *
 * Context: under pcpu_lock.
 */
static inline void pcpu_tag_sub(struct pcpu_chunk *chunk, int off, size_t size)
{
	lockdep_assert_held(&pcpu_lock);

	if (alloc_tag_refs_exist() && likely(chunk->tags))
		alloc_tag_sub(&chunk->tags[off >> PCPU_MIN_ALLOC_SHIFT],
			      size * pcpu_tag_cpus);
}

/**
 * typedef pcpu_tag_visit_fn - visit an area of per-CPU memory
 * @data: from the caller
 * @index: index of the tag that it is accounted to
 * @bytes: bytes accounted to it, the parts of all CPUs
 */
typedef void pcpu_tag_visit_fn(void *data, u16 index, size_t bytes);

void pcpu_tag_for_each(pcpu_tag_visit_fn *visit, void *data);
void pcpu_tag_walk(pcpu_tag_visit_fn *visit, void *data);

#else /* CONFIG_MEM_ALLOC_PROFILING */

static inline int pcpu_tag_init_chunk(struct pcpu_chunk *chunk, gfp_t gfp)
{
	return 0;
}

static inline void pcpu_tag_exit_chunk(struct pcpu_chunk *chunk) { }
static inline void pcpu_tag_add(struct pcpu_chunk *chunk, int off,
				size_t size) { }
static inline void pcpu_tag_sub(struct pcpu_chunk *chunk, int off,
				size_t size) { }

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _MM_PERCPU_TAG_H */
