// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU memory, mempools, bios, hash tables and allocations of helpers for their
 * callers, in known amounts on known lines.
 *
 * Writing the name of a step to /sys/kernel/debug/ctag_cover_percpu/cmd runs it;
 * steps of a kind must come in the order of the table of steps. The file "table"
 * there has the memory that each line should hold now:
 *
 *	NAME LINE FUNCTION CALLS BYTES exact|atleast
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bio.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/percpu-refcount.h>
#include <linux/percpu-rwsem.h>
#include <linux/percpu_counter.h>
#include <linux/rcupdate.h>
#include <linux/rhashtable.h>
#include <linux/sbitmap.h>
#include <linux/slab.h>

#include "ctag_cmd.h"

/* Charged to percpu_modalloc(); this module must not have another one. */
static DEFINE_PER_CPU(char[52], static_area);

/**
 * struct line - the memory that a line should hold
 * @name: for messages
 * @func: its function, NULL before it ran
 * @nr: its number
 * @calls: expected
 * @bytes: expected
 * @atleast: there are more bytes; a slab cache determines the number
 */
struct line {
	const char *name;
	const char *func;
	unsigned int nr;
	long calls;
	long bytes;
	bool atleast;
};

enum {
	TYPED, TYPED_ATOMIC, ONE_BYTE, ALIGNED, CHARGED, CROWD,
	COUNTER, REF, RWSEM, SBITMAP, SBQ,
	POOL_MADE, POOL_USED, POOL_STARVED, POOL_GROWN, PAGES_MADE, PAGES_USED,
	BIOSET, BIO, BIO_OF_SET, BIO_CLONE, BIO_KMALLOC,
	HASH, HASH_LIST, NR_LINES
};

#define LINE(_id, _name)	[_id] = { .name = _name }

static struct line lines[NR_LINES] = {
	LINE(TYPED, "alloc_percpu"),
	LINE(TYPED_ATOMIC, "alloc_percpu_gfp"),
	LINE(ONE_BYTE, "__alloc_percpu"),
	LINE(ALIGNED, "__alloc_percpu_gfp"),
	LINE(CHARGED, "__alloc_percpu_gfp_account"),
	LINE(CROWD, "crowd"),
	LINE(COUNTER, "percpu_counter"),
	LINE(REF, "percpu_ref"),
	LINE(RWSEM, "percpu_rwsem"),
	LINE(SBITMAP, "sbitmap"),
	LINE(SBQ, "sbitmap_queue"),
	LINE(POOL_MADE, "mempool_create"),
	LINE(POOL_USED, "mempool_alloc"),
	LINE(POOL_STARVED, "mempool_alloc_reserve"),
	LINE(POOL_GROWN, "mempool_resize"),
	LINE(PAGES_MADE, "mempool_init"),
	LINE(PAGES_USED, "mempool_alloc_pages"),
	LINE(BIOSET, "bioset_init"),
	LINE(BIO, "bio_alloc"),
	LINE(BIO_OF_SET, "bio_alloc_bioset"),
	LINE(BIO_CLONE, "bio_alloc_clone"),
	LINE(BIO_KMALLOC, "bio_kmalloc"),
	LINE(HASH, "rhashtable_init"),
	LINE(HASH_LIST, "rhltable_init"),
};

/* Use on the line of the call. */
#define HERE(_id) do {							\
	lines[_id].nr = __LINE__;					\
	lines[_id].func = __func__;					\
} while (0)

static void expect(int id, long calls, long bytes)
{
	lines[id].calls += calls;
	lines[id].bytes += bytes;
}

static void expect_percpu(int id, long size)
{
	expect(id, size < 0 ? -1 : 1, size * (long)num_possible_cpus());
}

static long size_of(const void *p)
{
	return is_vmalloc_addr(p) ? -1 : ksize(p);
}

/* Per-CPU memory */

struct odd {
	char c[10];
};

#define NR_CROWD	12000
#define CROWD_SIZE	124

static u64 __percpu *typed;
static struct odd __percpu *typed_atomic;
static void __percpu *one_byte, __percpu *aligned, __percpu *charged;
static void __percpu *crowd[NR_CROWD];

