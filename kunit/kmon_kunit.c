// SPDX-License-Identifier: GPL-2.0-only
/*
 * KUnit tests of the rings of KMON and of the way from a ring to an instance,
 * for cases that are rare on a real machine: CPUs above 255, positions that
 * wrap, a CPU without a ring, a large record at the end of both circular
 * buffers, a task that is preempted between the branch and the ring. Included
 * by drivers/char/kmon.c.
 *
 * The tests have a ring and an instance of their own. The instance is in
 * kmon_started only while that ring is flushed, so it gets no other records.
 */
#include <kunit/test.h>
#include <linux/sizes.h>

#define TEST_RING	RING_SIZE_MIN
#define TEST_BUFFER	(2 * SZ_64K)

struct kmon_fixture {
	struct kmon_ring *r;
	struct kmon_instance *i;
	unsigned int asked;	/* number of requests for a flush */
	unsigned long next;	/* position of the next record to compare */
};

/* A ring of the tests counts its requests for a flush here. */
static struct kmon_fixture *kmon_test_fixture;

static void kmon_test_asked(struct irq_work *work)
{
	kmon_test_fixture->asked++;
}

static int kmon_test_init(struct kunit *test)
{
	struct kmon_fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f);
	f->r = kunit_kzalloc(test, sizeof(*f->r), GFP_KERNEL);
	f->i = kunit_kzalloc(test, sizeof(*f->i), GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->r);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->i);
	f->r->buf.data = kunit_kzalloc(test, TEST_RING, GFP_KERNEL);
	f->i->buf.data = kunit_kzalloc(test, TEST_BUFFER, GFP_KERNEL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->r->buf.data);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, f->i->buf.data);
	f->r->buf.size = TEST_RING;
	f->i->buf.size = TEST_BUFFER;
	f->r->kick = IRQ_WORK_INIT_HARD(kmon_test_asked);
	mutex_init(&f->i->read_lock);
	kmon_test_fixture = f;
	test->priv = f;
	return 0;
}

static void kmon_test_exit(struct kunit *test)
{
	struct kmon_fixture *f = test->priv;

	if (f && f->r)
		irq_work_sync(&f->r->kick);
}

/* Set the positions, as if this much had been written and flushed before. */
static void begin_at(struct kmon_fixture *f, unsigned long ring,
		     unsigned long buffer)
{
	local_set(&f->r->head, ring);
	f->r->published = ring;
	f->r->tail = ring;
	f->i->head = buffer;
	f->i->tail = buffer;
	f->next = buffer;
}

static int put_on(struct kmon_fixture *f, unsigned int cpu, const void *blob,
		  unsigned int size)
{
	int ret;

	preempt_disable_notrace();
	ret = ring_put(f->r, cpu, blob, size);
	preempt_enable_notrace();
	return ret;
}

static void flush(struct kunit *test)
{
	struct kmon_fixture *f = test->priv;
	bool alone;

	mutex_lock(&kmon_flush_lock);
	alone = list_empty(&kmon_started);
	if (alone) {
		list_add(&f->i->node, &kmon_started);
		flush_ring(f->r);
		list_del(&f->i->node);
	}
	mutex_unlock(&kmon_flush_lock);
	if (!alone)
		kunit_skip(test, "somebody else has the device started");
}

static u8 byte_of(const struct kmon_fixture *f, unsigned long pos)
{
	return f->i->buf.data[pos & (f->i->buf.size - 1)];
}

/* Expect that the next record has this blob and is not older than @since. */
static void expect_record(struct kunit *test, unsigned int cpu, const u8 *blob,
			  unsigned int size, u64 since)
{
	struct kmon_fixture *f = test->priv;
	unsigned long at = f->next;
	unsigned int n, bad = 0;
	u64 time = 0;

	KUNIT_ASSERT_GE(test, f->i->head - at,
			(unsigned long)KMON_HDR_SIZE + size);
	KUNIT_EXPECT_EQ(test, byte_of(f, at), (u8)cpu);
	for (n = 8; n--; )
		time = time << 8 | byte_of(f, at + KMON_HDR_TIME + n);
	KUNIT_EXPECT_GE(test, time, since);
	KUNIT_EXPECT_LE(test, time, ktime_get_mono_fast_ns());
	KUNIT_EXPECT_EQ(test, byte_of(f, at + KMON_HDR_SIZE_OF_BLOB),
			(u8)size);
	KUNIT_EXPECT_EQ(test, byte_of(f, at + KMON_HDR_SIZE_OF_BLOB + 1),
			(u8)(size >> 8));
	for (n = 0; n < size; n++)
		bad += byte_of(f, at + KMON_HDR_SIZE + n) != blob[n];
	KUNIT_EXPECT_EQ(test, bad, 0U);
	f->next = at + KMON_HDR_SIZE + size;
}

