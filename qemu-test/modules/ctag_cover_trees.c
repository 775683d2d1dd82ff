// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fills trees with known numbers of entries, each tree by its own function, and
 * has files whose buffers should be charged to this module.
 *
 * /sys/kernel/debug/ctag_cover_trees/cmd accepts "fill" and "drop"; then .../table
 * has the objects that should be live, a line per function:
 *
 *	FUNCTION NUMBER CACHE [NUMBER CACHE]	or	FUNCTION any
 *
 * The size of an object is slab_size of the cache in sysfs; each object is one call.
 *
 * The files are in /proc/ctag_cover_trees, /proc/net/ctag_cover_trees and that
 * folder of debugfs. Their memory is charged to make_NAME(), which creates them, or
 * to NAME_open().
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/idr.h>
#include <linux/maple_tree.h>
#include <linux/proc_fs.h>
#include <linux/radix-tree.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>

#include "ctag_cmd.h"

#define NR		1000	/* entries of a tree */
#define NR_BIG		20000	/* entries of a tree whose shape is unknown */
#define NR_IDS		(2 * IDA_BITMAP_BITS + 100)
#define TREES		40	/* maple trees of one node each */
#define SPLIT_ORDER	(XA_CHUNK_SHIFT + 3)

enum cache { NODE, BITMAP, MAPLE, CACHES };

static const char * const cache_names[CACHES] = {
	[NODE] = "radix_tree_node", [BITMAP] = "kmalloc-128",
	[MAPLE] = "maple_node",
};

/**
 * struct site - a function that fills a tree
 * @func: its name
 * @fill: the function
 * @drop: empties the tree
 * @want: number of objects that it should have when filled
 * @any: the number is unknown
 */
struct site {
	const char *func;
	int (*fill)(struct site *s);
	void (*drop)(struct site *s);
	unsigned long want[CACHES];
	bool any;
	union {
		struct xarray xa;
		struct idr idr;
		struct ida ida;
		struct {
			struct maple_tree mt[TREES];
			struct ma_state mas;
		};
	};
};

/* Nodes of a tree with all indices below nr, which is more than one */
static unsigned long nodes(unsigned long nr)
{
	unsigned long sum = 0;

	while (nr > 1) {
		nr = DIV_ROUND_UP(nr, XA_CHUNK_SIZE);
		sum += nr;
	}
	return sum;
}

/* XArray */

static void drop_xa(struct site *s)
{
	xa_destroy(&s->xa);
}

#define FILL_XA(_what, _flags, _store)					\
static int fill_##_what(struct site *s)					\
{									\
	void *value;							\
	u32 id __maybe_unused, next __maybe_unused = 0;			\
	unsigned long i;						\
	int err = 0;							\
									\
	xa_init_flags(&s->xa, _flags);					\
	for (i = 0; i < NR && !err; i++) {				\
		value = xa_mk_value(i);					\
		err = (_store);						\
	}								\
	s->want[NODE] = nodes(NR);					\
	return err;							\
}

FILL_XA(xa_store, 0, xa_err(xa_store(&s->xa, i, value, GFP_KERNEL)))
FILL_XA(xa_store_bh, XA_FLAGS_LOCK_BH,
	xa_err(xa_store_bh(&s->xa, i, value, GFP_KERNEL)))
FILL_XA(xa_store_irq, XA_FLAGS_LOCK_IRQ,
	xa_err(xa_store_irq(&s->xa, i, value, GFP_KERNEL)))
FILL_XA(xa_insert, 0, xa_insert(&s->xa, i, value, GFP_KERNEL))
FILL_XA(xa_insert_bh, XA_FLAGS_LOCK_BH,
	xa_insert_bh(&s->xa, i, value, GFP_KERNEL))
FILL_XA(xa_insert_irq, XA_FLAGS_LOCK_IRQ,
	xa_insert_irq(&s->xa, i, value, GFP_KERNEL))
FILL_XA(xa_cmpxchg, 0, xa_err(xa_cmpxchg(&s->xa, i, NULL, value, GFP_KERNEL)))
FILL_XA(xa_reserve, 0, xa_reserve(&s->xa, i, GFP_KERNEL))
FILL_XA(xa_alloc, XA_FLAGS_ALLOC,
	xa_alloc(&s->xa, &id, value, xa_limit_31b, GFP_KERNEL))
FILL_XA(xa_alloc_cyclic, XA_FLAGS_ALLOC,
	xa_alloc_cyclic(&s->xa, &id, value, xa_limit_31b, &next, GFP_KERNEL))
FILL_XA(__xa_store, 0, ({
	xa_lock(&s->xa);
	value = __xa_store(&s->xa, i, value, GFP_KERNEL);
	xa_unlock(&s->xa);
	xa_err(value);
}))
FILL_XA(xas_store, 0, ({
	XA_STATE(xas, &s->xa, i);

	do {
		xas_lock(&xas);
		xas_store(&xas, value);
		xas_unlock(&xas);
	} while (xas_nomem(&xas, GFP_KERNEL));
	xas_error(&xas);
}))

