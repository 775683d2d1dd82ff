// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frees memory in unusual ways, on known lines.
 *
 * ctag_test has a line for each allocating function. This module frees memory in
 * other ways than by the matching call: late, by RCU; in another order and in
 * another context, like a balloon; page by page from a block; or never, because
 * the page is broken. It also has every kind of slab cache.
 *
 * /sys/kernel/debug/ctag_life/cmd accepts
 *
 *	inflate MIB	allocate MIB more, in single pages and blocks
 *	deflate		free all of them in another order, a part in a softirq of
 *			each CPU
 *	rcu N		allocate N objects of each kind that RCU frees, and free them
 *	barrier		wait for those that call_rcu() frees
 *	caches N	allocate N more objects in each of the caches
 *	uncache		free all of them
 *	retag N		charge N objects of the first cache to another line, until
 *			"unretag" frees them
 *	twins N		allocate N more objects in each of two caches that SLUB merges
 *	untwin		free those of the first cache
 *	page		allocate one page; the file "pfn" has its frame
 *	unpage		free it
 *	exact		allocate blocks whose size is no power of two, free them in
 *			two ways
 *	outlive		leak an object in KFENCE's pool, and destroy its cache
 *	stray N		allocate a page without a hook and free it, N times, in one place
 *	stray_block N	the same with two pages, in another place
 *
 * /sys/kernel/debug/ctag_life/table is like that of ctag_test. For objects that
 * RCU frees it shows 0, the number after the grace period.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/interrupt.h>
#include <linux/kfence.h>
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>

#include "ctag_cmd.h"

#define RCU_SIZE	120
#define BALLOON_GFP	(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN)
#define BLOCK_ORDER	2
#define CACHED_MAX	2048

/**
 * struct line - an allocation, its place and its memory
 * @line: its line
 * @func: its function
 * @calls: number of live allocations
 * @cache: for objects: their cache
 * @bytes: for other memory: number of bytes
 */
struct line {
	unsigned int line;
	const char *func;
	unsigned long calls;
	const char *cache;
	unsigned long bytes;
};

enum {
	SINGLE, BLOCK, RCU_HEAD, RCU_BARE, RCU_VMALLOC, RCU_CALL, RCU_CACHE,
	CACHE_PLAIN, CACHE_CTOR, CACHE_RCU, CACHE_NOTRACE, CACHE_ALIGNED,
	CACHE_ACCOUNT, CACHE_LARGE, TWIN_A, TWIN_B, RETAGGED, PAGE, EXACT, SPLIT,
	NR_LINES
};

static const char * const line_names[NR_LINES] = {
	[SINGLE] = "balloon_page", [BLOCK] = "balloon_block",
	[RCU_HEAD] = "kfree_rcu", [RCU_BARE] = "kfree_rcu_bare",
	[RCU_VMALLOC] = "kvfree_rcu", [RCU_CALL] = "call_rcu",
	[RCU_CACHE] = "rcu_cache",
	[CACHE_PLAIN] = "cache_plain", [CACHE_CTOR] = "cache_ctor",
	[CACHE_RCU] = "cache_rcu", [CACHE_NOTRACE] = "cache_notrace",
	[CACHE_ALIGNED] = "cache_aligned", [CACHE_ACCOUNT] = "cache_account",
	[CACHE_LARGE] = "cache_large", [TWIN_A] = "twin_a", [TWIN_B] = "twin_b",
	[RETAGGED] = "retagged", [PAGE] = "page", [EXACT] = "exact", [SPLIT] = "split",
};

static struct line lines[NR_LINES];

/* Must be on one line, which is then the line of the call. */
#define ON_LINE(_nr, _call) ({						\
	lines[_nr].line = __LINE__;					\
	lines[_nr].func = __func__;					\
	_call;								\
})

static void count(unsigned int nr, long calls, long bytes)
{
	lines[nr].calls += calls;
	lines[nr].bytes += bytes;
}

