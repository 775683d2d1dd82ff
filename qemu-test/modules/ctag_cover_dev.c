// SPDX-License-Identifier: GPL-2.0-only
/*
 * DMA memory and device-managed memory, each function on a line of its own. See
 * ctag_cover.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/dmapool.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/platform_device.h>
#include <linux/scatterlist.h>
#include <linux/string.h>

#include "ctag_cover.h"

/* The header of managed memory; the same as in drivers/base/devres.c. */
struct node {
	struct list_head entry;
	void *release;
	const char *name;
	size_t size;
	u8 __aligned(ARCH_KMALLOC_MINALIGN) data[];
};

#define DMA_SIZE	(3 * PAGE_SIZE)
#define DMA_BYTES	(4 * PAGE_SIZE)
#define BLOCK		512
#define BLOCKS		20	/* a page has room for eight */

static struct platform_device *pdev;
static struct device *dev;

static void costs_managed(struct cover *c, size_t size)
{
	costs_kmalloc(c, sizeof(struct node) + size);
}

/* Managed memory */

#define MAKE_DEVM(_name, _size, _call)					\
static void *make_##_name(struct cover *c)				\
{									\
	HERE(c); costs_managed(c, _size); return (void *)(_call);	\
}

static void drop_devm(void *p)
{
	devm_kfree(dev, p);
}

static char *format(gfp_t gfp, const char *fmt, ...);

MAKE_DEVM(devm_kmalloc, 100, devm_kmalloc(dev, 100, GFP_KERNEL))
MAKE_DEVM(devm_kzalloc, 2000, devm_kzalloc(dev, 2000, GFP_KERNEL))
MAKE_DEVM(devm_kmalloc_array, 70, devm_kmalloc_array(dev, 7, 10, GFP_KERNEL))
MAKE_DEVM(devm_kcalloc, 300, devm_kcalloc(dev, 30, 10, GFP_KERNEL))
MAKE_DEVM(devm_kmemdup, 400, devm_kmemdup(dev, dev, 400, GFP_KERNEL))
MAKE_DEVM(devm_kstrdup, 6, devm_kstrdup(dev, "hello", GFP_KERNEL))
MAKE_DEVM(devm_kstrdup_const, 19, devm_kstrdup_const(dev, c->name, GFP_KERNEL))
MAKE_DEVM(devm_kasprintf, 22, devm_kasprintf(dev, GFP_KERNEL, "twenty-%s characters", "two"))

static void *make_devm_krealloc(struct cover *c)
{
	void *small = devm_kmalloc(dev, 50, GFP_KERNEL);

	if (!small)
		return NULL;
	HERE(c); costs_managed(c, 700); return devm_krealloc(dev, small, 700, GFP_KERNEL);
}

static struct cover *formatter;

static char *format(gfp_t gfp, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	HERE(formatter); s = devm_kvasprintf(dev, gfp, fmt, ap);
	va_end(ap);
	costs_managed(formatter, strlen(s) + 1);
	return s;
}

static void *make_devm_kvasprintf(struct cover *c)
{
	formatter = c;
	return format(GFP_KERNEL, "%0200d", 7);
}

static void *make_devm_pages(struct cover *c)
{
	unsigned long addr;

	HERE(c); addr = devm_get_free_pages(dev, GFP_KERNEL, 1);
	costs_pages(c, 1, 2 * PAGE_SIZE);
	costs_managed(c, 2 * sizeof(long));
	return (void *)addr;
}

static void drop_devm_pages(void *p)
{
	devm_free_pages(dev, (unsigned long)p);
}

static void noop(void *unused)
{
}

static unsigned long actions;

static void *make_devm_action(struct cover *c)
{
	void *p = (void *)++actions;
	int err;

	HERE(c); err = devm_add_action_or_reset(dev, noop, p);
	costs_managed(c, 2 * sizeof(void *));
	return err ? NULL : p;
}

static void drop_devm_action(void *p)
{
	actions--;
	devm_remove_action(dev, noop, p);
}

static void release(struct device *unused, void *p)
{
}

static void *make_devres(struct cover *c)
{
	HERE(c); costs_managed(c, 1000); return devres_alloc(release, 1000, GFP_KERNEL);
}

static void drop_devres(void *p)
{
	devres_free(p);
}

struct odd {
	char c[20];
};

static void *make_devm_percpu(struct cover *c)
{
	struct odd __percpu *p;

	HERE(c); p = devm_alloc_percpu(dev, struct odd);
	costs_pages(c, 1, sizeof(struct odd) * num_possible_cpus());
	costs_managed(c, sizeof(void *));
	return (__force void *)p;
}