static int fill_xas_create_range(struct site *s)
{
	XA_STATE_ORDER(xas, &s->xa, 0, SPLIT_ORDER);

	xa_init(&s->xa);
	do {
		xas_lock(&xas);
		xas_create_range(&xas);
		xas_unlock(&xas);
	} while (xas_nomem(&xas, GFP_KERNEL));
	s->want[NODE] = nodes(1UL << SPLIT_ORDER);
	return xas_error(&xas);
}

#ifdef CONFIG_XARRAY_MULTI
static DEFINE_XARRAY(split_xa);

/* One node, in which the entry takes several slots */
static int fill_xa_store_range(struct site *s)
{
	s->want[NODE] = 1;
	return xa_err(xa_store_range(&split_xa, 0, (1UL << SPLIT_ORDER) - 1,
				     xa_mk_value(1), GFP_KERNEL));
}

static int fill_xas_split_alloc(struct site *s)
{
	XA_STATE(xas, &split_xa, 0);

	s->want[NODE] = 1UL << (SPLIT_ORDER - XA_CHUNK_SHIFT);
	xas_split_alloc(&xas, xa_mk_value(1), SPLIT_ORDER, GFP_KERNEL);
	if (xas_error(&xas))
		return xas_error(&xas);
	xas_lock(&xas);
	xas_split(&xas, xa_mk_value(1), SPLIT_ORDER);
	xas_unlock(&xas);
	return 0;
}

static void drop_split(struct site *s)
{
	xa_destroy(&split_xa);
}
#endif

/* Radix tree, IDR, IDA */

static int fill_radix_tree_insert(struct site *s)
{
	unsigned long i;
	int err = 0;

	INIT_RADIX_TREE(&s->xa, GFP_KERNEL);
	for (i = 0; i < NR && !err; i++)
		err = radix_tree_insert(&s->xa, i, s);
	s->want[NODE] = nodes(NR);
	return err;
}

/* A store that finds no memory takes a preloaded node, and its line is charged for the node. */
static int fill_radix_tree_preload(struct site *s)
{
	unsigned long i;
	int err = 0;

	INIT_RADIX_TREE(&s->xa, GFP_NOWAIT);
	for (i = 0; i < NR && !err; i++) {
		err = radix_tree_preload(GFP_KERNEL);
		if (err)
			break;
		err = radix_tree_insert(&s->xa, i, s);
		radix_tree_preload_end();
	}
	s->want[NODE] = nodes(NR);
	return err;
}

static void drop_radix_tree(struct site *s)
{
	unsigned long i;

	for (i = 0; i < NR; i++)
		radix_tree_delete(&s->xa, i);
}

static void drop_idr(struct site *s)
{
	idr_destroy(&s->idr);
}

#define FILL_IDR(_what, _alloc)						\
static int fill_##_what(struct site *s)					\
{									\
	u32 id __maybe_unused = 0;					\
	int i, err = 0;							\
									\
	idr_init(&s->idr);						\
	for (i = 0; i < NR && err >= 0; i++) {				\
		err = (_alloc);						\
		id++;							\
	}								\
	s->want[NODE] = nodes(NR);					\
	return min(err, 0);						\
}

FILL_IDR(idr_alloc, idr_alloc(&s->idr, s, 0, 0, GFP_KERNEL))
FILL_IDR(idr_alloc_cyclic, idr_alloc_cyclic(&s->idr, s, 0, 0, GFP_KERNEL))
FILL_IDR(idr_alloc_u32, idr_alloc_u32(&s->idr, s, &id, INT_MAX, GFP_KERNEL))

static void drop_ida(struct site *s)
{
	ida_destroy(&s->ida);
}

#define FILL_IDA(_what, _alloc)						\
static int fill_##_what(struct site *s)					\
{									\
	int i, err = 0;							\
									\
	ida_init(&s->ida);						\
	for (i = 0; i < NR_IDS && err >= 0; i++)			\
		err = (_alloc);						\
	s->want[NODE] = 1;						\
	s->want[BITMAP] = DIV_ROUND_UP(NR_IDS, IDA_BITMAP_BITS);	\
	return min(err, 0);						\
}

FILL_IDA(ida_alloc, ida_alloc(&s->ida, GFP_KERNEL))
FILL_IDA(ida_alloc_min, ida_alloc_min(&s->ida, 0, GFP_KERNEL))
FILL_IDA(ida_alloc_max, ida_alloc_max(&s->ida, INT_MAX, GFP_KERNEL))
FILL_IDA(ida_alloc_range, ida_alloc_range(&s->ida, 0, INT_MAX, GFP_KERNEL))
FILL_IDA(ida_simple_get, ida_simple_get(&s->ida, 0, 0, GFP_KERNEL))