static void expect_no_more(struct kunit *test)
{
	struct kmon_fixture *f = test->priv;

	KUNIT_EXPECT_EQ(test, f->i->head, f->next);
}

/* A header has one byte for the CPU. A number above 255 is before the blob. */
static void test_cpu_above_255(struct kunit *test)
{
	static const u8 blob[] = { KMON_DT_USER, 1, 2, 3 };
	static const u8 wide_256[] = { KMON_DT_WIDE, 0, 1, KMON_DT_USER, 1, 2, 3 };
	static const u8 wide_65535[] = { KMON_DT_WIDE, 0xff, 0xff };
	struct kmon_fixture *f = test->priv;
	u64 since = ktime_get_mono_fast_ns();

	KUNIT_EXPECT_EQ(test, put_on(f, 255, blob, sizeof(blob)), 0);
	KUNIT_EXPECT_EQ(test, put_on(f, 256, blob, sizeof(blob)), 0);
	KUNIT_EXPECT_EQ(test, put_on(f, 65535, blob, 0), 0);
	KUNIT_EXPECT_EQ(test, put_on(f, 255, blob, sizeof(blob)), 0);
	KUNIT_EXPECT_EQ(test, local_read(&f->r->refused), 0L);
	KUNIT_EXPECT_EQ(test, local_read(&f->r->lost), 0L);
	flush(test);
	expect_record(test, 255, blob, sizeof(blob), since);
	expect_record(test, 255, wide_256, sizeof(wide_256), since);
	expect_record(test, 255, wide_65535, sizeof(wide_65535), since);
	expect_record(test, 255, blob, sizeof(blob), since);
	expect_no_more(test);
}

/* Above CPU 255, the largest blob is smaller. A larger one makes no record. */
static void test_large_blob_of_cpu_256(struct kunit *test)
{
	const unsigned int size = KMON_BLOB_MAX - KMON_WIDE_SIZE;
	struct kmon_fixture *f = test->priv;
	u8 *wide = kunit_kzalloc(test, KMON_BLOB_MAX, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, wide);
	memset(wide, 0xa5, KMON_BLOB_MAX);
	wide[0] = KMON_DT_WIDE;
	wide[1] = 0;
	wide[2] = 1;
	KUNIT_EXPECT_EQ(test, put_on(f, 256, wide + 3, size), 0);
	KUNIT_EXPECT_EQ(test, put_on(f, 256, wide, size + 1), -EMSGSIZE);
	KUNIT_EXPECT_EQ(test, local_read(&f->r->refused), 1L);
	flush(test);
	expect_record(test, 255, wide, KMON_BLOB_MAX, 0);
	expect_no_more(test);
}

/* Each record that a CPU above 255 makes is read, lost or unread. */
static void test_all_of_cpu_256_is_counted(struct kunit *test)
{
	static const u8 blob[1000] = { KMON_DT_USER };
	struct kmon_fixture *f = test->priv;
	struct kmon_stats stats;
	u64 nr;
	int ret;

	/* The ring rejects the last record, the buffer about half of them. */
	f->i->buf.size = SZ_64K;
	/* Prevent requests for a flush: there is no such CPU. */
	f->r->kicked = true;
	for (nr = 0, ret = 0; !ret && nr < TEST_RING; nr++)
		ret = put_on(f, 256, blob, sizeof(blob));
	KUNIT_EXPECT_EQ(test, ret, -ENOBUFS);
	flush(test);
	KUNIT_EXPECT_EQ(test, get_stats(f->i, &stats), 0);
	KUNIT_EXPECT_GT(test, stats.unread, 0ULL);
	KUNIT_EXPECT_GT(test, stats.lost, 1ULL);
	KUNIT_EXPECT_EQ(test, stats.read + stats.lost + stats.unread, nr);
}

/* All positions wrap around, and the room in the ring stays the same. */
static void test_positions_wrap(struct kunit *test)
{
	struct kmon_fixture *f = test->priv;
	u64 since = ktime_get_mono_fast_ns();
	unsigned long nr = 0, told;
	u8 blob[53];
	int ret;

	begin_at(f, -1000UL, -500UL);
	do {
		memset(blob, (u8)nr, sizeof(blob));
		ret = put_on(f, 0, blob, sizeof(blob));
		nr += !ret;
	} while (!ret && nr < TEST_RING);
	KUNIT_EXPECT_EQ(test, ret, -ENOBUFS);
	KUNIT_EXPECT_EQ(test, nr, (unsigned long)TEST_RING /
			(KMON_HDR_SIZE + sizeof(blob)));
	KUNIT_EXPECT_LT(test, (unsigned long)local_read(&f->r->head),
			(unsigned long)TEST_RING);
	irq_work_sync(&f->r->kick);
	KUNIT_EXPECT_EQ(test, f->asked, 1U);
	flush(test);
	KUNIT_EXPECT_EQ(test, f->i->stored, (u64)nr);
	KUNIT_EXPECT_EQ(test, f->i->lost, 1ULL);
	for (told = 0; told < nr; told++) {
		memset(blob, (u8)told, sizeof(blob));
		expect_record(test, 0, blob, sizeof(blob), since);
	}
	expect_no_more(test);
	KUNIT_EXPECT_LT(test, f->i->head, (unsigned long)TEST_BUFFER);
	KUNIT_EXPECT_EQ(test, f->r->tail, (unsigned long)local_read(&f->r->head));
}

