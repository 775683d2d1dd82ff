// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holds memory of each kind on one node while it is loaded: insmod ctag_nodes.ko node=1
 *
 * Each allocation has a function of its own, so the lines of this module tell what
 * /proc/allocinfo.nodes must show:
 *
 *	nodes_pages	32 pages in compound blocks of 4
 *	nodes_small	100 objects of 512 bytes
 *	nodes_large	8 objects of 8 KiB
 *	nodes_vmalloc	16 pages
 *	nodes_tails	a block of 8 pages that is not compound
 *	nodes_percpu	64 bytes for each CPU
 *
 * It also creates and destroys a cache whose slabs are freed by RCU.
 */
#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#define NR_PAGES	8
#define NR_SMALL	100
#define NR_LARGE	8

static int node;
module_param(node, int, 0);
MODULE_PARM_DESC(node, "the node");

static struct page *pages[NR_PAGES], *tails;
static void *small[NR_SMALL], *large[NR_LARGE], *area;
static void __percpu *cpus;

static noinline bool nodes_pages(unsigned int i)
{
	pages[i] = alloc_pages_node(node, GFP_KERNEL | __GFP_THISNODE | __GFP_COMP, 2);
	return pages[i];
}

static noinline bool nodes_small(unsigned int i)
{
	small[i] = kmalloc_node(512, GFP_KERNEL | __GFP_THISNODE, node);
	return small[i];
}

static noinline bool nodes_large(unsigned int i)
{
	large[i] = kmalloc_node(8192, GFP_KERNEL | __GFP_THISNODE, node);
	return large[i];
}

static noinline bool nodes_vmalloc(void)
{
	area = vmalloc_node(16 * PAGE_SIZE, node);
	return area;
}

static noinline bool nodes_tails(void)
{
	tails = alloc_pages_node(node, GFP_KERNEL | __GFP_THISNODE, 3);
	return tails;
}

static noinline bool nodes_percpu(void)
{
	cpus = __alloc_percpu(64, 64);
	return cpus;
}

static void nodes_free(void)
{
	unsigned int i;

	for (i = 0; i < NR_PAGES; i++)
		if (pages[i])
			__free_pages(pages[i], 2);
	for (i = 0; i < NR_SMALL; i++)
		kfree(small[i]);
	for (i = 0; i < NR_LARGE; i++)
		kfree(large[i]);
	vfree(area);
	if (tails)
		__free_pages(tails, 3);
	free_percpu(cpus);
}

/* The slabs, and after them the cache, are freed after the module is gone. */
static noinline bool nodes_rcu_cache(void)
{
	struct kmem_cache *cache = kmem_cache_create("ctag_nodes_rcu", 256, 0,
						     SLAB_TYPESAFE_BY_RCU, NULL);
	static void *objects[NR_SMALL];
	unsigned int i;

	if (!cache)
		return false;
	for (i = 0; i < NR_SMALL; i++)
		objects[i] = kmem_cache_alloc(cache, GFP_KERNEL);
	for (i = 0; i < NR_SMALL; i++)
		if (objects[i])
			kmem_cache_free(cache, objects[i]);
	kmem_cache_destroy(cache);
	return true;
}

static int __init nodes_init(void)
{
	bool good = nodes_vmalloc() && nodes_tails() && nodes_percpu() && nodes_rcu_cache();
	unsigned int i;

	for (i = 0; i < NR_PAGES; i++)
		good = good && nodes_pages(i);
	for (i = 0; i < NR_SMALL; i++)
		good = good && nodes_small(i);
	for (i = 0; i < NR_LARGE; i++)
		good = good && nodes_large(i);
	if (good)
		return 0;
	nodes_free();
	return -ENOMEM;
}
module_init(nodes_init);

static void __exit nodes_exit(void)
{
	nodes_free();
}
module_exit(nodes_exit);

MODULE_DESCRIPTION("Memory on one node, for /proc/allocinfo.nodes");
MODULE_LICENSE("GPL");
