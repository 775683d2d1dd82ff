// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the records of kmemtrace: their layout, their contents for
 * each interface, and the counts: every event is written or lost.
 *
 * The tests record into a channel of their own with two sub-buffers, and read
 * the records there in place. A test fills less than one sub-buffer, or fills
 * both on purpose. Included by mm/kmemtrace.c.
 */
#include <kunit/test.h>
#include <linux/interrupt.h>
#include <linux/stop_machine.h>

static unsigned int old_subbufs;
static unsigned int old_config;

static int kmemtrace_test_init(struct kunit *test)
{
	mutex_lock(&kmemtrace_lock);
	old_subbufs = kmemtrace_subbufs;
	old_config = kmemtrace_config;
	mutex_unlock(&kmemtrace_lock);
	if (old_config & RECORDING)
		kunit_skip(test, "the trace of another is being recorded");
	return subbufs_set(NULL, 2);
}

static void kmemtrace_test_exit(struct kunit *test)
{
	if (old_config & RECORDING)
		return;
	enabled_set(NULL, 0);
	mutex_lock(&kmemtrace_lock);
	set_features(old_config);
	mutex_unlock(&kmemtrace_lock);
	subbufs_set(NULL, old_subbufs);
}

static void begin(struct kunit *test, unsigned int features)
{
	int ret;

	mutex_lock(&kmemtrace_lock);
	ret = choose_features(features);
	mutex_unlock(&kmemtrace_lock);
	KUNIT_ASSERT_EQ(test, ret, 0);
	KUNIT_ASSERT_EQ(test, enabled_set(NULL, 1), 0);
}

/* Find the last matching record in a closed sub-buffer. */
static struct kmemtrace_event *find_in(struct rchan_buf *buf, size_t i,
				       u8 event_id, const void *ptr, u8 type_id)
{
	size_t size = buf->chan->subbuf_size, at = i * size;
	size_t end = at + size - buf->padding[i];
	struct kmemtrace_event *e, *found = NULL;

	for (; at < end; at += e->event_size) {
		e = buf->start + at;
		if (!e->event_size)
			break;
		if (e->event_id == event_id && e->type_id == type_id &&
		    e->ptr == (unsigned long)ptr)
			found = e;
	}
	return found;
}

/* Search the buffers of all CPUs, because the test may migrate. */
static struct kmemtrace_event *find(u8 event_id, const void *ptr, u8 type_id)
{
	struct kmemtrace_event *e, *found = NULL;
	struct rchan_buf *buf;
	unsigned int cpu;
	size_t i;

	for_each_possible_cpu(cpu) {
		buf = *per_cpu_ptr(kmemtrace_chan->buf, cpu);
		if (!buf)
			continue;
		for (i = 0; i < buf->subbufs_produced; i++) {
			e = find_in(buf, i, event_id, ptr, type_id);
			found = e ?: found;
		}
	}
	return found;
}

static struct kmemtrace_alloc *find_alloc(const void *ptr, u8 type_id)
{
	return (struct kmemtrace_alloc *)find(KMEMTRACE_EVENT_ALLOC, ptr,
					      type_id);
}

/* Get the value of a feature, or -1 if the record does not have it. */
static s64 feature(struct kmemtrace_event *e, size_t core, u8 id)
{
	void *p = (void *)e + core, *end = (void *)e + e->event_size;
	u16 size;

	while (p + sizeof(struct kmemtrace_feature) <= end) {
		size = get_unaligned((u16 *)p);
		if (!size)
			break;
		if (((u8 *)p)[2] != id) {
			p += size;
			continue;
		}
		p += sizeof(struct kmemtrace_feature);
		switch (size - sizeof(struct kmemtrace_feature)) {
		case sizeof(u64):
			return get_unaligned((u64 *)p);
		case sizeof(u32):
			return get_unaligned((s32 *)p);
		default:
			return get_unaligned((u16 *)p);
		}
	}
	return -1;
}

