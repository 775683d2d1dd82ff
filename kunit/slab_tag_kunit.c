// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of mm/slab_tag.c, which includes this file. The address of an
 * object and its number must give the same place for its reference. A bulk
 * allocation must account each of its objects once.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/memblock.h>

/*
 * Addresses without and with the highest bit, aligned to any size of a slab.
 * This memory is never accessed.
 */
#define LOW_SLAB	((void *)0x40000000)
#define HIGH_SLAB	((void *)(LONG_MIN | 0x40000000))

/* With many CPUs and nodes, a cache is too large for the stack. */
static struct kmem_cache *cache_of_size(struct kunit *test, unsigned int size)
{
	struct kmem_cache *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->size = size;
	return s;
}

static unsigned int wrong_places(const struct kmem_cache *s, void *slab,
				 unsigned int objects)
{
	unsigned int i, wrong = 0;

	for (i = 0; i < objects; i++) {
		void *object = slab + i * s->size;
		void *want = slab + objects * s->size +
			     i * sizeof(struct alloc_tag_ref);

		wrong += slab_tag_ref(s, slab_tag_offset(s, object), object) != want;
	}
	return wrong;
}

static void test_every_object_of_every_size(struct kunit *test)
{
	struct kmem_cache *s = cache_of_size(test, 0);
	unsigned int size, order, objects;

	if (!alloc_tag_available)
		kunit_skip(test, "booted with sysctl.vm.mem_profiling=never");
	for (size = sizeof(void *); size < PAGE_SIZE; size += sizeof(void *)) {
		for (order = 0; order <= PAGE_ALLOC_COSTLY_ORDER; order++) {
			objects = (PAGE_SIZE << order) / slab_tag_room(size);
			s->size = size;
			slab_tag_setup(s, order, objects);
			KUNIT_ASSERT_EQ(test, s->tag_mask, LONG_MIN | ((PAGE_SIZE << order) - 1));
			KUNIT_ASSERT_EQ_MSG(test, wrong_places(s, HIGH_SLAB, objects), 0,
					    "size %u order %u", size, order);
			if (SLAB_TAG_HIGH)
				continue;
			KUNIT_ASSERT_EQ_MSG(test, wrong_places(s, LOW_SLAB, objects), 0,
					    "size %u order %u", size, order);
		}
	}
}

