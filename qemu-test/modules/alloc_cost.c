// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures the cost of an allocation and its free: when loaded, it prints one
 * line per case to the console, "alloc_cost: CASE COST", and does not stay loaded.
 *
 * The module is for a guest with one CPU under -icount: a cycle is an
 * instruction, and the figure is the same in every run. User Mode Linux has no
 * cycle counter, and may have no user space that could load a module. So it is
 * built in there, counts picoseconds during boot, and then halts the kernel.
 *
 * The smallest of many batches, with interrupts off, is the cost of the fast
 * path. The cost of the loop is the same in every kernel.
 */
#include <linux/delay.h>
#include <linux/gfp.h>
#include <linux/irqflags.h>
#include <linux/kmod.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/reboot.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>
#include <linux/vmalloc.h>

/*
 * The clock of User Mode Linux ticks every 256 ns, and its host does other work. So the
 * batches are longer there, and there are more of them.
 */
#if defined(CONFIG_UML)
#define BATCH		8192
#define FEW		128
#define BATCHES		1024
#define now()		(1000 * ktime_get_mono_fast_ns())
#elif defined(CONFIG_ARM64)
/*
 * The clock counts nanoseconds, of which an instruction takes one, and advances by 16 at a
 * time. Long batches make that a small part of an instruction.
 */
#define BATCH		1024
#define FEW		1
#define BATCHES		64
#define now()		((u64)get_cycles() * (NSEC_PER_SEC / arch_timer_get_cntfrq()))
#else
#define BATCH		64
#define FEW		1
#define BATCHES		64
#define now()		((u64)get_cycles())
#endif

#define WARM_UP		8192
#define MANY		256
#define BULK		16
#define HELD		4096
#define AREAS		32768

static bool few;
module_param(few, bool, 0);
MODULE_PARM_DESC(few, "only the cases of one object or page");

static char *setup;
module_param(setup, charp, 0);
MODULE_PARM_DESC(setup, "a script to run first, when the module's tags exist");

/* Mainline renamed it. */
#ifdef alloc_pages_bulk
#define alloc_pages_bulk_array	alloc_pages_bulk
#endif

static struct kmem_cache *cache, *path_cache;
static void *many[MANY];
static struct page *held[HELD];
static u64 __percpu *areas[AREAS];

/* Enough changes for a counter to get its per-CPU parts. */
#define WARM(_pair)							\
do {									\
	unsigned int i;							\
									\
	for (i = 0; i < WARM_UP; i++) {					\
		_pair;							\
	}								\
	msleep(50);							\
} while (0)

#define MEASURE(_name, _batch, _irqs_off, _pair)			\
do {									\
	u64 start, took, best = U64_MAX;				\
	unsigned long flags = 0;					\
	unsigned int round;						\
									\
	for (round = 0; round <= BATCHES; round++) {			\
		unsigned int n;						\
									\
		if (!round) {						\
			WARM(_pair);					\
			continue;					\
		}							\
		if (_irqs_off)						\
			local_irq_save(flags);				\
		start = now();						\
		for (n = 0; n < (_batch); n++) {			\
			_pair;						\
		}							\
		took = now() - start;					\
		if (_irqs_off)						\
			local_irq_restore(flags);			\
		best = min(best, took);					\
	}								\
	pr_info("alloc_cost: %s %llu\n", _name,				\
		div_u64(best, _batch));					\
} while (0)

static __always_inline void kmalloc_pair(size_t size)
{
	void *p = kmalloc(size, GFP_ATOMIC);

	barrier_data(p);
	kfree(p);
}

static __always_inline void pages_pair(unsigned int order)
{
	struct page *page = alloc_pages(GFP_ATOMIC, order);

	barrier_data(page);
	if (page)
		__free_pages(page, order);
}

static __always_inline void cache_pair(struct kmem_cache *s)
{
	void *p = kmem_cache_alloc(s, GFP_ATOMIC);

	barrier_data(p);
	if (p)
		kmem_cache_free(s, p);
}

static void vmalloc_pair(void)
{
	vfree(vmalloc(16384));
}

/*
 * Mainline does not account the per-CPU areas of the first chunk. This function fills that chunk
 * and a part of the second one, and then frees an area of the second one. The measured area takes
 * that place, between two others: the cost of a free depends on the distance to the next area.
 */
static void __init fill_first_chunk(void)
{
	unsigned int i;

	for (i = 0; i < AREAS; i++)
		areas[i] = alloc_percpu(u64);
	free_percpu(areas[AREAS - 64]);
	areas[AREAS - 64] = NULL;
}