static bool is_here(u64 call_site, void *function)
{
	unsigned long size, offset, got, unused;

	return kallsyms_lookup_size_offset((unsigned long)function, &unused,
					   &offset) &&
	       kallsyms_lookup_size_offset(call_site, &size, &got) &&
	       call_site - got == (unsigned long)function - offset;
}

static void test_kmalloc_has_a_record(struct kunit *test)
{
	struct kmemtrace_alloc *a;
	struct kmemtrace_event *f;
	void *p;

	begin(test, 0);
	p = kmalloc(200, GFP_KERNEL | __GFP_NORETRY);
	KUNIT_ASSERT_NOT_NULL(test, p);
	kfree(p);
	enabled_set(NULL, 0);

	a = find_alloc(p, KMEMTRACE_TYPE_KMALLOC);
	f = find(KMEMTRACE_EVENT_FREE, p, KMEMTRACE_TYPE_KMALLOC);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_EXPECT_EQ(test, a->event.event_size, 48);
	KUNIT_EXPECT_EQ(test, f->event_size, 24);
	KUNIT_EXPECT_EQ(test, a->bytes_req, 200);
	KUNIT_EXPECT_GE(test, a->bytes_alloc, 200);
	KUNIT_EXPECT_EQ(test, a->gfp_flags,
			(__force u32)(GFP_KERNEL | __GFP_NORETRY));
	KUNIT_EXPECT_EQ(test, a->target_cpu, -1);
	KUNIT_EXPECT_TRUE(test, is_here(a->event.call_site,
					test_kmalloc_has_a_record));
	KUNIT_EXPECT_TRUE(test, is_here(f->call_site,
					test_kmalloc_has_a_record));
	KUNIT_EXPECT_GT(test, f->sequence_number - a->event.sequence_number, 0);
}

static void test_caches_have_records(struct kunit *test)
{
	struct kmemtrace_alloc *a;
	struct kmem_cache *s;
	void *p, *bulk[3];
	int i, n;

	s = kmem_cache_create("kmemtrace_test", 100, 0, SLAB_HWCACHE_ALIGN,
			      NULL);
	KUNIT_ASSERT_NOT_NULL(test, s);
	begin(test, 0);
	p = kmem_cache_alloc(s, GFP_KERNEL);
	n = kmem_cache_alloc_bulk(s, GFP_KERNEL, 3, bulk);
	enabled_set(NULL, 0);
	KUNIT_ASSERT_EQ(test, n, 3);

	a = find_alloc(p, KMEMTRACE_TYPE_CACHE);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_EXPECT_EQ(test, a->bytes_req, s->object_size);
	KUNIT_EXPECT_EQ(test, a->bytes_alloc, s->size);
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_NOT_NULL(test, find_alloc(bulk[i],
						       KMEMTRACE_TYPE_CACHE));

	begin(test, 0);
	kmem_cache_free(s, p);
	kmem_cache_free_bulk(s, 3, bulk);
	enabled_set(NULL, 0);
	KUNIT_EXPECT_NOT_NULL(test, find(KMEMTRACE_EVENT_FREE, p,
					 KMEMTRACE_TYPE_CACHE));
	for (i = 0; i < 3; i++)
		KUNIT_EXPECT_NOT_NULL(test, find(KMEMTRACE_EVENT_FREE, bulk[i],
						 KMEMTRACE_TYPE_CACHE));
	kmem_cache_destroy(s);
}