static void drop_devm_percpu(void *p)
{
	devm_free_percpu(dev, (void __percpu *)p);
}

/* DMA */

struct mapped {
	void *p;
	dma_addr_t dma;
};

/* A function, because a macro would be all on one line. */
static struct mapped *new_mapped(void)
{
	return kzalloc(sizeof(struct mapped), GFP_KERNEL);
}

#define MAKE_DMA(_name, _call)						\
static void *make_##_name(struct cover *c)				\
{									\
	struct mapped *m = new_mapped();				\
									\
	if (!m)								\
		return NULL;						\
	HERE(c); m->p = (_call);					\
	costs_pages(c, 1, DMA_BYTES);					\
	if (!m->p) {							\
		kfree(m);						\
		return NULL;						\
	}								\
	return m;							\
}

#define DROP_DMA(_name, _call)						\
static void drop_##_name(void *p)					\
{									\
	struct mapped *m = p;						\
									\
	_call;								\
	kfree(m);							\
}

MAKE_DMA(coherent, dma_alloc_coherent(dev, DMA_SIZE, &m->dma, GFP_KERNEL))
DROP_DMA(coherent, dma_free_coherent(dev, DMA_SIZE, m->p, m->dma))
MAKE_DMA(dma_attrs, dma_alloc_attrs(dev, DMA_SIZE, &m->dma, GFP_KERNEL, 0))
MAKE_DMA(wc, dma_alloc_wc(dev, DMA_SIZE, &m->dma, GFP_KERNEL))
DROP_DMA(wc, dma_free_wc(dev, DMA_SIZE, m->p, m->dma))
MAKE_DMA(dma_pages, dma_alloc_pages(dev, DMA_SIZE, &m->dma, DMA_TO_DEVICE, GFP_KERNEL))
DROP_DMA(dma_pages, dma_free_pages(dev, DMA_SIZE, m->p, m->dma, DMA_TO_DEVICE))
MAKE_DMA(noncoherent, dma_alloc_noncoherent(dev, DMA_SIZE, &m->dma, DMA_TO_DEVICE, GFP_KERNEL))
DROP_DMA(noncoherent, dma_free_noncoherent(dev, DMA_SIZE, m->p, m->dma, DMA_TO_DEVICE))

static void *make_dmam_coherent(struct cover *c)
{
	struct mapped *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return NULL;
	HERE(c); m->p = dmam_alloc_coherent(dev, DMA_SIZE, &m->dma, GFP_KERNEL);
	costs_pages(c, 1, DMA_BYTES);
	costs_managed(c, 4 * sizeof(long));
	return m;
}

static void *make_dmam_attrs(struct cover *c)
{
	struct mapped *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return NULL;
	HERE(c); m->p = dmam_alloc_attrs(dev, DMA_SIZE, &m->dma, GFP_KERNEL, 0);
	costs_pages(c, 1, DMA_BYTES);
	costs_managed(c, 4 * sizeof(long));
	return m;
}

DROP_DMA(dmam_coherent, dmam_free_coherent(dev, DMA_SIZE, m->p, m->dma))

static void *make_noncontiguous(struct cover *c)
{
	struct sg_table *table;

	HERE(c); table = dma_alloc_noncontiguous(dev, DMA_SIZE, DMA_TO_DEVICE, GFP_KERNEL, 0);
	costs_pages(c, 1, DMA_BYTES);
	costs_kmalloc(c, sizeof(*table));
	costs_kmalloc(c, sizeof(struct scatterlist));
	return table;
}

static void drop_noncontiguous(void *p)
{
	dma_free_noncontiguous(dev, DMA_SIZE, p, DMA_TO_DEVICE);
}

/* The pages are charged to the line that creates the pool. */
struct blocks {
	struct dma_pool *pool;
	struct mapped block[BLOCKS];
};

static bool other_blocks(struct blocks *b)
{
	unsigned int i;

	for (i = 0; i < BLOCKS; i++) {
		b->block[i].p = dma_pool_alloc(b->pool, GFP_KERNEL,
					       &b->block[i].dma);
		if (!b->block[i].p)
			return false;
	}
	return true;
}

static void drop_blocks(struct blocks *b)
{
	unsigned int i;

	for (i = 0; i < BLOCKS && b->block[i].p; i++)
		dma_pool_free(b->pool, b->block[i].p, b->block[i].dma);
}

static void drop_pool(void *p)
{
	struct blocks *b = p;

	drop_blocks(b);
	dma_pool_destroy(b->pool);
	kfree(b);
}