/* A balloon: pages are allocated in one order and freed in another. */

struct piece {
	struct page *page;
	unsigned int order;
};

static struct piece *pieces;
static unsigned long nr_pieces, max_pieces;

static struct page *balloon_page(void)
{
	return ON_LINE(SINGLE, alloc_page(BALLOON_GFP));
}

static struct page *balloon_block(void)
{
	return ON_LINE(BLOCK, alloc_pages(BALLOON_GFP | __GFP_COMP, BLOCK_ORDER));
}

/* Four of eight pages are a block. */
static int inflate(unsigned long mib)
{
	unsigned long pages = mib << (20 - PAGE_SHIFT);
	struct piece *p;

	if (nr_pieces)
		return -EBUSY;
	vfree(pieces);
	max_pieces = pages;
	pieces = vzalloc(array_size(max_pieces, sizeof(*pieces)));
	if (!pieces)
		return -ENOMEM;
	while (pages) {
		p = &pieces[nr_pieces];
		p->order = pages % 8 == 4 ? BLOCK_ORDER : 0;
		p->page = p->order ? balloon_block() : balloon_page();
		if (!p->page)
			return -ENOMEM;
		count(p->order ? BLOCK : SINGLE, 1, PAGE_SIZE << p->order);
		pages -= 1UL << p->order;
		nr_pieces++;
	}
	return 0;
}

static void give_back(struct piece *p)
{
	if (!p->page)
		return;
	__free_pages(p->page, p->order);
	p->page = NULL;
}

static unsigned long softirq_from;

/* Every fourth page from a position on */
static void deflate_softirq(struct tasklet_struct *t)
{
	unsigned long i;

	WARN_ON_ONCE(!in_serving_softirq());
	for (i = softirq_from; i < nr_pieces; i += 4)
		give_back(&pieces[i]);
}

static DECLARE_TASKLET(deflate_tasklet, deflate_softirq);

static void deflate_raise(void *unused)
{
	tasklet_schedule(&deflate_tasklet);
}

static int deflate(void)
{
	unsigned long i, n = 0;
	int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		softirq_from = n++ % 4;
		smp_call_function_single(cpu, deflate_raise, NULL, 1);
		/* wait until it has run */
		tasklet_kill(&deflate_tasklet);
	}
	cpus_read_unlock();
	/* The rest, the last one first, every third one late */
	for (i = nr_pieces; i--;)
		if (i % 3)
			give_back(&pieces[i]);
	for (i = 0; i < nr_pieces; i++)
		give_back(&pieces[i]);
	nr_pieces = 0;
	count(SINGLE, -lines[SINGLE].calls, -lines[SINGLE].bytes);
	count(BLOCK, -lines[BLOCK].calls, -lines[BLOCK].bytes);
	return 0;
}

/* Objects that RCU frees, in all possible ways */

struct rcu_object {
	char payload[RCU_SIZE - sizeof(struct rcu_head)];
	struct rcu_head rcu;
};

static struct kmem_cache *rcu_cache;

static void rcu_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct rcu_object, rcu));
}

static void rcu_cache_free(struct rcu_head *rcu)
{
	kmem_cache_free(rcu_cache, container_of(rcu, struct rcu_object, rcu));
}

static int rcu_round(void)
{
	struct rcu_object *head, *call, *cached;
	void *bare, *area;

	head = ON_LINE(RCU_HEAD, kmalloc(sizeof(*head), GFP_KERNEL));
	bare = ON_LINE(RCU_BARE, kmalloc(200, GFP_KERNEL));
	area = ON_LINE(RCU_VMALLOC, vmalloc(2 * PAGE_SIZE));
	call = ON_LINE(RCU_CALL, kmalloc(sizeof(*call), GFP_KERNEL));
	cached = ON_LINE(RCU_CACHE, kmem_cache_alloc(rcu_cache, GFP_KERNEL));
	if (head)
		kfree_rcu(head, rcu);
	if (bare)
		kvfree_rcu(bare);
	if (area)
		kvfree_rcu(area);
	if (call)
		call_rcu(&call->rcu, rcu_free);
	if (cached)
		call_rcu(&cached->rcu, rcu_cache_free);
	return head && bare && area && call && cached ? 0 : -ENOMEM;
}

