// SPDX-License-Identifier: GPL-2.0-only
/*
 * Says that its license is not the GPL, so modpost refuses it if a function that all modules
 * could call before the series now needs a symbol for modules under the GPL. It calls such
 * functions, most of them macros or inline.
 *
 * Like OpenZFS, it also removes the macro kmem_cache_alloc(), to call the function. It holds 64
 * objects of the function and 32 of the macro.
 */
#include <linux/bitmap.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/fs.h>
#include <linux/mempool.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/scatterlist.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <linux/xarray.h>

static struct kmem_cache *cache;

static void *closed_macro(void)
{
	return kmem_cache_alloc(cache, GFP_KERNEL);
}

#undef kmem_cache_alloc
static void *closed_function(void)
{
	return kmem_cache_alloc(cache, GFP_KERNEL);
}

static void *objects[96];

/* Nothing calls this function. It only has to compile and to link. */
int closed_io(struct device *dev, struct inode *inode, int err, wait_queue_head_t *wait);
int closed_io(struct device *dev, struct inode *inode, int err, wait_queue_head_t *wait)
{
	struct net_device *net = alloc_etherdev(0);
	struct sk_buff *skb = netdev_alloc_skb(net, 100);
	dma_addr_t bus;
	void *p = dma_alloc_coherent(dev, PAGE_SIZE, &bus, GFP_KERNEL);

	mapping_set_error(inode->i_mapping, err);
	skb = skb_share_check(skb, GFP_ATOMIC);
	dma_free_coherent(dev, PAGE_SIZE, p, bus);
	kfree_skb(skb);
	free_netdev(net);
	return wait_event_interruptible_timeout(*wait, READ_ONCE(inode->i_state), 1);
}

/* Allocate each kind of memory and free it. */
static void closed_memory(size_t size)
{
	DEFINE_XARRAY(xa);
	mempool_t *pool = mempool_create_kmalloc_pool(1, size);
	struct sg_table table;
	struct page *page = alloc_page(GFP_KERNEL);
	void *p = krealloc(kmalloc(size, GFP_KERNEL), 2 * size, GFP_KERNEL);

	kfree(p);
	kfree(kzalloc(100, GFP_KERNEL));
	kfree(kcalloc(size, 2, GFP_KERNEL));
	kfree(kstrdup("closed", GFP_KERNEL));
	kfree(kmemdup("closed", 6, GFP_KERNEL));
	kfree(kasprintf(GFP_KERNEL, "%zu", size));
	kvfree(kvmalloc(size, GFP_KERNEL));
	vfree(vmalloc(size));
	vfree(vzalloc(size));
	bitmap_free(bitmap_zalloc(size, GFP_KERNEL));
	free_page(__get_free_page(GFP_KERNEL));
	free_page(get_zeroed_page(GFP_KERNEL));
	kfree_skb(alloc_skb(size, GFP_KERNEL));
	dev_kfree_skb(dev_alloc_skb(size));
	if (!sg_alloc_table(&table, 4, GFP_KERNEL))
		sg_free_table(&table);
	xa_store(&xa, 1, &xa, GFP_KERNEL);
	xa_destroy(&xa);
	mempool_destroy(pool);
	if (page)
		__free_page(page);
}

static void closed_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(objects); i++)
		if (objects[i])
			kmem_cache_free(cache, objects[i]);
	kmem_cache_destroy(cache);
}

static int __init closed_init(void)
{
	unsigned int i;

	/* SLUB never merges a cache of the second function with others */
	kmem_cache_destroy(kmem_cache_create("ctag_closed", 1000, 0, 0, NULL));
	cache = kmem_cache_create_usercopy("ctag_closed", 1000, 0, 0, 0, 1000, NULL);
	if (!cache)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(objects); i++) {
		objects[i] = i < 64 ? closed_function() : closed_macro();
		if (!objects[i]) {
			closed_exit();
			return -ENOMEM;
		}
	}
	closed_memory(200);
	return 0;
}

module_init(closed_init);
module_exit(closed_exit);
MODULE_LICENSE("Proprietary");
MODULE_DESCRIPTION("Calls what a module of any license may call");