static void test_pages_have_records(struct kunit *test)
{
	struct kmemtrace_alloc *a;
	struct kmemtrace_event *f;
	unsigned long addr;
	struct page *page;
	void *exact, *at;

	begin(test, 0);
	page = alloc_pages(GFP_KERNEL, 2);
	addr = get_zeroed_page(GFP_KERNEL);
	exact = alloc_pages_exact(3 * PAGE_SIZE, GFP_KERNEL);
	__free_pages(page, 2);
	free_page(addr);
	free_pages_exact(exact, 3 * PAGE_SIZE);
	enabled_set(NULL, 0);

	at = page_address(page);
	a = find_alloc(at, KMEMTRACE_TYPE_PAGES);
	f = find(KMEMTRACE_EVENT_FREE, at, KMEMTRACE_TYPE_PAGES);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_EXPECT_EQ(test, a->bytes_req, PAGE_SIZE << 2);
	KUNIT_EXPECT_EQ(test, a->bytes_alloc, PAGE_SIZE << 2);
	KUNIT_EXPECT_EQ(test, f->event_size, 40);
	KUNIT_EXPECT_EQ(test, feature(f, 24, KMEMTRACE_FEATURE_BYTES),
			PAGE_SIZE << 2);
	KUNIT_EXPECT_TRUE(test, is_here(a->event.call_site,
					test_pages_have_records));
	KUNIT_EXPECT_TRUE(test, is_here(f->call_site, test_pages_have_records));

	a = find_alloc((void *)addr, KMEMTRACE_TYPE_PAGES);
	f = find(KMEMTRACE_EVENT_FREE, (void *)addr, KMEMTRACE_TYPE_PAGES);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_EXPECT_TRUE(test, is_here(a->event.call_site,
					test_pages_have_records));
	KUNIT_EXPECT_TRUE(test, is_here(f->call_site, test_pages_have_records));

	/* Four pages were allocated, and the last one was freed at once. */
	a = find_alloc(exact, KMEMTRACE_TYPE_PAGES);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_EXPECT_EQ(test, a->bytes_alloc, 4 * PAGE_SIZE);
	KUNIT_EXPECT_TRUE(test, is_here(a->event.call_site,
					test_pages_have_records));
	f = find(KMEMTRACE_EVENT_FREE, exact + 3 * PAGE_SIZE,
		 KMEMTRACE_TYPE_PAGES);
	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_EXPECT_EQ(test, feature(f, 24, KMEMTRACE_FEATURE_BYTES),
			PAGE_SIZE);
}

static void test_bulk_pages_and_folios_have_records(struct kunit *test)
{
	struct page *pages[4] = { };
	struct kmemtrace_alloc *a;
	struct kmemtrace_event *f;
	struct folio *folio;
	unsigned long i, n;

	begin(test, 0);
	n = alloc_pages_bulk_array(GFP_KERNEL, ARRAY_SIZE(pages), pages);
	folio = folio_alloc(GFP_KERNEL, 1);
	KUNIT_ASSERT_NOT_NULL(test, folio);
	for (i = 0; i < n; i++)
		__free_page(pages[i]);
	folio_put(folio);
	enabled_set(NULL, 0);

	KUNIT_ASSERT_GT(test, n, 0);
	for (i = 0; i < n; i++) {
		a = find_alloc(page_address(pages[i]), KMEMTRACE_TYPE_PAGES);
		KUNIT_ASSERT_NOT_NULL(test, a);
		KUNIT_EXPECT_EQ(test, a->bytes_alloc, PAGE_SIZE);
		KUNIT_EXPECT_TRUE(test, is_here(a->event.call_site,
						test_bulk_pages_and_folios_have_records));
		KUNIT_EXPECT_NOT_NULL(test, find(KMEMTRACE_EVENT_FREE,
						 page_address(pages[i]),
						 KMEMTRACE_TYPE_PAGES));
	}
	a = find_alloc(folio_address(folio), KMEMTRACE_TYPE_PAGES);
	f = find(KMEMTRACE_EVENT_FREE, folio_address(folio),
		 KMEMTRACE_TYPE_PAGES);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_EXPECT_EQ(test, a->bytes_alloc, 2 * PAGE_SIZE);
	KUNIT_EXPECT_TRUE(test, is_here(a->event.call_site,
					test_bulk_pages_and_folios_have_records));
	KUNIT_EXPECT_EQ(test, feature(f, 24, KMEMTRACE_FEATURE_BYTES),
			2 * PAGE_SIZE);
}