/* Objects of a page or more begin anywhere in a page. */
static void test_every_page_of_large_objects(struct kunit *test)
{
	static const unsigned int offsets[] = { 0, 8, PAGE_SIZE / 2, PAGE_SIZE - 8 };
	struct kmem_cache *s = cache_of_size(test, PAGE_SIZE);
	unsigned long pfn, wrong = 0;
	unsigned int i;
	void *object;

	if (!alloc_tag_available)
		kunit_skip(test, "booted with sysctl.vm.mem_profiling=never");
	slab_tag_setup(s, 0, 1);
	KUNIT_EXPECT_EQ(test, s->tag_mask, SLAB_TAG_PAGES ? ~0UL : 0);
	if (!SLAB_TAG_PAGES)
		return;
	for (pfn = min_low_pfn; pfn < max_pfn; pfn++) {
		for (i = 0; i < ARRAY_SIZE(offsets); i++) {
			object = __va(PFN_PHYS(pfn)) + offsets[i];
			wrong += slab_tag_ref(s, slab_tag_offset(s, object), object) !=
				 pgalloc_tag_ref(pfn_to_page(pfn));
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_GT(test, max_pfn, min_low_pfn);
}

/* Offset 0 means the slow path. */
static void test_no_object_has_offset_0(struct kunit *test)
{
	struct kmem_cache *s = cache_of_size(test, 64);

	if (!alloc_tag_available)
		kunit_skip(test, "booted with sysctl.vm.mem_profiling=never");
	slab_tag_setup(s, 0, 62);
	KUNIT_EXPECT_NE(test, slab_tag_offset(s, HIGH_SLAB), 0);
	if (SLAB_TAG_HIGH)
		KUNIT_EXPECT_EQ(test, slab_tag_offset(s, NULL), 0);
	else
		KUNIT_EXPECT_NE(test, slab_tag_offset(s, LOW_SLAB), 0);
}

static void test_no_address_is_enough(struct kunit *test)
{
	struct kmem_cache *padded = cache_of_size(test, 64);
	struct kmem_cache *checked = cache_of_size(test, PAGE_SIZE);

	padded->red_left_pad = 8;
	slab_tag_setup(padded, 0, 62);
	KUNIT_EXPECT_EQ(test, slab_tag_offset(padded, HIGH_SLAB + 64), 0);
	checked->flags = SLAB_CONSISTENCY_CHECKS;
	slab_tag_setup(checked, 0, 1);
	KUNIT_EXPECT_EQ(test, slab_tag_offset(checked, HIGH_SLAB + PAGE_SIZE), 0);
}

/*
 * A bulk allocation rarely gets a KFENCE object after ordinary ones. So these
 * tests collect the objects one by one, and then account them in one call.
 */

#define BULK_MAX	8
#define TRIES		2000

/* A cache with a constructor is not merged with another. */
static void constructor(void *object)
{
}

/* Allocate a KFENCE object or an ordinary one. Return NULL if none was found. */
static void *alloc_kind(struct kmem_cache *s, bool kfence)
{
	unsigned int i;
	void *object;

	for (i = 0; i < TRIES; i++) {
		object = kmem_cache_alloc(s, GFP_KERNEL);
		if (!object || is_kfence_address(object) == kfence)
			return object;
		kmem_cache_free(s, object);
		/* KFENCE serves one allocation per sample interval. */
		if (kfence)
			usleep_range(1000, 2000);
	}
	return NULL;
}

/* Return the index of the tag that the objects are accounted to. */
static unsigned int account_together(struct kmem_cache *s, size_t nr, void **p)
{
	slab_tag_alloc(s, nr, p);
	return current->alloc_tag->ct.index;
}

/* The place of a reference, found without the formula. */
static const struct alloc_tag_ref *
ref_by_number(const struct kmem_cache *s, void *object)
{
	const struct slab *slab;

	if (is_kfence_address(object))
		return kfence_tag_ref(object);
	slab = virt_to_slab(object);
	return slab_tag_ref_nr(s, slab, obj_to_index(s, slab, object));
}

static void expect_counter(struct kunit *test, const char *kinds,
			   unsigned int index, s64 bytes, long calls)
{
	long have_calls;
	s64 have_bytes;

	lazy_percpu_counter_read(alloc_tag_counter(index), &have_bytes,
				 &have_calls);
	KUNIT_EXPECT_EQ_MSG(test, have_bytes, bytes, "%s", kinds);
	KUNIT_EXPECT_EQ_MSG(test, have_calls, calls, "%s", kinds);
}

static void expect_refs(struct kunit *test, const char *kinds,
			const struct kmem_cache *s, void **p,
			unsigned int index)
{
	const struct alloc_tag_ref *ref;
	unsigned int i;

	for (i = 0; kinds[i]; i++) {
		ref = ref_by_number(s, p[i]);
		KUNIT_EXPECT_TRUE_MSG(test, ref && ref->index == index,
				      "%s: object %u", kinds, i);
	}
}

/*
 * Each letter of @kinds is an object: 'k' a KFENCE object, 'o' an ordinary one.
 * They are accounted to the lines that allocated them, then all to another one.
 */
static void account_kinds(struct kunit *test, struct kmem_cache *s,
			  const char *kinds)
{
	unsigned int i, index = 0, nr = strlen(kinds);
	void *p[BULK_MAX];

	KUNIT_ASSERT_LE(test, nr, BULK_MAX);
	for (i = 0; i < nr; i++) {
		p[i] = alloc_kind(s, kinds[i] == 'k');
		if (!p[i])
			break;
	}
	KUNIT_EXPECT_EQ_MSG(test, i, nr, "%s: not enough objects", kinds);
	if (i == nr) {
		slab_tag_free(s, nr, p);
		index = alloc_hooks(account_together(s, nr, p));
		expect_counter(test, kinds, index, nr * s->size, nr);
		expect_refs(test, kinds, s, p, index);
	}
	while (i)
		kmem_cache_free(s, p[--i]);
	if (index)
		expect_counter(test, kinds, index, 0, 0);
}

/* Account these kinds of objects of a cache with this size. */
static void account_each(struct kunit *test, unsigned int size,
			 const char * const *kinds)
{
	struct kmem_cache *s;

	if (!mem_alloc_profiling_enabled())
		kunit_skip(test, "profiling is off");
	s = kmem_cache_create("slab_tag_kunit", size, 0, 0, constructor);
	KUNIT_ASSERT_NOT_NULL(test, s);
	/* Without the formula, each object is accounted by itself. */
	if (size < PAGE_SIZE || SLAB_TAG_PAGES)
		KUNIT_EXPECT_NE(test, s->tag_mask, 0);
	for (; *kinds; kinds++)
		account_kinds(test, s, *kinds);
	kmem_cache_destroy(s);
}

static void test_objects_accounted_together(struct kunit *test)
{
	static const char * const kinds[] = { "o", "oo", "oooooooo", NULL };

	account_each(test, 192, kinds);
	account_each(test, PAGE_SIZE, kinds);
}

static void test_kfence_objects_among_others(struct kunit *test)
{
	static const char * const kinds[] = {
		"k", "kk", "kooo", "ookokooo", "oooooook", NULL
	};

#ifdef CONFIG_KFENCE
	if (!kfence_sample_interval)
		kunit_skip(test, "KFENCE is off");
#else
	kunit_skip(test, "CONFIG_KFENCE is off");
#endif
	account_each(test, 192, kinds);
	account_each(test, PAGE_SIZE, kinds);
}

static struct kunit_case slab_tag_cases[] = {
	KUNIT_CASE(test_every_object_of_every_size),
	KUNIT_CASE(test_every_page_of_large_objects),
	KUNIT_CASE(test_no_object_has_offset_0),
	KUNIT_CASE(test_no_address_is_enough),
	KUNIT_CASE(test_objects_accounted_together),
	KUNIT_CASE(test_kfence_objects_among_others),
	{ }
};

static struct kunit_suite slab_tag_suite = {
	.name		= "slab_tag",
	.test_cases	= slab_tag_cases,
};

kunit_test_suite(slab_tag_suite);
