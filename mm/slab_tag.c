// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation tags of slab objects: where the reference of an object is.
 *
 * The references of a slab are in the slab itself, side by side behind the last
 * object. They need no allocation, no pointer and no lock. With objects of a
 * page or more, they would take the room of a whole object. But no two such
 * objects begin in the same page, so each object uses the reference of its
 * first page, in the map of mm/pgalloc_tag.c.
 *
 * The first object then uses the reference that the slab's own pages need. All
 * slabs are accounted to the same call site, so one bit of the slab can replace
 * that reference. The bit is PG_workingset, which belongs to the page cache and
 * has no meaning in a slab.
 *
 *	+----------+----------+-   -+----------+---+---+-  -+---+-----+
 *	| object 0 | object 1 | ... | object n | 0 | 1 | .. | n | pad |
 *	+----------+----------+-   -+----------+---+---+-  -+---+-----+
 *
 * In SLAB, colouring can put padding before the first object as well, and the
 * freelist can be at the end of the padding behind the references.
 *
 * The references of KFENCE objects are in KFENCE's metadata, because a redzone
 * follows each object.
 */
#include <linux/alloc_tag.h>
#include <linux/alloc_tag_watch.h>
#include <linux/export.h>
#include <linux/kfence.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/pgalloc_tag.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "slab.h"

/* The tag that all slabs are accounted to. */
static const struct alloc_tag *slab_tag_of_slabs __maybe_unused;

/* The start of the first object, or of its left red zone. */
static void *slab_tag_first(const struct slab *slab)
{
#ifdef CONFIG_SLUB
	return slab_address(slab);
#else
	return slab->s_mem;
#endif
}

static struct alloc_tag_ref *
slab_tag_refs(const struct kmem_cache *s, const struct slab *slab)
{
	return slab_tag_first(slab) + objs_per_slab(s, slab) * s->size;
}

#ifdef CONFIG_SLUB
/*
 * The reference of an object in a slab of the usual order, or NULL if its slab
 * is a smaller one. A small slab is a single page: SLUB falls back to the lowest
 * order that fits one object and its reference. Sizes are multiples of a word,
 * so for an object of less than a page that is order 0.
 */
static __always_inline struct alloc_tag_ref *
slab_tag_ref_usual(const struct kmem_cache *s, const void *object)
{
	unsigned long full = s->tag_mask_full;

	if (!full || !PageCompound(virt_to_page(object)))
		return NULL;
	return slab_tag_ref(s, LONG_MIN | ((unsigned long)object & full), object);
}
#else
static struct alloc_tag_ref *
slab_tag_ref_usual(const struct kmem_cache *s, const void *object)
{
	return NULL;
}
#endif

/* The reference of any object, or NULL if it has none. */
static __always_inline struct alloc_tag_ref *
slab_tag_ref_slow(const struct kmem_cache *s, const void *object)
{
	struct alloc_tag_ref *ref;
	const struct slab *slab;

	if (is_kfence_address(object))
		return kfence_tag_ref(object);
	if (s->size >= PAGE_SIZE)
		return pgalloc_tag_ref(virt_to_page(object));
	ref = slab_tag_ref_usual(s, object);
	if (likely(ref))
		return ref;
	slab = virt_to_slab(object);
	return slab_tag_refs(s, slab) + obj_to_index(s, slab, (void *)object);
}

/**
 * __slab_tag_alloc - account an object, slow path
 * @s: its cache
 * @object: the object; NULL if the allocation failed
 */
void __slab_tag_alloc(const struct kmem_cache *s, const void *object)
{
	struct alloc_tag_ref *ref = object ? slab_tag_ref_slow(s, object) : NULL;

	if (likely(ref))
		alloc_tag_add(ref, s->size);
}

/**
 * __slab_tag_free - release the reference of an object, slow path
 * @s: its cache
 * @object: the object
 */
void __slab_tag_free(const struct kmem_cache *s, const void *object)
{
	struct alloc_tag_ref *ref = slab_tag_ref_slow(s, object);

	if (likely(ref))
		alloc_tag_sub(ref, s->size);
}

#ifdef CONFIG_SLUB
/* Account the first objects together, and the others one by one. */
static noinline void slab_tag_alloc_rest(const struct kmem_cache *s, size_t nr,
					 void **p, size_t together)
{
	size_t i;

	if (together)
		alloc_tag_count(current->alloc_tag->ct.index,
				together * s->size, together);
	for (i = together; i < nr; i++)
		slab_tag_alloc_one(s, p[i]);
}

/**
 * slab_tag_alloc_bulk - account objects that are allocated together
 * @s: their cache
 * @nr: number of objects, at least 1
 * @p: the objects, none NULL
 *
 * Changes the counter once if the formula finds the reference of every object.
 * Otherwise, accounts one by one the first object whose reference the formula
 * does not find, and all objects after it. Objects of a call site that is
 * watched are always accounted one by one.
 *
 * Most callers want few objects. So every call of another function is the last
 * statement of a path: then the compiler needs to save no registers.
 */