/* Pages that were already in the array have no record. */
static void test_bulk_pages_between_others_have_records(struct kunit *test)
{
	struct page *pages[8] = { }, *page, *next;
	unsigned long i, n, before;
	LIST_HEAD(list);

	pages[2] = alloc_page(GFP_KERNEL);
	pages[5] = alloc_page(GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, pages[2] && pages[5]);
	begin(test, 0);
	n = 0;
	do {
		before = n;
		n = alloc_pages_bulk_array(GFP_KERNEL, ARRAY_SIZE(pages), pages);
	} while (n > before && n < ARRAY_SIZE(pages));
	alloc_pages_bulk_list(GFP_KERNEL, 3, &list);
	enabled_set(NULL, 0);

	KUNIT_EXPECT_EQ(test, n, ARRAY_SIZE(pages));
	for (i = 0; i < n; i++)
		KUNIT_EXPECT_EQ(test, i != 2 && i != 5,
				!!find_alloc(page_address(pages[i]),
					     KMEMTRACE_TYPE_PAGES));
	KUNIT_EXPECT_FALSE(test, list_empty(&list));
	list_for_each_entry_safe(page, next, &list, lru) {
		KUNIT_EXPECT_NOT_NULL(test, find_alloc(page_address(page),
						       KMEMTRACE_TYPE_PAGES));
		__free_page(page);
	}
	for (i = 0; i < ARRAY_SIZE(pages); i++)
		if (pages[i])
			__free_page(pages[i]);
}

static void test_features_are_there(struct kunit *test)
{
	struct kmemtrace_alloc *a;
	struct kmemtrace_event *f;
	u64 before, after;
	struct page *page;
	void *p;

	before = ktime_get_mono_fast_ns();
	begin(test, WITH_ALL);
	p = kmalloc(64, GFP_KERNEL);
	kfree(p);
	page = alloc_page(GFP_KERNEL);
	__free_page(page);
	enabled_set(NULL, 0);
	after = ktime_get_mono_fast_ns();

	a = find_alloc(p, KMEMTRACE_TYPE_KMALLOC);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_EXPECT_EQ(test, a->event.event_size, 72);
	KUNIT_EXPECT_GE(test, (u64)feature(&a->event, 48, KMEMTRACE_FEATURE_TIME), before);
	KUNIT_EXPECT_LE(test, (u64)feature(&a->event, 48, KMEMTRACE_FEATURE_TIME), after);
	KUNIT_EXPECT_EQ(test, feature(&a->event, 48, KMEMTRACE_FEATURE_PID), current->pid);
	KUNIT_EXPECT_GT(test, feature(&a->event, 48, KMEMTRACE_FEATURE_TAG), 0);
	/* 11, 7 and 5 bytes, and one byte of padding. */
	KUNIT_EXPECT_EQ(test, ((u8 *)a)[71], 0);

	f = find(KMEMTRACE_EVENT_FREE, p, KMEMTRACE_TYPE_KMALLOC);
	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_EXPECT_EQ(test, f->event_size, 48);
	KUNIT_EXPECT_EQ(test, feature(f, 24, KMEMTRACE_FEATURE_PID), current->pid);
	KUNIT_EXPECT_EQ(test, feature(f, 24, KMEMTRACE_FEATURE_TAG), -1);
	KUNIT_EXPECT_TRUE(test, !memchr_inv((u8 *)f + 42, 0, 6));

	f = find(KMEMTRACE_EVENT_FREE, page_address(page), KMEMTRACE_TYPE_PAGES);
	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_EXPECT_EQ(test, f->event_size, 56);
	KUNIT_EXPECT_EQ(test, feature(f, 24, KMEMTRACE_FEATURE_BYTES), PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, feature(f, 24, KMEMTRACE_FEATURE_PID), current->pid);
}