/* Caches of every kind (r16: including those that other tools leave out) */

struct kind {
	const char *name;
	unsigned int size, align;
	slab_flags_t flags;
	void (*ctor)(void *object);
	struct kmem_cache *cache;
	void **slot;
};

static void construct(void *object)
{
	memset(object, 0x5a, 16);
}

static struct kind kinds[] = {
	[CACHE_PLAIN] = { "ctag_life_plain", 40 },
	[CACHE_CTOR] = { "ctag_life_ctor", 200, .ctor = construct },
	[CACHE_RCU] = { "ctag_life_rcu", 104, .flags = SLAB_TYPESAFE_BY_RCU },
	[CACHE_NOTRACE] = { "ctag_life_notrace", 88, .flags = SLAB_NOLEAKTRACE },
	[CACHE_ALIGNED] = { "ctag_life_aligned", 72, 64, SLAB_HWCACHE_ALIGN },
	[CACHE_ACCOUNT] = { "ctag_life_account", 136, .flags = SLAB_ACCOUNT },
	[CACHE_LARGE] = { "ctag_life_large", 5000 },
	[TWIN_A] = { "ctag_life_twin_a", 328 },
	[TWIN_B] = { "ctag_life_twin_b", 328 },
};

static void *kind_alloc(unsigned int nr)
{
	struct kmem_cache *c = kinds[nr].cache;
	gfp_t gfp = GFP_KERNEL;

	switch (nr) {
	case CACHE_PLAIN:
		return ON_LINE(CACHE_PLAIN, kmem_cache_alloc(c, gfp));
	case CACHE_CTOR:
		return ON_LINE(CACHE_CTOR, kmem_cache_alloc(c, gfp));
	case CACHE_RCU:
		return ON_LINE(CACHE_RCU, kmem_cache_alloc(c, gfp));
	case CACHE_NOTRACE:
		return ON_LINE(CACHE_NOTRACE, kmem_cache_alloc(c, gfp));
	case CACHE_ALIGNED:
		return ON_LINE(CACHE_ALIGNED, kmem_cache_alloc(c, gfp));
	case CACHE_ACCOUNT:
		return ON_LINE(CACHE_ACCOUNT, kmem_cache_alloc(c, gfp));
	case CACHE_LARGE:
		return ON_LINE(CACHE_LARGE, kmem_cache_alloc(c, gfp));
	case TWIN_A:
		return ON_LINE(TWIN_A, kmem_cache_alloc(c, gfp));
	default:
		return ON_LINE(TWIN_B, kmem_cache_alloc(c, gfp));
	}
}

static int kind_take(unsigned int nr, unsigned long n)
{
	struct line *l = &lines[nr];

	for (; n; n--) {
		if (l->calls == CACHED_MAX)
			return -ENOSPC;
		kinds[nr].slot[l->calls] = kind_alloc(nr);
		if (!kinds[nr].slot[l->calls])
			return -ENOMEM;
		l->calls++;
	}
	return 0;
}

/* The first half one by one, the rest in bulk */
static void kind_give(unsigned int nr)
{
	struct line *l = &lines[nr];
	unsigned long i, half = l->calls / 2;

	for (i = 0; i < half; i++)
		kmem_cache_free(kinds[nr].cache, kinds[nr].slot[i]);
	if (l->calls)
		kmem_cache_free_bulk(kinds[nr].cache, l->calls - half,
				     kinds[nr].slot + half);
	l->calls = 0;
}

static int kinds_take(unsigned int from, unsigned int to, unsigned long n)
{
	int err = 0;

	for (; from <= to && !err; from++)
		err = kind_take(from, n);
	return err;
}