void slab_tag_alloc_bulk(const struct kmem_cache *s, size_t nr, void **p)
{
	unsigned long index = current->alloc_tag->ct.index;
	void **object = p, **end = p + nr;
	struct alloc_tag_ref *ref;
	long offset;

	if (unlikely(alloc_tag_watched(index))) {
		slab_tag_alloc_rest(s, nr, p, 0);
		return;
	}
	do {
		offset = slab_tag_offset(s, *object);
		if (unlikely(!offset) || slab_tag_is_kfence(*object)) {
			slab_tag_alloc_rest(s, nr, p, object - p);
			return;
		}
		ref = slab_tag_ref(s, offset, *object);
		alloc_tag_check_add(ref, index);
		ref->index = index;
	} while (++object != end);
	alloc_tag_count(index, nr * s->size, nr);
}
#endif

/**
 * __kmem_cache_retag - move an object from its tag to the current one
 * @s: its cache
 * @object: the object
 *
 * Call this only if alloc_tag_refs_exist().
 *
 * Context: any.
 */
void __kmem_cache_retag(struct kmem_cache *s, void *object)
{
	slab_tag_free(s, 1, &object);
	slab_tag_alloc(s, 1, &object);
}
EXPORT_SYMBOL_GPL(__kmem_cache_retag);

#ifdef CONFIG_SLUB

/*
 * 1 / size - 1 / 2, as a fraction for slab_tag_scale(), rounded up to an even
 * number: then its product with LONG_MIN is exact. On 64 bit without __int128,
 * that product does not fit and wraps to 0; -fno-strict-overflow allows this.
 * slab_tag_setup() uses the same product for the base, so nothing is lost.
 */
static s64 slab_tag_fraction(unsigned int size)
{
	if (IS_ENABLED(CONFIG_ARCH_SUPPORTS_INT128))
		return round_up(div_u64(U64_MAX, size) + 1, 2) - BIT_ULL(63);
	return (s64)round_up(U32_MAX / size + 1, 2) - BIT_ULL(31);
}

/* Is the formula of slab_tag_ref() possible for objects of a page or more? */
#define SLAB_TAG_PAGES	(IS_ENABLED(CONFIG_PGALLOC_TAG_FLAT_MAP) &&	\
			 IS_ENABLED(CONFIG_ARCH_SUPPORTS_INT128) &&	\
			 SLAB_TAG_HIGH)

/**
 * slab_tag_setup - compute the place of the references in slabs of a cache
 * @s: the cache, which has no slabs yet
 * @order: order of its slabs, unless memory is short
 * @objects: number of objects in a slab of that order
 */
void slab_tag_setup(struct kmem_cache *s, unsigned int order,
		    unsigned int objects)
{
	s->tag_mask = 0;
	s->tag_mask_full = 0;
	s->tag_minus_size = -(int)s->size;
	/*
	 * The formula in slab_tag_ref() does not hold with a red zone on the
	 * left, which shifts the objects. With consistency checks, an address
	 * that is not that of an object must be left for the checks to report.
	 */
	if (!alloc_tag_available || s->red_left_pad ||
	    (s->flags & SLAB_CONSISTENCY_CHECKS) || IS_ENABLED(CONFIG_KASAN))
		return;
	if (slab_tag_inside(s->size)) {
		s->tag_mask_full = (PAGE_SIZE << order) - 1;
		s->tag_mask = LONG_MIN | s->tag_mask_full;
		s->tag_fraction = slab_tag_fraction(s->size);
		s->tag_base = objects * s->size / sizeof(struct alloc_tag_ref) -
			      slab_tag_scale(LONG_MIN, s->tag_fraction);
	} else if (SLAB_TAG_PAGES) {
		s->tag_mask = ~0UL;
		s->tag_fraction = slab_tag_fraction(PAGE_SIZE);
		s->tag_base = (long)pgalloc_tag_map_of_addresses() /
			      (long)sizeof(struct alloc_tag_ref);
	}
}

/* Is this slab smaller than usual, because memory was short? */
static bool slab_tag_is_small(const struct kmem_cache *s,
			      const struct slab *slab)
{
	return s->tag_mask_full && slab_size(slab) - 1 != s->tag_mask_full;
}

/*
 * While a cache has small slabs, the address of an object does not tell whether
 * its slab is one, so the slow path looks at the struct page. The mask becomes
 * zero before the first small slab has an allocated object, and nonzero again
 * only after the last small slab is empty.
 *
 * Zero is safe for every object. For an object of a small slab, nobody may see
 * the full mask:
 *
 *  - An allocation takes the object from a list of its own CPU, or from one that
 *    the list_lock of the node protects. It sees the zero that was written before
 *    the slab got on that list.
 *  - A free may get the object from another CPU with nothing but an address
 *    dependency. The smp_wmb() here orders the zero before the object becomes
 *    visible; the smp_rmb() in slab_tag_free() orders the load of the mask
 *    after that of the object.
 *  - A free uses the mask before it returns the object to the slab, by a
 *    cmpxchg() or under a lock. The full mask is written later, when the slab
 *    is empty.
 */