/* A record has the tag even while profiling is off. */
static void test_tag_needs_no_profiling(struct kunit *test)
{
	struct alloc_tag *was = current->alloc_tag;
	struct alloc_tag other = { .ct = { .index = 4711 } };
	struct kmemtrace_alloc *a;
	void *p;

	begin(test, WITH_TAG);
	p = alloc_hooks_tag(&other, kmalloc_noprof(64, GFP_KERNEL));
	enabled_set(NULL, 0);
	KUNIT_EXPECT_PTR_EQ(test, current->alloc_tag, was);
	a = find_alloc(p, KMEMTRACE_TYPE_KMALLOC);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_EXPECT_EQ(test, feature(&a->event, 48, KMEMTRACE_FEATURE_TAG), 4711);
	kfree(p);
}

static void test_null_is_no_free(struct kunit *test)
{
	begin(test, 0);
	kfree(NULL);
	kfree(ZERO_SIZE_PTR);
	enabled_set(NULL, 0);
	KUNIT_EXPECT_NULL(test, find(KMEMTRACE_EVENT_FREE, NULL,
				     KMEMTRACE_TYPE_KMALLOC));
	KUNIT_EXPECT_NULL(test, find(KMEMTRACE_EVENT_FREE, ZERO_SIZE_PTR,
				     KMEMTRACE_TYPE_KMALLOC));
}

static void test_nothing_has_no_record(struct kunit *test)
{
	struct kmemtrace_cpu before, after;
	unsigned long flags;
	size_t size = 0;
	void *p, *q;

	OPTIMIZER_HIDE_VAR(size);
	begin(test, 0);
	local_irq_save(flags);
	before = *this_cpu_ptr(&kmemtrace_cpu);
	p = kmalloc(0, GFP_ATOMIC);
	q = kmalloc(size, GFP_ATOMIC);
	after = *this_cpu_ptr(&kmemtrace_cpu);
	local_irq_restore(flags);
	enabled_set(NULL, 0);

	/*
	 * ZERO_SIZE_PTR is not aligned. gcc assumes that kmalloc() returns an
	 * aligned pointer, and would take the comparison for false.
	 */
	OPTIMIZER_HIDE_VAR(q);
	KUNIT_EXPECT_PTR_EQ(test, p, ZERO_SIZE_PTR);
	KUNIT_EXPECT_PTR_EQ(test, q, ZERO_SIZE_PTR);
	KUNIT_EXPECT_EQ(test, after.events, before.events);
	KUNIT_EXPECT_EQ(test, after.lost_events, before.lost_events);
	KUNIT_EXPECT_NULL(test, find_alloc(ZERO_SIZE_PTR,
					   KMEMTRACE_TYPE_KMALLOC));
	KUNIT_EXPECT_NULL(test, find_alloc(NULL, KMEMTRACE_TYPE_KMALLOC));
}

static void test_failure_has_no_address(struct kunit *test)
{
	size_t size = KMALLOC_MAX_SIZE + 1;
	struct kmemtrace_alloc *a;
	void *p;

	OPTIMIZER_HIDE_VAR(size);
	begin(test, 0);
	p = kmalloc(size, GFP_KERNEL | __GFP_NOWARN);
	enabled_set(NULL, 0);

	KUNIT_ASSERT_NULL(test, p);
	a = find_alloc(NULL, KMEMTRACE_TYPE_KMALLOC);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_EXPECT_EQ(test, a->bytes_req, size);
	KUNIT_EXPECT_GE(test, a->bytes_alloc, size);
	KUNIT_EXPECT_TRUE(test, is_here(a->event.call_site,
					test_failure_has_no_address));
}

struct softirq_alloc {
	struct tasklet_struct tasklet;
	void *p;
};

static void alloc_in_softirq(struct tasklet_struct *t)
{
	struct softirq_alloc *s = from_tasklet(s, t, tasklet);

	s->p = kmalloc(64, GFP_ATOMIC);
}

