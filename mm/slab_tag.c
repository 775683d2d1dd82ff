// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation tags of slab objects: where the reference of an object is.
 *
 * The references of a slab stand in the slab itself, side by side behind the
 * last object, and need no allocation, no pointer and no lock. For objects of a
 * page or more that would cost a whole object; but since no two such objects
 * begin in the same page, the map of pages has a reference to spare for each.
 * The first of them is that of the slab's own pages: slabs are all accounted to
 * the same line, so one bit of the slab says as much as its reference does. The
 * bit is PG_workingset, which is about pages of files and means nothing in a
 * slab.
 *
 *	+----------+----------+-   -+----------+---+---+-  -+---+-----+
 *	| object 0 | object 1 | ... | object n | 0 | 1 | .. | n | pad |
 *	+----------+----------+-   -+----------+---+---+-  -+---+-----+
 *
 * Objects of KFENCE have theirs in its metadata, next to them is its redzone.
 */
#include <linux/alloc_tag.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/pgalloc_tag.h>
#include <linux/string.h>

#include "slab.h"

static __always_inline struct alloc_tag_ref *
slab_tag_refs(const struct kmem_cache *s, const struct slab *slab)
{
	return slab_address(slab) + slab->objects * s->size;
}

static __always_inline struct alloc_tag_ref *
slab_tag_ref(const struct kmem_cache *s, const struct slab *slab, void *object)
{
	if (is_kfence_address(object))
		return kfence_tag_ref(object);
	if (s->size >= PAGE_SIZE)
		return pgalloc_tag_ref(virt_to_page(object));
	return slab_tag_refs(s, slab) +
	       __obj_to_index(s, slab_address(slab), object);
}

/**
 * __slab_tag_alloc - what slab_tag_alloc() does for one object when enabled
 * @s: the object's cache
 * @object: the object, NULL when it could not be had
 */
void __slab_tag_alloc(const struct kmem_cache *s, void *object)
{
	struct alloc_tag_ref *ref;

	if (unlikely(!object))
		return;
	ref = slab_tag_ref(s, virt_to_slab(object), object);
	if (likely(ref))
		alloc_tag_add(ref, s->size);
}

/**
 * __slab_tag_free - what slab_tag_free() does for one object
 * @s: the object's cache
 * @slab: its slab
 * @object: the object
 */
void __slab_tag_free(const struct kmem_cache *s, const struct slab *slab,
		     void *object)
{
	struct alloc_tag_ref *ref = slab_tag_ref(s, slab, object);

	if (likely(ref))
		alloc_tag_sub(ref, s->size);
}

/**
 * slab_tag_init - make room for references in a new slab
 * @s: its cache
 * @slab: the slab, not yet visible to others
 * @tag: the tag that all slabs are accounted to
 */
void slab_tag_init(const struct kmem_cache *s, struct slab *slab,
		   const struct alloc_tag *tag)
{
	struct folio *folio = slab_folio(slab);
	struct alloc_tag_ref *ref;

	if (!alloc_tag_available)
		return;
	if (slab_tag_inside(s->size)) {
		memset(slab_tag_refs(s, slab), 0,
		       slab->objects * sizeof(struct alloc_tag_ref));
		return;
	}
	ref = pgalloc_tag_ref(folio_page(folio, 0));
	if (!ref || !ref->index)
		return;
	/* Profiling was switched on between the hook and the allocation. */
	if (ref->index != tag->ct.index) {
		alloc_tag_sub(ref, folio_size(folio));
		return;
	}
	ref->index = 0;
	folio_set_workingset(folio);
}

/**
 * slab_tag_exit - give a slab that is freed back its own reference
 * @s: its cache
 * @slab: the slab, all of whose objects are free
 * @tag: the tag that all slabs are accounted to
 */
void slab_tag_exit(const struct kmem_cache *s, struct slab *slab,
		   const struct alloc_tag *tag)
{
	struct folio *folio = slab_folio(slab);

	if (!alloc_tag_refs_exist() || slab_tag_inside(s->size))
		return;
	if (!folio_test_workingset(folio))
		return;
	folio_clear_workingset(folio);
	/* There is one: this is where slab_tag_init() took it from. */
	pgalloc_tag_ref(folio_page(folio, 0))->index = tag->ct.index;
}
