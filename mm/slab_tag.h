/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation tags of slab objects. See mm/slab_tag.c.
 */
#ifndef _MM_SLAB_TAG_H
#define _MM_SLAB_TAG_H

#include <linux/alloc_tag.h>

#ifdef CONFIG_MEM_ALLOC_PROFILING

void __slab_tag_alloc(const struct kmem_cache *s, void *object);
void __slab_tag_free(const struct kmem_cache *s, const struct slab *slab,
		     void *object);
void slab_tag_init(const struct kmem_cache *s, struct slab *slab,
		   const struct alloc_tag *tag);
void slab_tag_exit(const struct kmem_cache *s, struct slab *slab,
		   const struct alloc_tag *tag);

static inline bool slab_tag_inside(unsigned int size)
{
	return alloc_tag_available && size < PAGE_SIZE;
}

/**
 * slab_tag_room - how much of a slab an object takes up
 * @size: s->size of its cache
 *
 * Return: @size and the room for the reference, where that is in the slab.
 */
static inline unsigned int slab_tag_room(unsigned int size)
{
	return size + (slab_tag_inside(size) ? sizeof(struct alloc_tag_ref) : 0);
}

/**
 * slab_tag_alloc - account objects to the current tag
 * @s: their cache
 * @nr: how many
 * @p: the objects; NULL for one that could not be had
 */
static __always_inline void slab_tag_alloc(const struct kmem_cache *s,
					   size_t nr, void **p)
{
	size_t i;

	if (!mem_alloc_profiling_enabled())
		return;
	for (i = 0; i < nr; i++)
		__slab_tag_alloc(s, p[i]);
}

/**
 * slab_tag_free - release the references of objects to be freed
 * @s: their cache
 * @slab: their slab
 * @nr: how many
 * @p: the objects
 */
static __always_inline void slab_tag_free(const struct kmem_cache *s,
					  const struct slab *slab,
					  size_t nr, void **p)
{
	size_t i;

	if (!alloc_tag_refs_exist())
		return;
	for (i = 0; i < nr; i++)
		__slab_tag_free(s, slab, p[i]);
}

#else /* CONFIG_MEM_ALLOC_PROFILING */

static inline unsigned int slab_tag_room(unsigned int size)
{
	return size;
}

static inline void slab_tag_alloc(const struct kmem_cache *s, size_t nr,
				  void **p) { }
static inline void slab_tag_free(const struct kmem_cache *s,
				 const struct slab *slab, size_t nr,
				 void **p) { }
static inline void slab_tag_init(const struct kmem_cache *s, struct slab *slab,
				 const struct alloc_tag *tag) { }
static inline void slab_tag_exit(const struct kmem_cache *s, struct slab *slab,
				 const struct alloc_tag *tag) { }

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _MM_SLAB_TAG_H */