/* An allocation in an interrupt is not that of the interrupted task. */
static void test_interrupt_has_no_pid(struct kunit *test)
{
	struct softirq_alloc s = { };
	struct kmemtrace_alloc *a;

	begin(test, WITH_PID);
	tasklet_setup(&s.tasklet, alloc_in_softirq);
	tasklet_schedule(&s.tasklet);
	/* Waits until it has run. */
	tasklet_kill(&s.tasklet);
	enabled_set(NULL, 0);

	KUNIT_ASSERT_NOT_NULL(test, s.p);
	a = find_alloc(s.p, KMEMTRACE_TYPE_KMALLOC);
	kfree(s.p);
	KUNIT_ASSERT_NOT_NULL(test, a);
	/* Check the bytes: feature() returns -1 for a missing feature, too. */
	KUNIT_EXPECT_EQ(test, a->event.event_size, 56);
	KUNIT_EXPECT_EQ(test, get_unaligned((u16 *)((void *)a + 48)), 7);
	KUNIT_EXPECT_EQ(test, ((u8 *)a)[50], KMEMTRACE_FEATURE_PID);
	KUNIT_EXPECT_EQ(test, feature(&a->event, 48, KMEMTRACE_FEATURE_PID), -1);
}

/*
 * No other CPU takes a number while the machine is stopped. But kmalloc() may
 * need a new slab, and the pages of the slab take a number, too. So the first
 * line makes a free object, which the second kmalloc() then takes.
 */
static int wrap_around(void *data)
{
	void **p = data;

	kfree(kmalloc(32, GFP_ATOMIC));
	atomic_set(&kmemtrace_sequence, INT_MAX - 1);
	*p = kmalloc(32, GFP_ATOMIC);
	kfree(*p);
	return 0;
}

static void test_numbers_wrap_around(struct kunit *test)
{
	struct kmemtrace_alloc *a;
	struct kmemtrace_event *f;
	void *p;

	begin(test, 0);
	stop_machine(wrap_around, &p, NULL);
	enabled_set(NULL, 0);

	a = find_alloc(p, KMEMTRACE_TYPE_KMALLOC);
	f = find(KMEMTRACE_EVENT_FREE, p, KMEMTRACE_TYPE_KMALLOC);
	KUNIT_ASSERT_NOT_NULL(test, a);
	KUNIT_ASSERT_NOT_NULL(test, f);
	KUNIT_EXPECT_EQ(test, a->event.sequence_number, INT_MAX);
	KUNIT_EXPECT_EQ(test, f->sequence_number, INT_MIN);
}

/* Losses are reported once there is room again, before the next record. */
static void test_losses_are_told_first(struct kunit *test)
{
	u64 events, bytes, untold;
	struct kmemtrace_alloc a;
	struct kmemtrace_lost l;
	struct kmemtrace_cpu *c;
	struct rchan_buf *buf;
	unsigned long flags;
	unsigned int i;
	void *p;

	begin(test, 0);
	local_irq_save(flags);
	c = this_cpu_ptr(&kmemtrace_cpu);
	for (i = 0; i < 20000; i++)
		kfree(kmalloc(32, GFP_ATOMIC));
	events = c->untold_events;
	bytes = c->untold_bytes;
	relay_subbufs_consumed(kmemtrace_chan, smp_processor_id(), 2);
	p = kmalloc(32, GFP_ATOMIC);
	untold = c->untold_events;
	/* Both records are the first ones in this sub-buffer. */
	buf = *this_cpu_ptr(kmemtrace_chan->buf);
	l = *(struct kmemtrace_lost *)buf->data;
	a = *(struct kmemtrace_alloc *)(buf->data + sizeof(l));
	local_irq_restore(flags);
	enabled_set(NULL, 0);
	kfree(p);

	KUNIT_EXPECT_GT(test, events, 20000);
	KUNIT_EXPECT_EQ(test, untold, 0);
	KUNIT_EXPECT_EQ(test, l.event.event_id, KMEMTRACE_EVENT_LOST);
	KUNIT_EXPECT_EQ(test, l.event.type_id, 0);
	KUNIT_EXPECT_EQ(test, l.event.event_size, 40);
	KUNIT_EXPECT_EQ(test, l.event.call_site, 0);
	KUNIT_EXPECT_EQ(test, l.event.ptr, 0);
	KUNIT_EXPECT_EQ(test, l.events, events);
	KUNIT_EXPECT_EQ(test, l.bytes, bytes);
	KUNIT_EXPECT_EQ(test, a.event.event_id, KMEMTRACE_EVENT_ALLOC);
	KUNIT_EXPECT_EQ(test, a.event.ptr, (unsigned long)p);
	KUNIT_EXPECT_EQ(test, a.event.sequence_number - l.event.sequence_number, 1);
}