static void kinds_give(unsigned int from, unsigned int to)
{
	for (; from <= to; from++)
		kind_give(from);
}

/* Objects charged to another line, as by code that keeps freed objects for reuse */

static void *retagged[CACHED_MAX];

static int retag(unsigned long n)
{
	struct line *from = &lines[CACHE_PLAIN], *to = &lines[RETAGGED];
	struct kind *k = &kinds[CACHE_PLAIN];
	void *object;

	for (; n; n--) {
		if (!from->calls || to->calls == CACHED_MAX)
			return -ENOENT;
		object = k->slot[--from->calls];
		retagged[to->calls++] =
			ON_LINE(RETAGGED, kmem_cache_retag(k->cache, object));
	}
	return 0;
}

static void unretag(void)
{
	struct line *l = &lines[RETAGGED];

	while (l->calls)
		kmem_cache_free(kinds[CACHE_PLAIN].cache, retagged[--l->calls]);
}

/* A single page, and blocks with an odd number of pages */

static void outlive_init(void *object)
{
}

/* The constructor keeps SLUB from merging the cache with another one. */
static int outlive(void)
{
	struct kmem_cache *cache = kmem_cache_create("ctag_outlive", 100, 0, 0,
						     outlive_init);
	int tries, err = -EAGAIN;
	void *object;

	if (!cache)
		return -ENOMEM;
	for (tries = 0; tries < 2000; tries++) {
		object = kmem_cache_alloc(cache, GFP_KERNEL);
		if (is_kfence_address(object)) {
			err = 0;
			break;
		}
		kmem_cache_free(cache, object);
		usleep_range(500, 1000);
	}
	kmem_cache_destroy(cache);
	return err;
}

static struct page *the_page;

static int page_take(void)
{
	if (the_page)
		return -EBUSY;
	the_page = ON_LINE(PAGE, alloc_page(GFP_KERNEL));
	if (!the_page)
		return -ENOMEM;
	count(PAGE, 1, PAGE_SIZE);
	return 0;
}

static int page_give(void)
{
	if (!the_page)
		return -ENOENT;
	__free_page(the_page);
	the_page = NULL;
	count(PAGE, -1, -(long)PAGE_SIZE);
	return 0;
}

/* 5 of 8 pages, 3 of which are freed at once; and a block that is split by hand */
static int exact_round(void)
{
	struct page *block;
	unsigned int i;
	void *p;

	p = ON_LINE(EXACT, alloc_pages_exact(5 * PAGE_SIZE, GFP_KERNEL));
	if (!p)
		return -ENOMEM;
	free_pages_exact(p, 5 * PAGE_SIZE);

	block = ON_LINE(SPLIT, alloc_pages(GFP_KERNEL, 4));
	if (!block)
		return -ENOMEM;
	split_page(block, 4);
	for (i = 0; i < 16; i += 2)
		__free_page(block + i);
	for (i = 15; i < 16; i -= 2)
		put_page(block + i);
	return 0;
}

/*
 * Memory that is charged to no line. The functions are not inline, so that traces
 * name them.
 */

static noinline int stray_round(void)
{
	struct page *page = alloc_pages_noprof(GFP_KERNEL, 0);

	if (!page)
		return -ENOMEM;
	__free_page(page);
	return 0;
}

static noinline int stray_block_round(void)
{
	struct page *block = alloc_pages_noprof(GFP_KERNEL, 1);

	if (!block)
		return -ENOMEM;
	__free_pages(block, 1);
	return 0;
}

/* Commands */

static int rounds(int (*round)(void), unsigned long n)
{
	int err = 0;

	while (n-- && !err)
		err = round();
	return err;
}

