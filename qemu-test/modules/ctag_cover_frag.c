// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fragments of pages, and pages of pools: a page is charged to the line for which
 * the cache of fragments took it, or to the line that created the pool. See
 * ctag_cover.h.
 *
 * The kernel has a cache of fragments for each CPU. other_frag() makes a line hold
 * exactly one page: before the call it uses up the page of the cache and holds it,
 * after the call it makes the cache drop the page of the line. So at most one page
 * per CPU stays charged to other_frag(), even after this module is unloaded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bottom_half.h>
#include <linux/irqflags.h>
#include <linux/mm.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <net/page_pool.h>

#include "ctag_cover.h"

#define HEAD		"skbuff_head_cache"
#define WHOLE		PAGE_FRAG_CACHE_MAX_SIZE
#define FRAG		2000	/* a fragment and a buffer together exceed 4 KiB */

#define ALIGN_MASK	(~(SMP_CACHE_BYTES - 1u))

static struct napi_struct napi;

/* A private cache */

/* A function, because a macro would be all on one line. */
static struct page_frag_cache *new_cache(void)
{
	return kzalloc(sizeof(struct page_frag_cache), GFP_KERNEL);
}

#define MAKE_OWN(_name, _call)						\
static void *make_##_name(struct cover *c)				\
{									\
	struct page_frag_cache *nc = new_cache();			\
	void *p;							\
									\
	if (!nc)							\
		return NULL;						\
	HERE(c); p = (_call);						\
	if (!p) {							\
		kfree(nc);						\
		return NULL;						\
	}								\
	costs_pages(c, 1, page_size(virt_to_head_page(p)));		\
	page_frag_free(p);						\
	return nc;							\
}

MAKE_OWN(page_frag, page_frag_alloc(nc, FRAG, GFP_KERNEL))
MAKE_OWN(page_frag_align, page_frag_alloc_align(nc, FRAG, GFP_KERNEL, ALIGN_MASK))

/* At the end only the references of the cache are left. */
static void drop_cache(void *p)
{
	struct page_frag_cache *nc = p;

	__page_frag_cache_drain(virt_to_head_page(nc->va), nc->pagecnt_bias);
	kfree(nc);
}

/* The kernel's caches: one for interrupts, one for other contexts. */

static void *other_frag(unsigned int size)
{
	return netdev_alloc_frag(size);
}

static void free_frag(void *p)
{
	if (p)
		skb_free_frag(p);
}

/**
 * struct between - state around an allocation from a cache of the kernel
 * @flags: saved interrupt flags
 * @irqs_off: interrupts are off, which selects the other cache
 * @before: holds the page of the cache
 */
struct between {
	unsigned long flags;
	bool irqs_off;
	void *before;
};

/* After this the next fragment on this CPU takes a new page. */
static void used_up(struct between *b, bool irqs_off)
{
	b->irqs_off = irqs_off;
	if (irqs_off)
		local_irq_save(b->flags);
	else
		local_bh_disable();
	b->before = other_frag(WHOLE);
}

/* After this the cache has another page again. */
static void *replaced(struct between *b, void *p)
{
	void *after = other_frag(WHOLE);
	bool ok = p && b->before && after;

	free_frag(b->before);
	free_frag(after);
	if (b->irqs_off)
		local_irq_restore(b->flags);
	else
		local_bh_enable();
	return ok ? p : NULL;
}

#define MAKE_FRAG(_name, _irqs_off, _call)				\
static void *make_##_name(struct cover *c)				\
{									\
	struct between b;						\
	void *p;							\
									\
	used_up(&b, _irqs_off);						\
	HERE(c); p = (_call);						\
	costs_pages(c, 1, WHOLE);					\
	return replaced(&b, p);						\
}

MAKE_FRAG(netdev_frag, false, netdev_alloc_frag(FRAG))
MAKE_FRAG(netdev_frag_irq, true, netdev_alloc_frag(FRAG))
MAKE_FRAG(netdev_frag_align, false, netdev_alloc_frag_align(FRAG, 64))
MAKE_FRAG(napi_frag, false, napi_alloc_frag(FRAG))
MAKE_FRAG(napi_frag_align, false, napi_alloc_frag_align(FRAG, 64))

static void drop_frag(void *p)
{
	skb_free_frag(p);
}

/* Buffers with their data in a fragment */

#define MAKE_SKB(_name, _irqs_off, _call)				\
static void *make_##_name(struct cover *c)				\
{									\
	struct between b;						\
	struct sk_buff *skb;						\
									\
	used_up(&b, _irqs_off);						\
	HERE(c); skb = (_call);						\
	costs_object(c, HEAD);						\
	costs_pages(c, 1, WHOLE);					\
	return replaced(&b, skb);					\
}

MAKE_SKB(netdev_skb, false, netdev_alloc_skb(NULL, FRAG))
MAKE_SKB(netdev_skb_irq, true, netdev_alloc_skb(NULL, FRAG))
MAKE_SKB(dev_skb, false, dev_alloc_skb(FRAG))
MAKE_SKB(napi_skb, false, napi_alloc_skb(&napi, FRAG))