/* The numbers used are those of written and lost records and of the start. */
static void test_written_and_lost_are_all(struct kunit *test)
{
	struct kmemtrace_cpu before = { }, after = { }, c;
	int first = atomic_read(&kmemtrace_sequence), numbers;
	unsigned int cpu, i;
	void *p;

	for_each_possible_cpu(cpu) {
		read_counts(cpu, &c);
		before.events += c.events;
		before.lost_events += c.lost_events;
		before.lost_bytes += c.lost_bytes;
	}
	begin(test, 0);
	for (i = 0; i < 20000; i++) {
		p = kmalloc(32, GFP_KERNEL);
		kfree(p);
	}
	enabled_set(NULL, 0);
	numbers = atomic_read(&kmemtrace_sequence) - first;
	for_each_possible_cpu(cpu) {
		read_counts(cpu, &c);
		after.events += c.events;
		after.lost_events += c.lost_events;
		after.lost_bytes += c.lost_bytes;
	}
	after.events -= before.events;
	after.lost_events -= before.lost_events;
	after.lost_bytes -= before.lost_bytes;
	KUNIT_EXPECT_GE(test, after.events + after.lost_events, 40000);
	/* Two sub-buffers have room for about 14,000 of these records. */
	KUNIT_EXPECT_GT(test, after.lost_events, 20000);
	KUNIT_EXPECT_GE(test, after.lost_bytes, after.lost_events * 24);
	KUNIT_EXPECT_EQ(test, after.events + after.lost_events + 1, numbers);
}

/* The number of events is known, because nothing else runs on this CPU. */
static void test_nothing_is_counted_twice_or_not(struct kunit *test)
{
	struct kmemtrace_cpu before, after;
	unsigned long flags;
	unsigned int i;
	void *p;

	begin(test, 0);
	kfree(kmalloc(32, GFP_KERNEL));
	local_irq_save(flags);
	before = *this_cpu_ptr(&kmemtrace_cpu);
	for (i = 0; i < 12345; i++) {
		p = kmalloc(32, GFP_ATOMIC);
		kfree(p);
	}
	after = *this_cpu_ptr(&kmemtrace_cpu);
	local_irq_restore(flags);
	enabled_set(NULL, 0);

	KUNIT_EXPECT_GT(test, after.lost_events - before.lost_events, 0);
	KUNIT_EXPECT_EQ(test, after.events - before.events +
			after.lost_events - before.lost_events, 2 * 12345);
	KUNIT_EXPECT_EQ(test, after.bytes - before.bytes +
			after.lost_bytes - before.lost_bytes,
			12345 * (48 + 24));
	KUNIT_EXPECT_EQ(test, after.untold_events - before.untold_events,
			after.lost_events - before.lost_events);
}

static void test_features_are_parsed(struct kunit *test)
{
	static const struct {
		const char *text;
		int features;
	} cases[] = {
		{ "", 0 },
		{ "none\n", 0 },
		{ "time", WITH_TIME },
		{ "tag,pid\n", WITH_TAG | WITH_PID },
		{ " time  pid\ttag ", WITH_ALL },
		{ "all", WITH_ALL },
		{ "times", -EINVAL },
		{ "time bytes", -EINVAL },
		{ "1", -EINVAL },
	};
	char text[32];
	int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		strscpy(text, cases[i].text, sizeof(text));
		KUNIT_EXPECT_EQ_MSG(test, parse_features(text),
				    cases[i].features, "%s", cases[i].text);
	}
}

