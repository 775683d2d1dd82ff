/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation tags of slab objects. See mm/slab_tag.c.
 */
#ifndef _MM_SLAB_TAG_H
#define _MM_SLAB_TAG_H

#include <linux/alloc_tag_ref.h>
#include <linux/kasan.h>
#include <linux/kfence.h>
#include <linux/math64.h>

#ifdef CONFIG_MEM_ALLOC_PROFILING

void __slab_tag_alloc(const struct kmem_cache *s, const void *object);
void __slab_tag_free(const struct kmem_cache *s, const void *object);
void slab_tag_alloc_bulk(const struct kmem_cache *s, size_t nr, void **p);
void slab_tag_setup(struct kmem_cache *s, unsigned int order,
		    unsigned int objects);
void slab_tag_init(struct kmem_cache *s, struct slab *slab,
		   const struct alloc_tag *tag);
void slab_tag_exit(struct kmem_cache *s, struct slab *slab,
		   const struct alloc_tag *tag);
struct alloc_tag_ref *slab_tag_ref_nr(const struct kmem_cache *s,
				      const struct slab *slab, unsigned int i);
u16 slab_tag_slab_index(const struct kmem_cache *s, struct slab *slab);

#ifdef CONFIG_MEM_ALLOC_PROFILING_DEBUG
unsigned long slab_tag_nr_cached(struct kmem_cache *s);
#endif

/* Are the references of objects of this size in their slab? */
static inline bool slab_tag_inside(unsigned int size)
{
	return alloc_tag_available && size < PAGE_SIZE;
}

/**
 * slab_tag_room - get the room that an object takes up in a slab
 * @size: s->size of its cache
 *
 * Return: @size, plus the size of a reference if that is in the slab.
 */
static inline unsigned int slab_tag_room(unsigned int size)
{
	return size + (slab_tag_inside(size) ? sizeof(struct alloc_tag_ref) : 0);
}

#ifdef CONFIG_SLUB

/* Do all addresses of objects have their highest bit set? UML has X86_64, too. */
#define SLAB_TAG_HIGH	((IS_ENABLED(CONFIG_X86_64) && !IS_ENABLED(CONFIG_UML)) || \
			 IS_ENABLED(CONFIG_ARM64))

/*
 * The offset of an object for slab_tag_ref(). The address has its highest bit
 * set, or gets it here, and the mask keeps it: so no object has offset 0.
 *
 * Return: 0 if the slow path must find the reference; with SLAB_TAG_HIGH also if
 * @object is NULL.
 */
static __always_inline long slab_tag_offset(const struct kmem_cache *s,
					    const void *object)
{
	unsigned long address = (unsigned long)object;

	if (!SLAB_TAG_HIGH)
		address |= LONG_MIN;
	return address & READ_ONCE(s->tag_mask);
}

/* A product with a fraction of 2^64, or of 2^32 where 64 bits are the widest. */
static __always_inline long slab_tag_scale(long offset, s64 fraction)
{
#ifdef CONFIG_ARCH_SUPPORTS_INT128
	return mul_s64_s64_high(offset, fraction);
#else
	return (s64)offset * fraction >> 32;
#endif
}

/*
 * The reference of an object, from its address alone. All terms are in units of
 * a reference, two bytes.
 *
 * Objects of less than a page: a slab is aligned to its size, so the lower bits
 * of the address are the offset of the object. Object number n has the offset
 * n * size, and its reference is element n behind the last object. In units of
 * two bytes the object is n * size / 2 behind the start of the slab. So the
 * fraction 1 / size - 1 / 2 turns the offset into the distance from the object
 * to where element n of an array at the start of the slab would be. tag_base
 * moves it behind the objects. The fraction is rounded so that the result is
 * exact for every object.
 *
 * Larger objects: the mask leaves the whole address, and the fraction
 * 1 / PAGE_SIZE - 1 / 2 turns it into the number of the page. tag_base is the
 * flat map.
 *
 * The highest bit of an offset is a part of the address of a larger object. For
 * a smaller one, tag_base takes off what the bit adds.
 */