/* Without a ring, the records of a CPU are counted as lost for the instance. */
static void test_no_ring_is_lost(struct kunit *test)
{
	static const u8 blob[] = { KMON_DT_USER };
	struct kmon_fixture *f = test->priv;
	struct kmon_buf buf = f->r->buf;

	f->r->buf = (struct kmon_buf){ };
	KUNIT_EXPECT_EQ(test, put_on(f, 0, blob, sizeof(blob)), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, put_on(f, 0, blob, 0), -ENOBUFS);
	KUNIT_EXPECT_EQ(test, local_read(&f->r->lost), 2L);
	KUNIT_EXPECT_EQ(test, local_read(&f->r->head), 0L);
	flush(test);
	expect_no_more(test);
	KUNIT_EXPECT_EQ(test, f->i->lost, 2ULL);
	KUNIT_EXPECT_TRUE(test, f->i->overrun);
	/* Lost records are counted only once. */
	flush(test);
	KUNIT_EXPECT_EQ(test, f->i->lost, 2ULL);
	/* The CPU can get a ring later. */
	f->r->buf = buf;
	KUNIT_EXPECT_EQ(test, put_on(f, 0, blob, sizeof(blob)), 0);
	flush(test);
	expect_record(test, 0, blob, sizeof(blob), 0);
	expect_no_more(test);
}

/* The record wraps in the ring and in the buffer, at different bytes. */
static void test_larger_than_a_page_of_both_circles(struct kunit *test)
{
	const unsigned int size = KMON_BLOB_MAX;
	struct kmon_fixture *f = test->priv;
	u64 since = ktime_get_mono_fast_ns();
	unsigned int n, cut;
	u8 *blob = kunit_kzalloc(test, size, GFP_KERNEL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, blob);
	for (n = 0; n < size; n++)
		blob[n] = n * 7 + (n >> 8);
	begin_at(f, TEST_RING - 2 * PAGE_SIZE - 3, TEST_BUFFER - PAGE_SIZE - 5);
	KUNIT_EXPECT_EQ(test, put_on(f, 0, blob, size), 0);
	flush(test);
	expect_record(test, 0, blob, size, since);
	expect_no_more(test);
	/* Let the header wrap at each of its bytes. */
	for (cut = 1; cut < KMON_HDR_SIZE; cut++) {
		begin_at(f, TEST_RING - cut, TEST_BUFFER - KMON_HDR_SIZE + cut);
		KUNIT_EXPECT_EQ(test, put_on(f, 0, blob, size), 0);
		flush(test);
		expect_record(test, 0, blob, size, since);
		expect_no_more(test);
	}
	KUNIT_EXPECT_EQ(test, f->i->stored, (u64)KMON_HDR_SIZE);
	KUNIT_EXPECT_EQ(test, f->i->lost, 0ULL);
}

static unsigned long sum_heads(void)
{
	unsigned long sum = 0;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		sum += local_read(&per_cpu(kmon_rings, cpu).head);
		sum += local_read(&per_cpu(kmon_rings, cpu).lost);
	}
	return sum;
}

static void add_while_stopped_and_started(struct kunit *test)
{
	static const u8 blob[] = { KMON_DT_USER };
	unsigned long before = sum_heads();

	KUNIT_EXPECT_EQ(test, __kmon_add_data(blob, sizeof(blob)), -ENODEV);
	KUNIT_EXPECT_EQ(test, sum_heads(), before);
	static_branch_inc(&kmon_key);
	KUNIT_EXPECT_EQ(test, __kmon_add_data(blob, sizeof(blob)), 0);
	KUNIT_EXPECT_EQ(test, sum_heads(),
			before + KMON_HDR_SIZE + sizeof(blob));
	static_branch_dec(&kmon_key);
	KUNIT_EXPECT_EQ(test, __kmon_add_data(blob, sizeof(blob)), -ENODEV);
	KUNIT_EXPECT_EQ(test, sum_heads(),
			before + KMON_HDR_SIZE + sizeof(blob));
}