static int percpu_get(void)
{
	unsigned long flags;

	HERE(TYPED); typed = alloc_percpu(u64);
	local_irq_save(flags);
	HERE(TYPED_ATOMIC); typed_atomic = alloc_percpu_gfp(struct odd, GFP_ATOMIC);
	local_irq_restore(flags);
	HERE(ONE_BYTE); one_byte = __alloc_percpu(1, 1);
	HERE(ALIGNED); aligned = __alloc_percpu_gfp(5000, 64, GFP_KERNEL);
	HERE(CHARGED); charged = __alloc_percpu_gfp(40, 8, GFP_KERNEL_ACCOUNT);
	if (!typed || !typed_atomic || !one_byte || !aligned || !charged)
		return -ENOMEM;
	expect_percpu(TYPED, 8);
	expect_percpu(TYPED_ATOMIC, 12);
	expect_percpu(ONE_BYTE, 4);
	expect_percpu(ALIGNED, 5000);
	expect_percpu(CHARGED, 40);
	return 0;
}

static int percpu_put(void)
{
	free_percpu(typed);
	free_percpu(typed_atomic);
	free_percpu(one_byte);
	free_percpu(aligned);
	free_percpu(charged);
	expect_percpu(TYPED, -8);
	expect_percpu(TYPED_ATOMIC, -12);
	expect_percpu(ONE_BYTE, -4);
	expect_percpu(ALIGNED, -5000);
	expect_percpu(CHARGED, -40);
	return 0;
}

/* More than the first chunk has room for */
static int crowd_get(void)
{
	int i;

	for (i = 0; i < NR_CROWD; i++) {
		HERE(CROWD); crowd[i] = __alloc_percpu(CROWD_SIZE, 4);
		if (!crowd[i])
			return -ENOMEM;
		expect_percpu(CROWD, CROWD_SIZE);
	}
	return 0;
}

static void crowd_free(int i)
{
	for (; i < NR_CROWD; i += 2) {
		free_percpu(crowd[i]);
		expect_percpu(CROWD, -CROWD_SIZE);
	}
}

static int crowd_half(void)
{
	crowd_free(0);
	return 0;
}

static int crowd_put(void)
{
	crowd_free(1);
	return 0;
}

/* Helpers */

static struct percpu_counter counter;
static struct percpu_ref ref;
static struct percpu_rw_semaphore rwsem;
static struct sbitmap bitmap;
static struct sbitmap_queue queue;

static void ref_release(struct percpu_ref *r)
{
}

static int helpers_get(void)
{
	int err = 0;

	HERE(COUNTER); err |= percpu_counter_init(&counter, 0, GFP_KERNEL);
	HERE(REF); err |= percpu_ref_init(&ref, ref_release, 0, GFP_KERNEL);
	HERE(RWSEM); err |= percpu_init_rwsem(&rwsem);
	HERE(SBITMAP); err |= sbitmap_init_node(&bitmap, 1000, 5, GFP_KERNEL, NUMA_NO_NODE, false, true);
	HERE(SBQ); err |= sbitmap_queue_init_node(&queue, 64, 3, false, GFP_KERNEL, NUMA_NO_NODE);
	if (err)
		return -ENOMEM;
	expect_percpu(COUNTER, sizeof(s32));
	expect_percpu(REF, sizeof(long));
	expect(REF, 1, size_of(ref.data));
	expect_percpu(RWSEM, sizeof(int));
	expect_percpu(SBITMAP, sizeof(int));
	expect(SBITMAP, 1, size_of(bitmap.map));
	expect_percpu(SBQ, sizeof(int));
	expect(SBQ, 2, size_of(queue.sb.map) + size_of(queue.ws));
	return 0;
}

static int helpers_put(void)
{
	int id;

	percpu_counter_destroy(&counter);
	percpu_ref_exit(&ref);
	percpu_free_rwsem(&rwsem);
	sbitmap_free(&bitmap);
	sbitmap_queue_free(&queue);
	for (id = COUNTER; id <= SBQ; id++)
		lines[id].calls = lines[id].bytes = 0;
	return 0;
}

/* Mempools */

#define ELEMENT		100
#define RESERVE		4
#define MORE		8
#define USED		3
#define ORDER		1

static mempool_t *pool, pages;
static void *used[USED], *starved[RESERVE], *page_element;
static bool starve;

static void *picky_alloc(gfp_t gfp, void *data)
{
	return starve ? NULL : mempool_kmalloc(gfp, data);
}

static long element(void)
{
	return kmalloc_size_roundup(ELEMENT);
}

static int pool_create(void)
{
	HERE(POOL_MADE); pool = mempool_create(RESERVE, picky_alloc, mempool_kfree, (void *)ELEMENT);
	if (!pool)
		return -ENOMEM;
	expect(POOL_MADE, 2 + RESERVE, size_of(pool) +
	       size_of(pool->elements) + RESERVE * element());
	HERE(PAGES_MADE); if (mempool_init_page_pool(&pages, 2, ORDER))
		return -ENOMEM;
	expect(PAGES_MADE, 1 + 2, size_of(pages.elements) +
	       2 * (PAGE_SIZE << ORDER));
	return 0;
}