static void __init release_areas(void)
{
	unsigned int i;

	for (i = 0; i < AREAS; i++)
		free_percpu(areas[i]);
}

static void percpu_pair(void)
{
	free_percpu(alloc_percpu(u64));
}

static void bulk_objects(void)
{
	if (kmem_cache_alloc_bulk(cache, GFP_ATOMIC, BULK, many))
		kmem_cache_free_bulk(cache, BULK, many);
}

static void bulk_pages(void)
{
	unsigned int i;

	memset(many, 0, BULK * sizeof(*many));
	alloc_pages_bulk_array(GFP_ATOMIC, BULK, (struct page **)many);
	for (i = 0; i < BULK; i++)
		if (many[i])
			__free_page(many[i]);
}

static void many_objects(void)
{
	unsigned int i;

	for (i = 0; i < MANY; i++)
		many[i] = kmalloc(64, GFP_ATOMIC);
	for (i = 0; i < MANY; i++)
		kfree(many[i]);
}

static void many_pages(void)
{
	unsigned int i;

	for (i = 0; i < MANY; i++)
		many[i] = alloc_page(GFP_ATOMIC);
	for (i = 0; i < MANY; i++)
		if (many[i])
			__free_page(many[i]);
}

/*
 * Freed pages may merge, depending on their addresses, and merging costs more than the
 * pair itself. Holding the even pages prevents the odd ones from merging.
 */
static void __init scatter_pages(void)
{
	unsigned int i;

	for (i = 0; i < HELD; i++)
		held[i] = alloc_page(GFP_KERNEL);
	for (i = 0; i < HELD; i++) {
		if (held[i] && page_to_pfn(held[i]) % 2) {
			__free_page(held[i]);
			held[i] = NULL;
		}
	}
}

static void __init release_pages_held(void)
{
	unsigned int i;

	for (i = 0; i < HELD; i++)
		if (held[i])
			__free_page(held[i]);
}

static int __init run_setup(void)
{
	static char *envp[] = { "PATH=/bin:/sbin", NULL };
	char *argv[] = { "/bin/sh", setup, NULL };

	return setup ? call_usermodehelper(argv[0], argv, envp, UMH_WAIT_PROC) : 0;
}

static int __init alloc_cost_init(void)
{
	if (run_setup())
		return -ECANCELED;
	cache = kmem_cache_create("alloc_cost", 192, 0, 0, NULL);
	/* Like names_cache, which no other cache is merged with. */
	path_cache = kmem_cache_create_usercopy("alloc_cost_path", PATH_MAX, 0,
						SLAB_HWCACHE_ALIGN, 0, PATH_MAX, NULL);
	if (!cache || !path_cache)
		goto out;

	MEASURE("kmalloc-8", BATCH, true, kmalloc_pair(8));
	MEASURE("kmalloc-64", BATCH, true, kmalloc_pair(64));
	MEASURE("kmalloc-1024", BATCH, true, kmalloc_pair(1024));
	MEASURE("kmalloc-4096", BATCH, true, kmalloc_pair(4096));
	MEASURE("kmem_cache-192", BATCH, true, cache_pair(cache));
	MEASURE("order-0", BATCH, true, pages_pair(0));
	if (few)
		goto out;
	MEASURE("kmem_cache-4096", BATCH, true, cache_pair(path_cache));
	MEASURE("order-2", BATCH, true, pages_pair(2));
	MEASURE("kmalloc-16k", BATCH, true, kmalloc_pair(16384));
	MEASURE("256-kmalloc-64", FEW, true, many_objects());
	/* In 6.1 the bulk allocation enables interrupts. */
	MEASURE("16-bulk-192", BATCH, false, bulk_objects());
	scatter_pages();
	MEASURE("256-order-0", FEW, true, many_pages());
	MEASURE("16-bulk-order-0", BATCH, true, bulk_pages());
	release_pages_held();
	MEASURE("vmalloc-16k", 16, false, vmalloc_pair());
	fill_first_chunk();
	MEASURE("percpu-8", 16, false, percpu_pair());
	release_areas();
out:
	kmem_cache_destroy(path_cache);
	kmem_cache_destroy(cache);
#ifndef MODULE
	kernel_halt();
#endif
	/* No error: the module has done its work and need not stay. */
	return -EAGAIN;
}

#ifdef MODULE
module_init(alloc_cost_init);
#else
/* A late initcall: by then the allocators work as in a running system. */
late_initcall_sync(alloc_cost_init);
#endif

MODULE_DESCRIPTION("Cost of an allocation and a free");
MODULE_LICENSE("GPL");