/*
 * A task is preempted after the branch of kmon_add_data() and continues after
 * the last stop. It must not use a ring: the rings, which exist here, may be
 * freed soon.
 */
static void test_stopped_behind_the_branch(struct kunit *test)
{
	bool others;
	int ret = 0;

	mutex_lock(&kmon_lock);
	others = kmon_opens;
	if (!others)
		ret = open_rings();
	if (!others && !ret) {
		add_while_stopped_and_started(test);
		mutex_lock(&kmon_flush_lock);
		flush_all();
		mutex_unlock(&kmon_flush_lock);
		close_rings();
	}
	mutex_unlock(&kmon_lock);
	if (others)
		kunit_skip(test, "somebody else has the device open");
	KUNIT_EXPECT_EQ(test, ret, 0);
}

static struct file *open_device(struct kunit *test)
{
	struct file *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct kmon_instance *i;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, file);
	KUNIT_ASSERT_EQ(test, kmon_open(NULL, file), 0);
	i = file->private_data;
	/* Get no records but those that the test adds. */
	i->sources = 0;
	return file;
}

/* EPOLLHUP comes after a stop, once all is read. A new instance has none. */
static void test_poll(struct kunit *test)
{
	static const u8 blob[] = { KMON_DT_USER };
	struct file *file = open_device(test);
	struct kmon_instance *i = file->private_data;

	KUNIT_EXPECT_EQ(test, kmon_poll(file, NULL), (__poll_t)0);
	KUNIT_EXPECT_EQ(test, kmon_ioctl(file, KMON_STOP, 0), 0L);
	KUNIT_EXPECT_EQ(test, kmon_poll(file, NULL), (__poll_t)0);
	KUNIT_EXPECT_EQ(test, kmon_ioctl(file, KMON_START, 0), 0L);
	KUNIT_EXPECT_EQ(test, kmon_poll(file, NULL), (__poll_t)0);
	KUNIT_EXPECT_EQ(test, kmon_add_data(blob, sizeof(blob)), 0);
	KUNIT_EXPECT_EQ(test, kmon_ioctl(file, KMON_STOP, 0), 0L);
	KUNIT_EXPECT_EQ(test, kmon_poll(file, NULL),
			(__poll_t)(EPOLLIN | EPOLLRDNORM));
	WRITE_ONCE(i->tail, i->head);
	KUNIT_EXPECT_EQ(test, kmon_poll(file, NULL), (__poll_t)EPOLLHUP);
	KUNIT_EXPECT_EQ(test, kmon_ioctl(file, KMON_START, 0), 0L);
	KUNIT_EXPECT_EQ(test, kmon_poll(file, NULL), (__poll_t)0);
	kmon_release(NULL, file);
}

/* The buffer accepts any size; the size of a ring must be a power of two. */
static void test_buffer_sizes(struct kunit *test)
{
	static const struct {
		long wanted;
		unsigned long size;
	} sizes[] = {
		{ SZ_4K, SZ_4K }, { SZ_4K + 1, SZ_8K }, { 5000, SZ_8K },
		{ 3 * SZ_1M, SZ_4M }, { SZ_4M, SZ_4M }, { SZ_64K - 1, SZ_64K },
	};
	static const long bad[] = {
		0, -1, LONG_MIN, LONG_MAX, SZ_4K - 1, SZ_1G + 1L,
	};
	struct file *file = open_device(test);
	struct kmon_instance *i = file->private_data;
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(sizes); n++) {
		KUNIT_EXPECT_EQ(test, set_size(i, sizes[n].wanted), 0);
		KUNIT_EXPECT_EQ(test, i->buf.size, sizes[n].size);
	}
	for (n = 0; n < ARRAY_SIZE(bad); n++)
		KUNIT_EXPECT_EQ(test, set_size(i, bad[n]), -EINVAL);
	KUNIT_EXPECT_EQ(test, i->buf.size, (unsigned long)SZ_64K);
	kmon_release(NULL, file);
}

static struct kunit_case kmon_test_cases[] = {
	KUNIT_CASE(test_cpu_above_255),
	KUNIT_CASE(test_large_blob_of_cpu_256),
	KUNIT_CASE(test_all_of_cpu_256_is_counted),
	KUNIT_CASE(test_positions_wrap),
	KUNIT_CASE(test_no_ring_is_lost),
	KUNIT_CASE(test_larger_than_a_page_of_both_circles),
	KUNIT_CASE(test_stopped_behind_the_branch),
	KUNIT_CASE(test_poll),
	KUNIT_CASE(test_buffer_sizes),
	{}
};

static struct kunit_suite kmon_test_suite = {
	.name = "kmon",
	.init = kmon_test_init,
	.exit = kmon_test_exit,
	.test_cases = kmon_test_cases,
};

kunit_test_suite(kmon_test_suite);