static __always_inline struct alloc_tag_ref *
slab_tag_ref(const struct kmem_cache *s, long offset, const void *object)
{
	struct alloc_tag_ref *start = kasan_reset_tag(object);

	return start + slab_tag_scale(offset, s->tag_fraction) + s->tag_base;
}

/* Is this an object of KFENCE, whose reference is elsewhere? */
static __always_inline bool slab_tag_is_kfence(const void *object)
{
#ifdef CONFIG_KFENCE
	return static_branch_unlikely(&kfence_tag_key) &&
	       is_kfence_address(object);
#else
	return false;
#endif
}

static __always_inline void slab_tag_alloc_one(const struct kmem_cache *s,
					       const void *object)
{
	long offset = slab_tag_offset(s, object);

	if (!SLAB_TAG_HIGH && unlikely(!object))
		return;
	if (likely(offset) && !slab_tag_is_kfence(object))
		alloc_tag_add(slab_tag_ref(s, offset, object), s->size);
	else
		__slab_tag_alloc(s, object);
}

static __always_inline void slab_tag_free_one(const struct kmem_cache *s,
					      const void *object)
{
	long offset = slab_tag_offset(s, object);

	if (likely(offset) && !slab_tag_is_kfence(object))
		__alloc_tag_sub(slab_tag_ref(s, offset, object), s->tag_minus_size);
	else
		__slab_tag_free(s, object);
}

#else /* CONFIG_SLUB */

/* SLAB takes the slow path: with colouring, the formula above does not hold. */
static __always_inline void slab_tag_alloc_one(const struct kmem_cache *s,
					       const void *object)
{
	__slab_tag_alloc(s, object);
}

static __always_inline void slab_tag_free_one(const struct kmem_cache *s,
					      const void *object)
{
	__slab_tag_free(s, object);
}

#endif /* CONFIG_SLUB */

/**
 * slab_tag_alloc - account objects to the current tag
 * @s: their cache
 * @nr: number of objects
 * @p: the objects; NULL if @nr is 1 and the allocation failed
 */
static __always_inline void slab_tag_alloc(const struct kmem_cache *s,
					   size_t nr, void **p)
{
	size_t i;

	if (!mem_alloc_profiling_enabled())
		return;
	if (IS_ENABLED(CONFIG_SLUB) && nr > 1) {
		slab_tag_alloc_bulk(s, nr, p);
		return;
	}
	for (i = 0; i < nr; i++)
		slab_tag_alloc_one(s, p[i]);
}

/**
 * slab_tag_free - release the references of objects to be freed
 * @s: their cache
 * @nr: number of objects
 * @p: the objects
 */
static __always_inline void slab_tag_free(const struct kmem_cache *s,
					  size_t nr, void **p)
{
	size_t i;

	if (!alloc_tag_refs_exist())
		return;
	if (IS_ENABLED(CONFIG_SLUB)) {
		/* Pairs with the smp_wmb() in slab_tag_add_small(). */
		smp_rmb();
	}
	for (i = 0; i < nr; i++)
		slab_tag_free_one(s, p[i]);
}

#else /* CONFIG_MEM_ALLOC_PROFILING */

static inline unsigned int slab_tag_room(unsigned int size)
{
	return size;
}

static inline void slab_tag_alloc(const struct kmem_cache *s, size_t nr,
				  void **p) { }
static inline void slab_tag_free(const struct kmem_cache *s, size_t nr,
				 void **p) { }
static inline void slab_tag_setup(struct kmem_cache *s, unsigned int order,
				  unsigned int objects) { }
static inline void slab_tag_init(struct kmem_cache *s, struct slab *slab,
				 const struct alloc_tag *tag) { }
static inline void slab_tag_exit(struct kmem_cache *s, struct slab *slab,
				 const struct alloc_tag *tag) { }

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _MM_SLAB_TAG_H */
