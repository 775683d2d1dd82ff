// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the place of a slab object's reference: the place computed
 * from the object's address must equal the one computed from its number.
 * Included by mm/slab_tag.c.
 */
#include <kunit/test.h>
#include <linux/memblock.h>

/*
 * Addresses without and with the highest bit, aligned to any size of a slab.
 * This memory is never accessed.
 */
#define LOW_SLAB	((void *)0x40000000)
#define HIGH_SLAB	((void *)(LONG_MIN | 0x40000000))

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
	unsigned int size, order, objects;

	if (!alloc_tag_available)
		kunit_skip(test, "booted with sysctl.vm.mem_profiling=never");
	for (size = sizeof(void *); size < PAGE_SIZE; size += sizeof(void *)) {
		for (order = 0; order <= PAGE_ALLOC_COSTLY_ORDER; order++) {
			struct kmem_cache s = { .size = size };

			objects = (PAGE_SIZE << order) / slab_tag_room(size);
			slab_tag_setup(&s, order, objects);
			KUNIT_ASSERT_EQ(test, s.tag_mask, LONG_MIN | ((PAGE_SIZE << order) - 1));
			KUNIT_ASSERT_EQ_MSG(test, wrong_places(&s, HIGH_SLAB, objects), 0,
					    "size %u order %u", size, order);
			if (SLAB_TAG_HIGH)
				continue;
			KUNIT_ASSERT_EQ_MSG(test, wrong_places(&s, LOW_SLAB, objects), 0,
					    "size %u order %u", size, order);
		}
	}
}

/* Objects of a page or more begin anywhere in a page. */
static void test_every_page_of_large_objects(struct kunit *test)
{
	static const unsigned int offsets[] = { 0, 8, PAGE_SIZE / 2, PAGE_SIZE - 8 };
	struct kmem_cache s = { .size = PAGE_SIZE };
	unsigned long pfn, wrong = 0;
	unsigned int i;
	void *object;

	if (!alloc_tag_available)
		kunit_skip(test, "booted with sysctl.vm.mem_profiling=never");
	slab_tag_setup(&s, 0, 1);
	KUNIT_EXPECT_EQ(test, s.tag_mask, SLAB_TAG_PAGES ? ~0UL : 0);
	if (!SLAB_TAG_PAGES)
		return;
	for (pfn = min_low_pfn; pfn < max_pfn; pfn++) {
		for (i = 0; i < ARRAY_SIZE(offsets); i++) {
			object = __va(PFN_PHYS(pfn)) + offsets[i];
			wrong += slab_tag_ref(&s, slab_tag_offset(&s, object), object) !=
				 pgalloc_tag_ref(pfn_to_page(pfn));
		}
	}
	KUNIT_EXPECT_EQ(test, wrong, 0);
	KUNIT_EXPECT_GT(test, max_pfn, min_low_pfn);
}

/* Offset 0 means the slow path. */
static void test_no_object_has_offset_0(struct kunit *test)
{
	struct kmem_cache s = { .size = 64 };

	if (!alloc_tag_available)
		kunit_skip(test, "booted with sysctl.vm.mem_profiling=never");
	slab_tag_setup(&s, 0, 62);
	KUNIT_EXPECT_NE(test, slab_tag_offset(&s, HIGH_SLAB), 0);
	if (SLAB_TAG_HIGH)
		KUNIT_EXPECT_EQ(test, slab_tag_offset(&s, NULL), 0);
	else
		KUNIT_EXPECT_NE(test, slab_tag_offset(&s, LOW_SLAB), 0);
}

static void test_no_address_is_enough(struct kunit *test)
{
	struct kmem_cache padded = { .size = 64, .red_left_pad = 8 };
	struct kmem_cache checked = { .size = PAGE_SIZE, .flags = SLAB_CONSISTENCY_CHECKS };

	slab_tag_setup(&padded, 0, 62);
	KUNIT_EXPECT_EQ(test, slab_tag_offset(&padded, HIGH_SLAB + 64), 0);
	slab_tag_setup(&checked, 0, 1);
	KUNIT_EXPECT_EQ(test, slab_tag_offset(&checked, HIGH_SLAB + PAGE_SIZE), 0);
}

static struct kunit_case slab_tag_cases[] = {
	KUNIT_CASE(test_every_object_of_every_size),
	KUNIT_CASE(test_every_page_of_large_objects),
	KUNIT_CASE(test_no_object_has_offset_0),
	KUNIT_CASE(test_no_address_is_enough),
	{ }
};

static struct kunit_suite slab_tag_suite = {
	.name		= "slab_tag",
	.test_cases	= slab_tag_cases,
};

kunit_test_suite(slab_tag_suite);