static int pool_use(void)
{
	int i;

	for (i = 0; i < USED; i++) {
		HERE(POOL_USED); used[i] = mempool_alloc(pool, GFP_KERNEL);
		if (!used[i])
			return -ENOMEM;
		expect(POOL_USED, 1, element());
	}
	HERE(PAGES_USED); page_element = mempool_alloc(&pages, GFP_KERNEL);
	if (!page_element)
		return -ENOMEM;
	expect(PAGES_USED, 1, PAGE_SIZE << ORDER);
	return 0;
}

/* Elements from the reserve stay charged to the creator of the pool. */
static int pool_starve(void)
{
	int i;

	starve = true;
	for (i = 0; i < RESERVE; i++) {
		HERE(POOL_STARVED); starved[i] = mempool_alloc(pool, GFP_NOWAIT);
		if (!starved[i])
			return -ENOMEM;
	}
	if (pool->curr_nr || mempool_alloc(pool, GFP_NOWAIT))
		return -EINVAL;
	starve = false;
	return 0;
}

/* The first freed elements fill the reserve and keep their line. */
static int pool_refill(void)
{
	mempool_free(used[USED - 1], pool);
	return 0;
}

static int pool_free(void)
{
	int i;

	for (i = 0; i < RESERVE; i++)
		mempool_free(starved[i], pool);
	/* one of them, charged to the creator, found no room in the reserve */
	expect(POOL_MADE, -1, -element());
	for (i = 0; i < USED - 1; i++) {
		mempool_free(used[i], pool);
		expect(POOL_USED, -1, -element());
	}
	mempool_free(page_element, &pages);
	expect(PAGES_USED, -1, -(long)(PAGE_SIZE << ORDER));
	return 0;
}

static int pool_grow(void)
{
	expect(POOL_MADE, -1, -size_of(pool->elements));
	HERE(POOL_GROWN); if (mempool_resize(pool, MORE))
		return -ENOMEM;
	expect(POOL_GROWN, 1 + MORE - RESERVE, size_of(pool->elements) +
	       (MORE - RESERVE) * element());
	return 0;
}

static int pool_destroy(void)
{
	int id;

	mempool_destroy(pool);
	mempool_exit(&pages);
	for (id = POOL_MADE; id <= PAGES_USED; id++)
		lines[id].calls = lines[id].bytes = 0;
	return 0;
}

/* Bios */

#define BIOS_KEPT	3

static struct bio_set set;
static struct bio *bio, *bio_of_set, *bio_clone, *bio_big;

static int bio_get_all(void)
{
	HERE(BIOSET); if (bioset_init(&set, BIOS_KEPT, 24, BIOSET_NEED_BVECS))
		return -ENOMEM;
	HERE(BIO); bio = bio_alloc(NULL, 2, REQ_OP_READ, GFP_KERNEL);
	HERE(BIO_OF_SET); bio_of_set = bio_alloc_bioset(NULL, 60, REQ_OP_READ, GFP_KERNEL, &set);
	HERE(BIO_CLONE); bio_clone = bio_alloc_clone(NULL, bio, GFP_KERNEL, &set);
	HERE(BIO_KMALLOC); bio_big = bio_kmalloc(7, GFP_KERNEL);
	if (!bio || !bio_of_set || !bio_clone || !bio_big)
		return -ENOMEM;
	lines[BIOSET].atleast = true;
	lines[BIO].atleast = true;
	lines[BIO_OF_SET].atleast = true;
	lines[BIO_CLONE].atleast = true;
	expect(BIOSET, 2 + 2 * BIOS_KEPT, BIOS_KEPT *
	       (sizeof(struct bio) + BIO_MAX_VECS * sizeof(struct bio_vec)));
	expect(BIO, 1, sizeof(struct bio));
	/* vectors come from a separate cache */
	expect(BIO_OF_SET, 2, sizeof(struct bio) + 60 * sizeof(struct bio_vec));
	expect(BIO_CLONE, 1, sizeof(struct bio));
	expect(BIO_KMALLOC, 1, size_of(bio_big));
	return 0;
}

static int bio_put_all(void)
{
	int id;

	bio_put(bio_clone);
	bio_put(bio_of_set);
	bio_put(bio);
	kfree(bio_big);
	bioset_exit(&set);
	for (id = BIOSET; id <= BIO_KMALLOC; id++) {
		lines[id].calls = lines[id].bytes = 0;
		lines[id].atleast = false;
	}
	return 0;
}

/* Hash tables */