static void drop_dmam_pool(void *p)
{
	struct blocks *b = p;

	drop_blocks(b);
	dmam_pool_destroy(b->pool);
	kfree(b);
}

/* A function, because a macro would be all on one line. */
static struct blocks *new_blocks(void)
{
	return kzalloc(sizeof(struct blocks), GFP_KERNEL);
}

/* The sizes of the pool and of its record for each page are unknown. */
#define MAKE_POOL(_name, _call)						\
static void *make_##_name(struct cover *c)				\
{									\
	struct blocks *b = new_blocks();				\
									\
	if (!b)								\
		return NULL;						\
	HERE(c); b->pool = (_call);					\
	if (!b->pool) {							\
		kfree(b);						\
		return NULL;						\
	}								\
	costs_pages(c, 3, PAGE_SIZE);					\
	c->calls += 1 + 3;						\
	if (other_blocks(b))						\
		return b;						\
	drop_##_name(b);						\
	return NULL;							\
}

MAKE_POOL(pool, dma_pool_create("cover", dev, BLOCK, 8, 0))
MAKE_POOL(dmam_pool, dmam_pool_create("cover", dev, BLOCK, 8, 0))

/* Scatter-gather lists */

static void *make_table(struct cover *c, struct sg_table *t, int err,
			unsigned int nents)
{
	costs_kmalloc(c, nents * sizeof(struct scatterlist));
	if (!err)
		return t;
	kfree(t);
	return NULL;
}

static struct sg_table *new_table(void)
{
	return kzalloc(sizeof(struct sg_table), GFP_KERNEL);
}

#define MAKE_TABLE(_name, _nents, _call)				\
static void *make_##_name(struct cover *c)				\
{									\
	struct sg_table *t = new_table();				\
	int err;							\
									\
	if (!t)								\
		return NULL;						\
	HERE(c); err = (_call);						\
	return make_table(c, t, err, _nents);				\
}

static struct page *pages[1];

MAKE_TABLE(sg_table, 10, sg_alloc_table(t, 10, GFP_KERNEL))
MAKE_TABLE(sg_from_pages, 1, sg_alloc_table_from_pages(t, pages, 1, 0, PAGE_SIZE, GFP_KERNEL))

static void drop_table(void *p)
{
	sg_free_table(p);
	kfree(p);
}

static struct cover covers[] = {
	COVER(devm_kmalloc, drop_devm),
	COVER(devm_kzalloc, drop_devm),
	COVER(devm_kmalloc_array, drop_devm),
	COVER(devm_kcalloc, drop_devm),
	COVER(devm_kmemdup, drop_devm),
	COVER(devm_kstrdup, drop_devm),
	COVER(devm_kstrdup_const, drop_devm),
	COVER(devm_kasprintf, drop_devm),
	COVER(devm_kvasprintf, drop_devm),
	COVER(devm_krealloc, drop_devm),
	COVER(devm_pages, drop_devm_pages),
	COVER(devm_action, drop_devm_action),
	COVER(devres, drop_devres),
	COVER(devm_percpu, drop_devm_percpu),
	COVER(coherent, drop_coherent),
	COVER(dma_attrs, drop_coherent),
	COVER(wc, drop_wc),
	COVER(dma_pages, drop_dma_pages),
	COVER(noncoherent, drop_noncoherent),
	COVER(dmam_coherent, drop_dmam_coherent),
	COVER(dmam_attrs, drop_dmam_coherent),
	COVER(noncontiguous, drop_noncontiguous),
	{ .name = "pool", .make = make_pool, .drop = drop_pool, .atleast = true },
	{ .name = "dmam_pool", .make = make_dmam_pool, .drop = drop_dmam_pool,
	  .atleast = true },
	COVER(sg_table, drop_table),
	COVER(sg_from_pages, drop_table),
};

COVER_FILES

static int __init ctag_cover_dev_init(void)
{
	int err;

	pdev = platform_device_register_simple(KBUILD_MODNAME, -1, NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	dev = &pdev->dev;
	err = dma_coerce_mask_and_coherent(dev, DMA_BIT_MASK(64));
	if (err) {
		platform_device_unregister(pdev);
		return err;
	}
	pages[0] = virt_to_page(dev);
	cmd_init();
	return 0;
}

static void __exit ctag_cover_dev_exit(void)
{
	cover_exit();
	platform_device_unregister(pdev);
}

module_init(ctag_cover_dev_init);
module_exit(ctag_cover_dev_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("DMA and managed memory on known lines");