/* From a page that the cache took for another line */
static void *make_netdev_skb_shared(struct cover *c)
{
	struct sk_buff *skb;
	void *full, *begun;

	local_bh_disable();
	full = other_frag(WHOLE);
	begun = other_frag(64);
	HERE(c); skb = netdev_alloc_skb(NULL, FRAG);
	costs_object(c, HEAD);
	free_frag(full);
	free_frag(begun);
	local_bh_enable();
	return skb;
}

static void drop_skb(void *p)
{
	kfree_skb(p);
}

/*
 * The cache for small buffers of NAPI cuts pages into four; the last part is the
 * beginning of the page. After that the cache has no page.
 */
static struct sk_buff *other_small(void)
{
	return napi_alloc_skb(&napi, 100);
}

static void use_up_small(struct sk_buff_head *list)
{
	struct sk_buff *skb;

	do {
		skb = other_small();
		if (!skb)
			return;
		__skb_queue_tail(list, skb);
	} while (offset_in_page(skb->head) && skb->head_frag);
}

static void *make_napi_get_frags(struct cover *c)
{
	struct sk_buff_head list;
	struct sk_buff *skb;

	__skb_queue_head_init(&list);
	local_bh_disable();
	use_up_small(&list);
	HERE(c); skb = napi_get_frags(&napi);
	napi.skb = NULL;
	costs_object(c, HEAD);
	if (skb && skb->head_frag) {
		costs_pages(c, 1, PAGE_SIZE);
		use_up_small(&list);
	} else if (skb) {
		costs_kmalloc(c, ksize(skb->head));
	}
	local_bh_enable();
	__skb_queue_purge(&list);
	return skb;
}

/* Pools of pages, if the kernel has them */

#if IS_ENABLED(CONFIG_PAGE_POOL)

#define RING		16
#define TAKEN		3

struct pool {
	struct page_pool *pool;
	struct page *page[TAKEN];
};

static void drop_pool(void *p)
{
	struct pool *pool = p;
	unsigned int i;

	for (i = 0; i < TAKEN && pool->page[i]; i++)
		page_pool_put_full_page(pool->pool, pool->page[i], false);
	page_pool_destroy(pool->pool);
	kfree(pool);
}

static void *other_pages(struct pool *pool)
{
	unsigned int i;

	for (i = 0; i < TAKEN; i++) {
		pool->page[i] = page_pool_alloc_pages(pool->pool, GFP_KERNEL);
		if (!pool->page[i]) {
			drop_pool(pool);
			return NULL;
		}
	}
	return pool;
}

/* A function, because a macro would be all on one line. */
static struct pool *new_pool(void)
{
	return kzalloc(sizeof(struct pool), GFP_KERNEL);
}

#define MAKE_POOL(_name, _order, _blocks)				\
static void *make_##_name(struct cover *c)				\
{									\
	struct page_pool_params params = {				\
		.order = _order, .pool_size = RING,			\
		.nid = NUMA_NO_NODE,					\
	};								\
	struct pool *pool = new_pool();					\
									\
	if (!pool)							\
		return NULL;						\
	HERE(c); pool->pool = page_pool_create(&params);		\
	if (IS_ERR(pool->pool)) {					\
		kfree(pool);						\
		return NULL;						\
	}								\
	costs_kmalloc(c, sizeof(struct page_pool));			\
	costs_kmalloc(c, RING * sizeof(void *));			\
	costs_pages(c, _blocks, PAGE_SIZE << params.order);		\
	return other_pages(pool);					\
}

/* The pool allocates single pages in bulk and keeps the rest. */
MAKE_POOL(page_pool, 0, PP_ALLOC_CACHE_REFILL)
MAKE_POOL(page_pool_order, 1, TAKEN)

#endif /* CONFIG_PAGE_POOL */

static struct cover covers[] = {
	COVER(page_frag, drop_cache),
	COVER(page_frag_align, drop_cache),
	COVER(netdev_frag, drop_frag),
	COVER(netdev_frag_irq, drop_frag),
	COVER(netdev_frag_align, drop_frag),
	COVER(napi_frag, drop_frag),
	COVER(napi_frag_align, drop_frag),
	COVER(netdev_skb, drop_skb),
	COVER(netdev_skb_irq, drop_skb),
	COVER(dev_skb, drop_skb),
	COVER(napi_skb, drop_skb),
	COVER(netdev_skb_shared, drop_skb),
	COVER(napi_get_frags, drop_skb),
#if IS_ENABLED(CONFIG_PAGE_POOL)
	COVER(page_pool, drop_pool),
	COVER(page_pool_order, drop_pool),
#endif
};

COVER_FILES

static int __init ctag_cover_frag_init(void)
{
	cmd_init();
	return 0;
}

static void __exit ctag_cover_frag_exit(void)
{
	cover_exit();
}

module_init(ctag_cover_frag_init);
module_exit(ctag_cover_frag_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Fragments of pages and pools of pages on known lines");