static int command(char *line)
{
	unsigned long n = 1;
	char verb[16];

	if (sscanf(line, "%15s %lu", verb, &n) < 1)
		return -EINVAL;
	if (!strcmp(verb, "inflate"))
		return inflate(n);
	if (!strcmp(verb, "deflate"))
		return deflate();
	if (!strcmp(verb, "rcu"))
		return rounds(rcu_round, n);
	if (!strcmp(verb, "exact"))
		return rounds(exact_round, n);
	if (!strcmp(verb, "stray"))
		return rounds(stray_round, n);
	if (!strcmp(verb, "stray_block"))
		return rounds(stray_block_round, n);
	if (!strcmp(verb, "caches"))
		return kinds_take(CACHE_PLAIN, CACHE_LARGE, n);
	if (!strcmp(verb, "twins"))
		return kinds_take(TWIN_A, TWIN_B, n);
	if (!strcmp(verb, "retag"))
		return retag(n);
	if (!strcmp(verb, "outlive"))
		return outlive();
	if (!strcmp(verb, "page"))
		return page_take();
	if (!strcmp(verb, "unpage"))
		return page_give();
	if (!strcmp(verb, "barrier"))
		rcu_barrier();
	else if (!strcmp(verb, "uncache"))
		kinds_give(CACHE_PLAIN, TWIN_B);
	else if (!strcmp(verb, "unretag"))
		unretag();
	else if (!strcmp(verb, "untwin"))
		kinds_give(TWIN_A, TWIN_A);
	else
		return -EINVAL;
	return 0;
}

static void show_table(struct seq_file *m)
{
	const struct line *l;
	unsigned int i;

	for (i = 0; i < NR_LINES; i++) {
		l = &lines[i];
		if (!l->line)
			continue;
		seq_printf(m, "%s %u %s %lu %lu %s exact\n", line_names[i],
			   l->line, l->func, l->calls,
			   l->cache ? l->calls : l->bytes, l->cache ?: "bytes");
	}
}
DEFINE_SHOW_ATTRIBUTE(table);

static int pfn_show(struct seq_file *m, void *unused)
{
	mutex_lock(&cmd_lock);
	if (the_page)
		seq_printf(m, "0x%lx\n", page_to_pfn(the_page));
	mutex_unlock(&cmd_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(pfn);

/* Init */

static void tear_down(void)
{
	struct kind *k;

	deflate();
	vfree(pieces);
	page_give();
	unretag();
	kinds_give(CACHE_PLAIN, TWIN_B);
	for (k = kinds + CACHE_PLAIN; k <= kinds + TWIN_B; k++) {
		vfree(k->slot);
		kmem_cache_destroy(k->cache);
	}
	/* kfree_rcu() needs no code of this module, the other ways do. */
	rcu_barrier();
	kmem_cache_destroy(rcu_cache);
}

static int set_up(void)
{
	struct kind *k;

	rcu_cache = kmem_cache_create("ctag_life_call_rcu",
				      sizeof(struct rcu_object), 0, 0, NULL);
	if (!rcu_cache)
		return -ENOMEM;
	for (k = kinds + CACHE_PLAIN; k <= kinds + TWIN_B; k++) {
		k->slot = vzalloc(array_size(CACHED_MAX, sizeof(*k->slot)));
		k->cache = kmem_cache_create(k->name, k->size, k->align,
					     k->flags, k->ctor);
		if (!k->slot || !k->cache)
			return -ENOMEM;
		lines[k - kinds].cache = k->name;
	}
	lines[RETAGGED].cache = kinds[CACHE_PLAIN].name;
	return 0;
}

static int __init ctag_life_init(void)
{
	int err = set_up();

	if (err) {
		tear_down();
		return err;
	}
	cmd_init();
	debugfs_create_file("pfn", 0400, cmd_dir, NULL, &pfn_fops);
	return 0;
}

static void __exit ctag_life_exit(void)
{
	debugfs_remove(cmd_dir);
	tear_down();
}

module_init(ctag_life_init);
module_exit(ctag_life_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Known memory that ends in unusual ways");