static void test_nothing_changes_while_recording(struct kunit *test)
{
	int ret;

	begin(test, 0);
	mutex_lock(&kmemtrace_lock);
	ret = choose_features(WITH_TIME);
	mutex_unlock(&kmemtrace_lock);
	KUNIT_EXPECT_EQ(test, ret, -EBUSY);
	KUNIT_EXPECT_EQ(test, subbufs_set(NULL, 4), -EBUSY);
	KUNIT_EXPECT_EQ(test, subbufs_set(NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, enabled_set(NULL, 2), -EBUSY);
	KUNIT_EXPECT_EQ(test, enabled_set(NULL, 3), -EINVAL);
	enabled_set(NULL, 0);
	KUNIT_EXPECT_EQ(test, subbufs_set(NULL, U64_MAX), -ENOMEM);
}

static bool recording(void)
{
	return READ_ONCE(kmemtrace_config) & RECORDING;
}

static void test_recording_ends_with_its_file(struct kunit *test)
{
	static struct file holder, other;

	KUNIT_EXPECT_EQ(test, enabled_set(&holder, ENABLED_HELD), 0);
	KUNIT_EXPECT_EQ(test, enabled_set(&other, ENABLED_HELD), -EBUSY);
	enabled_release(NULL, &other);
	KUNIT_EXPECT_TRUE(test, recording());
	enabled_release(NULL, &holder);
	KUNIT_EXPECT_FALSE(test, recording());
}

/* After a write of 1, the close of a former holder does not end recording. */
static void test_recording_outlives_other_files(struct kunit *test)
{
	static struct file holder, other;

	enabled_set(&holder, ENABLED_HELD);
	KUNIT_EXPECT_EQ(test, enabled_set(&other, ENABLED_ON), 0);
	enabled_release(NULL, &holder);
	enabled_release(NULL, &other);
	KUNIT_EXPECT_TRUE(test, recording());
	KUNIT_EXPECT_EQ(test, enabled_set(&holder, ENABLED_HELD), -EBUSY);
	enabled_release(NULL, &holder);
	KUNIT_EXPECT_TRUE(test, recording());
	enabled_set(&other, ENABLED_OFF);
	enabled_set(&holder, ENABLED_HELD);
	enabled_set(&other, ENABLED_OFF);
	enabled_set(&other, ENABLED_ON);
	enabled_release(NULL, &holder);
	KUNIT_EXPECT_TRUE(test, recording());
	enabled_set(NULL, ENABLED_OFF);
}

static struct kunit_case kmemtrace_cases[] = {
	KUNIT_CASE(test_kmalloc_has_a_record),
	KUNIT_CASE(test_caches_have_records),
	KUNIT_CASE(test_pages_have_records),
	KUNIT_CASE(test_bulk_pages_and_folios_have_records),
	KUNIT_CASE(test_bulk_pages_between_others_have_records),
	KUNIT_CASE(test_features_are_there),
	KUNIT_CASE(test_tag_needs_no_profiling),
	KUNIT_CASE(test_null_is_no_free),
	KUNIT_CASE(test_nothing_has_no_record),
	KUNIT_CASE(test_failure_has_no_address),
	KUNIT_CASE(test_interrupt_has_no_pid),
	KUNIT_CASE(test_numbers_wrap_around),
	KUNIT_CASE(test_losses_are_told_first),
	KUNIT_CASE(test_written_and_lost_are_all),
	KUNIT_CASE(test_nothing_is_counted_twice_or_not),
	KUNIT_CASE(test_features_are_parsed),
	KUNIT_CASE(test_nothing_changes_while_recording),
	KUNIT_CASE(test_recording_ends_with_its_file),
	KUNIT_CASE(test_recording_outlives_other_files),
	{}
};

static struct kunit_suite kmemtrace_suite = {
	.name = "kmemtrace",
	.init = kmemtrace_test_init,
	.exit = kmemtrace_test_exit,
	.test_cases = kmemtrace_cases,
};

kunit_test_suite(kmemtrace_suite);