/* Maple tree: one entry that is not at 0, in a tree of one node */

static void drop_mt(struct site *s)
{
	int i;

	for (i = 0; i < TREES; i++)
		mtree_destroy(&s->mt[i]);
}

#define FILL_MT(_what, _flags, _store)					\
static int fill_##_what(struct site *s)					\
{									\
	unsigned long start __maybe_unused;				\
	struct maple_tree *mt;						\
	int err = 0;							\
									\
	for (mt = s->mt; mt < s->mt + TREES && !err; mt++) {		\
		mt_init_flags(mt, _flags);				\
		err = (_store);						\
	}								\
	s->want[MAPLE] = TREES;						\
	return err;							\
}

FILL_MT(mtree_store, 0, mtree_store(mt, 5, s, GFP_KERNEL))
FILL_MT(mtree_store_range, 0, mtree_store_range(mt, 5, 9, s, GFP_KERNEL))
FILL_MT(mtree_insert, 0, mtree_insert(mt, 5, s, GFP_KERNEL))
FILL_MT(mtree_insert_range, 0, mtree_insert_range(mt, 5, 9, s, GFP_KERNEL))
FILL_MT(mtree_alloc_range, MT_FLAGS_ALLOC_RANGE,
	/* in an empty tree it returns a limit, not 0 */
	min(mtree_alloc_range(mt, &start, s, 10, 1, 1000, GFP_KERNEL), 0))
FILL_MT(mas_store, 0, ({
	MA_STATE(mas, mt, 5, 9);

	mtree_lock(mt);
	mas_store(&mas, s);
	mtree_unlock(mt);
	xa_err(mas.node);
}))
FILL_MT(mas_store_gfp, 0, ({
	MA_STATE(mas, mt, 5, 9);
	int e;

	mtree_lock(mt);
	e = mas_store_gfp(&mas, s, GFP_KERNEL);
	mtree_unlock(mt);
	e;
}))

/* In a tree with RCU the replaced node is freed, and erase allocates the new node. */
static int store_to_erase(struct maple_tree *mt)
{
	mt_init_flags(mt, MT_FLAGS_USE_RCU);
	return mtree_store_range(mt, 5, 9, mt, GFP_KERNEL) ?:
	       mtree_store_range(mt, 20, 29, mt, GFP_KERNEL);
}

FILL_MT(mtree_erase, 0,
	store_to_erase(mt) ?: (mtree_erase(mt, 20) == mt ? 0 : -EIO))

static int fill_mas_expected_entries(struct site *s)
{
	int err;

	mt_init(s->mt);
	s->mas = (struct ma_state) {
		.tree = s->mt, .node = MAS_START, .max = ULONG_MAX,
	};
	err = mas_expected_entries(&s->mas, NR);
	if (!err)
		s->want[MAPLE] = s->mas.alloc->total;
	return err;
}

static void drop_mas(struct site *s)
{
	mas_destroy(&s->mas);
}

static int fill_big(struct site *s)
{
	unsigned long i;
	int err = 0;

	s->any = true;
	for (i = 0; i < TREES; i++)
		mt_init(&s->mt[i]);
	for (i = 0; i < NR_BIG && !err; i++)
		err = mtree_store(s->mt, 2 * i, s, GFP_KERNEL);
	return err;
}