static void slab_tag_add_small(struct kmem_cache *s, int nr)
{
	static DEFINE_RAW_SPINLOCK(lock);
	unsigned long flags, mask;

	raw_spin_lock_irqsave(&lock, flags);
	s->tag_nr_small += nr;
	mask = s->tag_nr_small ? 0 : LONG_MIN | s->tag_mask_full;
	/* All CPUs read the mask: write only what changes. */
	if (s->tag_mask != mask)
		WRITE_ONCE(s->tag_mask, mask);
	/*
	 * Pairs with the smp_rmb() in slab_tag_free(), see above. The zero may
	 * be older: another CPU can have written it under this lock.
	 */
	smp_wmb();
	raw_spin_unlock_irqrestore(&lock, flags);
}

#else /* CONFIG_SLUB */

static bool slab_tag_is_small(const struct kmem_cache *s,
			      const struct slab *slab)
{
	return false;
}

static void slab_tag_add_small(struct kmem_cache *s, int nr) { }

#endif /* CONFIG_SLUB */

/**
 * slab_tag_init - make room for references in a new slab
 * @s: its cache
 * @slab: the slab, not yet visible to others
 * @tag: the tag that all slabs are accounted to
 */
void slab_tag_init(struct kmem_cache *s, struct slab *slab,
		   const struct alloc_tag *tag)
{
	struct folio *folio = slab_folio(slab);
	struct alloc_tag_ref *ref;

	if (!alloc_tag_available)
		return;
	if (slab_tag_inside(s->size)) {
		if (unlikely(slab_tag_is_small(s, slab)))
			slab_tag_add_small(s, 1);
		memset(slab_tag_refs(s, slab), 0,
		       objs_per_slab(s, slab) * sizeof(struct alloc_tag_ref));
		return;
	}
	ref = pgalloc_tag_ref(folio_page(folio, 0));
	if (!ref || !ref->index)
		return;
	/* Profiling was enabled between the hook and the page allocation. */
	if (ref->index != tag->ct.index) {
		alloc_tag_sub(ref, folio_size(folio));
		return;
	}
	ref->index = 0;
	slab_tag_of_slabs = tag;
	folio_set_workingset(folio);
}

/**
 * slab_tag_exit - restore the reference of a slab's pages before their free
 * @s: its cache
 * @slab: the slab; all of its objects are free
 * @tag: the tag that all slabs are accounted to
 */
void slab_tag_exit(struct kmem_cache *s, struct slab *slab,
		   const struct alloc_tag *tag)
{
	struct folio *folio = slab_folio(slab);

	if (unlikely(slab_tag_is_small(s, slab)))
		slab_tag_add_small(s, -1);
	if (!alloc_tag_refs_exist() || slab_tag_inside(s->size))
		return;
	if (!folio_test_workingset(folio))
		return;
	folio_clear_workingset(folio);
	/* Not NULL: slab_tag_init() found a reference there. */
	pgalloc_tag_ref(folio_page(folio, 0))->index = tag->ct.index;
}

/**
 * slab_tag_ref_nr - find the reference of an object by its number
 * @s: the cache
 * @slab: the slab
 * @i: number of the object in the slab, from 0
 *
 * Return: the reference, or NULL if the object has none.
 */
struct alloc_tag_ref *slab_tag_ref_nr(const struct kmem_cache *s,
				      const struct slab *slab, unsigned int i)
{
	void *object = slab_tag_first(slab) + i * s->size;

	if (slab_tag_inside(s->size))
		return slab_tag_refs(s, slab) + i;
#ifdef CONFIG_SLUB
	object += s->red_left_pad;
#elif defined(CONFIG_DEBUG_SLAB)
	object += s->obj_offset;
#endif
	return pgalloc_tag_ref(virt_to_page(object));
}

/**
 * slab_tag_slab_index - get the tag that the pages of a slab are accounted to
 * @s: its cache
 * @slab: the slab
 *
 * Return: the index of the tag, 0 for none.
 */
u16 slab_tag_slab_index(const struct kmem_cache *s, struct slab *slab)
{
	struct folio *folio = slab_folio(slab);

	if (slab_tag_inside(s->size))
		return pgalloc_tag_index(folio_page(folio, 0));
	return folio_test_workingset(folio) ? slab_tag_of_slabs->ct.index : 0;
}

#if defined(CONFIG_ALLOC_TAG_KUNIT_TEST) && defined(CONFIG_SLUB)
#include "slab_tag_kunit.c"
#endif