#define NR_ITEMS	300

struct item {
	u32 key;
	struct rhash_head node;
};

static const struct rhashtable_params params = {
	.key_len = sizeof(u32),
	.key_offset = offsetof(struct item, key),
	.head_offset = offsetof(struct item, node),
	.automatic_shrinking = true,
};

static struct rhashtable hash;
static struct rhltable hash_list;
static struct item *items;

/* Waits until there is only one bucket table, of the final size. */
static void hash_settle(void)
{
	do {
		flush_work(&hash.run_work);
		rcu_barrier();
	} while (work_pending(&hash.run_work) ||
		 rcu_access_pointer(rcu_dereference_raw(hash.tbl)->future_tbl));
	lines[HASH].calls = 1;
	lines[HASH].bytes = size_of(rcu_dereference_raw(hash.tbl));
}

static int hash_init(void)
{
	items = kcalloc(NR_ITEMS, sizeof(*items), GFP_KERNEL);
	if (!items)
		return -ENOMEM;
	HERE(HASH); if (rhashtable_init(&hash, &params))
		return -ENOMEM;
	HERE(HASH_LIST); if (rhltable_init(&hash_list, &params))
		return -ENOMEM;
	expect(HASH_LIST, 1, size_of(rcu_dereference_raw(hash_list.ht.tbl)));
	hash_settle();
	return 0;
}

/* The same while profiling is off: the first tables are not counted. */
static int hash_init_off(void)
{
	int err = hash_init();

	lines[HASH].calls = lines[HASH].bytes = 0;
	lines[HASH_LIST].calls = lines[HASH_LIST].bytes = 0;
	return err;
}

static int hash_grow(void)
{
	unsigned int before = rcu_dereference_raw(hash.tbl)->size;
	int i, err;

	for (i = 0; i < NR_ITEMS; i++) {
		items[i].key = i;
		err = rhashtable_insert_fast(&hash, &items[i].node, params);
		if (err)
			return err;
	}
	hash_settle();
	return rcu_dereference_raw(hash.tbl)->size > before ? 0 : -EINVAL;
}

static int hash_shrink(void)
{
	unsigned int before = rcu_dereference_raw(hash.tbl)->size;
	int i;

	for (i = 0; i < NR_ITEMS - 10; i++)
		rhashtable_remove_fast(&hash, &items[i].node, params);
	hash_settle();
	return rcu_dereference_raw(hash.tbl)->size < before ? 0 : -EINVAL;
}

static int hash_destroy(void)
{
	rhashtable_destroy(&hash);
	rhltable_destroy(&hash_list);
	kfree(items);
	lines[HASH].calls = lines[HASH].bytes = 0;
	lines[HASH_LIST].calls = lines[HASH_LIST].bytes = 0;
	return 0;
}

/* Commands */

static const struct cmd steps[] = {
	{ "percpu_get", percpu_get },
	{ "percpu_put", percpu_put },
	{ "crowd_get", crowd_get },
	{ "crowd_half", crowd_half },
	{ "crowd_put", crowd_put },
	{ "helpers_get", helpers_get },
	{ "helpers_put", helpers_put },
	{ "pool_create", pool_create },
	{ "pool_use", pool_use },
	{ "pool_starve", pool_starve },
	{ "pool_refill", pool_refill },
	{ "pool_free", pool_free },
	{ "pool_grow", pool_grow },
	{ "pool_destroy", pool_destroy },
	{ "bio_get", bio_get_all },
	{ "bio_put", bio_put_all },
	{ "hash_init", hash_init },
	{ "hash_init_off", hash_init_off },
	{ "hash_grow", hash_grow },
	{ "hash_shrink", hash_shrink },
	{ "hash_destroy", hash_destroy },
};

static int command(char *line)
{
	return cmd_run(steps, ARRAY_SIZE(steps), line);
}

static void show_table(struct seq_file *m)
{
	const struct line *l;

	for (l = lines; l < lines + NR_LINES; l++)
		if (l->func)
			seq_printf(m, "%s %u %s %ld %ld %s\n", l->name, l->nr,
				   l->func, l->calls, l->bytes,
				   l->atleast ? "atleast" : "exact");
}
DEFINE_SHOW_ATTRIBUTE(table);

static int __init ctag_cover_percpu_init(void)
{
	this_cpu_write(static_area[0], 1);
	cmd_init();
	return 0;
}

static void __exit ctag_cover_percpu_exit(void)
{
	debugfs_remove(cmd_dir);
}

module_init(ctag_cover_percpu_init);
module_exit(ctag_cover_percpu_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Per-CPU memory, pools and tables of known size on known lines");