#define SITE(_what, _drop)						\
	{ .func = "fill_" #_what, .fill = fill_##_what, .drop = _drop }

static struct site sites[] = {
	SITE(xa_store, drop_xa),
	SITE(xa_store_bh, drop_xa),
	SITE(xa_store_irq, drop_xa),
	SITE(xa_insert, drop_xa),
	SITE(xa_insert_bh, drop_xa),
	SITE(xa_insert_irq, drop_xa),
	SITE(xa_cmpxchg, drop_xa),
	SITE(xa_reserve, drop_xa),
	SITE(xa_alloc, drop_xa),
	SITE(xa_alloc_cyclic, drop_xa),
	SITE(__xa_store, drop_xa),
	SITE(xas_store, drop_xa),
	SITE(xas_create_range, drop_xa),
#ifdef CONFIG_XARRAY_MULTI
	SITE(xa_store_range, drop_split),
	SITE(xas_split_alloc, drop_split),
#endif
	SITE(radix_tree_insert, drop_radix_tree),
	SITE(radix_tree_preload, drop_radix_tree),
	SITE(idr_alloc, drop_idr),
	SITE(idr_alloc_cyclic, drop_idr),
	SITE(idr_alloc_u32, drop_idr),
	SITE(ida_alloc, drop_ida),
	SITE(ida_alloc_min, drop_ida),
	SITE(ida_alloc_max, drop_ida),
	SITE(ida_alloc_range, drop_ida),
	SITE(ida_simple_get, drop_ida),
	SITE(mtree_store, drop_mt),
	SITE(mtree_store_range, drop_mt),
	SITE(mtree_insert, drop_mt),
	SITE(mtree_insert_range, drop_mt),
	SITE(mtree_alloc_range, drop_mt),
	SITE(mtree_erase, drop_mt),
	SITE(mas_store, drop_mt),
	SITE(mas_store_gfp, drop_mt),
	SITE(mas_expected_entries, drop_mas),
	SITE(big, drop_mt),
};

static bool filled;

/* Nodes are freed after a grace period. */
static int drop_all(void)
{
	struct site *s;

	for (s = sites; filled && s < sites + ARRAY_SIZE(sites); s++) {
		s->drop(s);
		memset(s->want, 0, sizeof(s->want));
		s->any = false;
	}
	filled = false;
	rcu_barrier();
	return 0;
}

static int fill_all(void)
{
	struct site *s;
	int err = 0;

	drop_all();
	for (s = sites; s < sites + ARRAY_SIZE(sites); s++) {
		int e = s->fill(s);

		if (e)
			pr_err("%s: %d\n", s->func, e);
		err = err ?: e;
	}
	filled = true;
	rcu_barrier();
	return err;
}

static const struct cmd cmds[] = {
	{ "fill", fill_all },
	{ "drop", drop_all },
};

static int command(char *line)
{
	return cmd_run(cmds, ARRAY_SIZE(cmds), line);
}

static void show_table(struct seq_file *m)
{
	struct site *s;
	int i;

	for (s = sites; s < sites + ARRAY_SIZE(sites); s++) {
		seq_puts(m, s->func);
		for (i = 0; i < CACHES; i++) {
			if (s->want[i])
				seq_printf(m, " %lu %s", s->want[i],
					   cache_names[i]);
		}
		seq_puts(m, s->any ? " any\n" : "\n");
	}
}
DEFINE_SHOW_ATTRIBUTE(table);

/* Files */

static void *one_start(struct seq_file *m, loff_t *pos)
{
	return *pos ? NULL : m;
}

static void *one_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return NULL;
}

static void one_stop(struct seq_file *m, void *v)
{
}

static int one_show(struct seq_file *m, void *v)
{
	seq_puts(m, "one\n");
	return 0;
}

/* More than a page, so the first buffer is too small. */
static int large_show(struct seq_file *m, void *v)
{
	int i;

	for (i = 0; i < 100; i++)
		seq_printf(m, "%050d\n", i);
	return 0;
}

static const struct seq_operations one_sops = {
	.start	= one_start,
	.next	= one_next,
	.stop	= one_stop,
	.show	= one_show,
};

DEFINE_SEQ_ATTRIBUTE(one);

static int shown_show(struct seq_file *m, void *v)
{
	return one_show(m, v);
}
DEFINE_SHOW_ATTRIBUTE(shown);

static int sized_open(struct inode *inode, struct file *file)
{
	return single_open_size(file, one_show, NULL, 8000);
}

static const struct file_operations sized_fops = {
	.owner		= THIS_MODULE,
	.open		= sized_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static struct proc_dir_entry *proc_dir;

static void make_seq(void)
{
	proc_create_seq("seq", 0444, proc_dir, &one_sops);
}

static void make_private(void)
{
	proc_create_seq_private("private", 0444, proc_dir, &one_sops, 100, NULL);
}

static void make_single(void)
{
	proc_create_single("single", 0444, proc_dir, one_show);
}

static void make_large(void)
{
	proc_create_single("large", 0444, proc_dir, large_show);
}

static void make_net(void)
{
	proc_create_net_single(KBUILD_MODNAME, 0444, init_net.proc_net, one_show,
			       NULL);
}

static int __init ctag_cover_trees_init(void)
{
	proc_dir = proc_mkdir(KBUILD_MODNAME, NULL);
	if (!proc_dir)
		return -ENOMEM;
	make_seq();
	make_private();
	make_single();
	make_large();
	make_net();
	cmd_init();
	debugfs_create_file("one", 0400, cmd_dir, NULL, &one_fops);
	debugfs_create_file("shown", 0400, cmd_dir, NULL, &shown_fops);
	debugfs_create_file("sized", 0400, cmd_dir, NULL, &sized_fops);
	return 0;
}

static void __exit ctag_cover_trees_exit(void)
{
	debugfs_remove(cmd_dir);
	remove_proc_entry(KBUILD_MODNAME, init_net.proc_net);
	proc_remove(proc_dir);
	drop_all();
}

module_init(ctag_cover_trees_init);
module_exit(ctag_cover_trees_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Trees of known size, and files, on known lines");
