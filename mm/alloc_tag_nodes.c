// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/allocinfo.nodes: the memory of each call site, by NUMA node.
 *
 * The counters of call sites do not know nodes, because that would cost time in
 * every allocation. Opening the file visits all references instead: those of
 * pages, slab objects, KFENCE objects and per-CPU memory. Nothing is stopped.
 * The walk holds the locks that it needs for a slice of memory at a time, and
 * lets other tasks run in between.
 *
 * So the figures are those of a running machine: memory that is allocated,
 * freed or moved during the walk is seen once, twice or not at all. An allocation
 * or free of per-CPU memory can reorder the list of chunks: then the walk can see
 * other per-CPU memory twice or not at all. A block of pages that is not compound
 * has a reference on its first page only. The walk cannot tell the other pages of
 * the block from free pages, so it counts only the first one. After the walk, the
 * counters are read. The file shows for each call site how much more its counter
 * has than the walk found.
 *
 * The result names call sites by index. An index can get another meaning when a
 * module is loaded or unloaded, so the result is void from then on.
 */
#include <linux/alloc_tag.h>
#include <linux/capability.h>
#include <linux/hugetlb.h>
#include <linux/init.h>
#include <linux/kfence.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/mmzone.h>
#include <linux/nodemask.h>
#include <linux/pgalloc_tag.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/topology.h>

#include "../lib/alloc_tag.h"
#include "internal.h"
#include "percpu_tag.h"
#include "slab.h"
#ifdef CONFIG_KFENCE
#include "kfence/kfence.h"
#endif

/* Data */

/* Memory of a slice, for which the locks are held at a time. */
#define SLICE_PAGES	(SZ_128M / PAGE_SIZE)

/* Pages to visit between two calls of cond_resched(). */
#define RESCHED_PAGES	1024

/* Length of a row, for the first buffer of the text. */
#define ROW_SIZE	128

/**
 * struct node_walk - the memory that a walk has seen
 * @generation: of the tags; the result is void when it changes
 * @nr: number of indices
 * @nodes: the nodes to print
 * @cpus: number of CPUs of each node that have per-CPU memory
 * @held: counter of each index after the walk
 * @bytes: bytes of each index on each node, &node_walk_bytes()
 */
struct node_walk {
	u64 generation;
	unsigned int nr;
	nodemask_t nodes;
	unsigned int *cpus;
	s64 *held;
	s64 bytes[];
};

/* Internals: the walk */

static s64 *node_walk_bytes(struct node_walk *w, u16 index, int nid)
{
	return &w->bytes[index * nr_node_ids + nid];
}

static void node_walk_hold(struct node_walk *w, u16 index, int nid, size_t bytes)
{
	/* Larger indices are those of modules that are being loaded. */
	if (index && index < w->nr)
		*node_walk_bytes(w, index, nid) += bytes;
}

/* No object is in use, and a new slab may not have its references yet. */
static bool node_walk_empty(const struct slab *slab)
{
#ifdef CONFIG_SLUB
	return !slab->inuse;
#else
	return !slab->active;
#endif
}

static void node_walk_objects(struct node_walk *w, const struct kmem_cache *s,
			      struct slab *slab, int nid)
{
	unsigned int i, nr = objs_per_slab(s, slab);
	struct alloc_tag_ref *ref;

	if (node_walk_empty(slab))
		return;
	for (i = 0; i < nr; i++) {
		ref = slab_tag_ref_nr(s, slab, i);
		if (ref)
			node_walk_hold(w, READ_ONCE(ref->index), nid, s->size);
	}
}

/*
 * Count the objects of a slab. Return the index of its pages.
 *
 * The caller's reference keeps the pages of the slab, and slab_mutex its cache:
 * before a cache is released, its slabs lose their pointer to it, and then
 * slab_mutex is taken. A slab that is being freed loses its cache first, or is
 * no slab any more.
 */
static u16 node_walk_slab(struct node_walk *w, struct page *page, int nid)
{
	struct slab *slab = (struct slab *)page;
	const struct kmem_cache *s;

	lockdep_assert_held(&slab_mutex);

	/* KFENCE's pages look like slabs; see node_walk_kfence(). */
	if (!PageSlab(page) || is_kfence_address(page_address(page)))
		return pgalloc_tag_index(page);
	/* Pairs with the releases in mm/slub.c and mm/slab.c, which set up the slab before. */
	s = smp_load_acquire(&slab->slab_cache);
	if (!s)
		return pgalloc_tag_index(page);
	node_walk_objects(w, s, slab, nid);
	return slab_tag_slab_index(s, slab);
}

/* Does hugetlb have pages of that order? The largest pages of arm64 can be larger than a PUD. */
static bool node_walk_is_gigantic(unsigned int order)
{
	return order < BITS_PER_LONG - PAGE_SHIFT && size_to_hstate(PAGE_SIZE << order);
}

/* The number of pages of a block, as far as that is known without a reference. */
static unsigned long node_walk_block(struct page *page)
{
	unsigned int order = PageBuddy(page) ? buddy_order_unsafe(page) :
			     PageHead(page) ? compound_order(page) : 0;

	/* The page may have changed meanwhile: gigantic pages are hugetlb's. */
	if (order >= MAX_ORDER && !(PageHuge(page) && node_walk_is_gigantic(order)))
		return 1;
	return 1UL << order;
}

/* Count the block that begins with @page, which may be one page. */
static void node_walk_count(struct node_walk *w, struct page *page, int nid,
			    unsigned long nr)
{
	u16 index;

	if (!PageSlab(page)) {
		index = pgalloc_tag_index(page);
	} else {
		if (!get_page_unless_zero(page))
			return;
		index = node_walk_slab(w, page, nid);
		put_page(page);
	}
	node_walk_hold(w, index, nid, nr * PAGE_SIZE);
}

/* The number of pages from @pfn to the end of a section without memory. */
static unsigned long node_walk_hole(unsigned long pfn)
{
#ifdef CONFIG_SPARSEMEM
	if (!online_section_nr(pfn_to_section_nr(pfn)))
		return PAGES_PER_SECTION - (pfn & ~PAGE_SECTION_MASK);
#endif
	return 1;
}

/* Count the page or block at @pfn. Return its number of pages. */
static unsigned long node_walk_page(struct node_walk *w, unsigned long pfn,
				    int nid)
{
	struct page *page = pfn_to_online_page(pfn);
	unsigned long nr;

	if (!page)
		return node_walk_hole(pfn);
	/*
	 * The ranges of nodes may overlap. Reserved pages need not be in the map.
	 */
	if (page_to_nid(page) != nid || PageReserved(page) ||
	    PageTail(page))
		return 1;
	nr = node_walk_block(page);
	if (!PageBuddy(page))
		node_walk_count(w, page, nid, nr);
	return nr;
}

static int node_walk_slice(struct node_walk *w, unsigned long *pfn,
			   unsigned long end, int nid)
{
	unsigned int visited = 0;

	if (fatal_signal_pending(current))
		return -EINTR;
	get_online_mems();
	mutex_lock(&slab_mutex);
	while (*pfn < end) {
		*pfn += node_walk_page(w, *pfn, nid);
		if (!(++visited % RESCHED_PAGES))
			cond_resched();
	}
	mutex_unlock(&slab_mutex);
	put_online_mems();
	cond_resched();
	return 0;
}

static int node_walk_pages(struct node_walk *w)
{
	unsigned long pfn, end;
	int nid, err = 0;

	for_each_node_state(nid, N_MEMORY) {
		pfn = node_start_pfn(nid);
		end = node_end_pfn(nid);
		while (!err && pfn < end)
			err = node_walk_slice(w, &pfn,
					      min(pfn + SLICE_PAGES, end), nid);
	}
	return err;
}

#ifdef CONFIG_KFENCE
static void node_walk_kfence(struct node_walk *w)
{
	struct kfence_metadata *meta = kfence_metadata;
	unsigned long flags;

	/* KFENCE enables this key after it has initialized the locks. */
	if (!static_key_enabled(&kfence_tag_key))
		return;
	for (; meta < kfence_metadata + CONFIG_KFENCE_NUM_OBJECTS; meta++) {
		raw_spin_lock_irqsave(&meta->lock, flags);
		/* An object that outlived its cache has a reference, but no cache. */
		if (meta->tag.index && meta->cache)
			node_walk_hold(w, meta->tag.index,
				       page_to_nid(virt_to_page((void *)meta->addr)),
				       meta->cache->size);
		raw_spin_unlock_irqrestore(&meta->lock, flags);
	}
}
#else
static void node_walk_kfence(struct node_walk *w) { }
#endif

/* Each CPU's part of an area is on the node of that CPU. */
static void node_walk_percpu(void *data, u16 index, size_t bytes)
{
	struct node_walk *w = data;
	int nid;

	for_each_node(nid)
		if (w->cpus[nid])
			node_walk_hold(w, index, nid,
				       bytes / pcpu_tag_cpus * w->cpus[nid]);
}

static void node_walk_free(struct node_walk *w)
{
	if (w) {
		kvfree(w->cpus);
		kvfree(w->held);
	}
	kvfree(w);
}

static struct node_walk *node_walk_alloc(void)
{
	unsigned int nr = READ_ONCE(alloc_tag_nr);
	struct node_walk *w;
	int cpu;

	w = kvzalloc(struct_size(w, bytes, array_size(nr, nr_node_ids)), GFP_KERNEL);
	if (!w)
		return NULL;
	w->nr = nr;
	w->cpus = kvcalloc(nr_node_ids, sizeof(*w->cpus), GFP_KERNEL);
	w->held = kvcalloc(nr, sizeof(*w->held), GFP_KERNEL);
	if (!w->cpus || !w->held) {
		node_walk_free(w);
		return NULL;
	}
	for_each_possible_cpu(cpu)
		if (cpu_to_node(cpu) != NUMA_NO_NODE)
			w->cpus[cpu_to_node(cpu)]++;
	return w;
}

static u64 tag_generation(void)
{
	u64 generation;

	codetag_lock(&alloc_tag_type);
	generation = codetag_generation(&alloc_tag_type);
	codetag_unlock(&alloc_tag_type);
	return generation;
}

static void node_walk_counters(struct node_walk *w)
{
	unsigned int i;
	long calls;

	for (i = 1; i < w->nr; i++)
		if (alloc_tag_chunks[i >> ALLOC_TAG_CHUNK_SHIFT])
			lazy_percpu_counter_read(alloc_tag_counter(i),
						 &w->held[i], &calls);
	w->nodes = node_online_map;
}

static struct node_walk *node_walk_take(void)
{
	struct node_walk *w;
	int err;

	if (!alloc_tag_available)
		return ERR_PTR(-EOPNOTSUPP);
	w = node_walk_alloc();
	if (!w)
		return ERR_PTR(-ENOMEM);
	w->generation = tag_generation();
	err = node_walk_pages(w);
	if (err) {
		node_walk_free(w);
		return ERR_PTR(err);
	}
	node_walk_kfence(w);
	pcpu_tag_walk(node_walk_percpu, w);
	node_walk_counters(w);
	return w;
}

/* Interface */

static void nodes_print_name(struct seq_file *m, const struct codetag *ct,
			     const char *modname)
{
	char name[256];
	struct seq_buf s;

	seq_buf_init(&s, name, sizeof(name));
	codetag_to_text(&s, ct, modname);
	seq_printf(m, " %.*s\n", (int)seq_buf_used(&s), name);
}

/* A row for a call site that holds memory, or on which the walk found some. */
static void nodes_print_row(struct seq_file *m, struct node_walk *w,
			    const struct codetag *ct, const char *modname)
{
	s64 bytes, seen = 0;
	int nid;

	if (!ct->index || ct->index >= w->nr)
		return;
	bytes = max_t(s64, w->held[ct->index], 0);
	for_each_node_mask(nid, w->nodes)
		seen += *node_walk_bytes(w, ct->index, nid);
	if (!bytes && !seen)
		return;
	seq_printf(m, "%12lld", bytes);
	for_each_node_mask(nid, w->nodes)
		seq_printf(m, " %12lld", *node_walk_bytes(w, ct->index, nid));
	seq_printf(m, " %12lld", bytes - seen);
	nodes_print_name(m, ct, modname);
}

static void nodes_print_heading(struct seq_file *m, const struct node_walk *w)
{
	int nid;

	seq_puts(m, "allocinfo.nodes - version: 1.0\n#     <size>");
	for_each_node_mask(nid, w->nodes)
		seq_printf(m, "    <node %d>", nid);
	seq_puts(m, "     <unseen> <tag info>\n");
}

static int nodes_show(struct seq_file *m, void *v)
{
	struct node_walk *w = m->private;
	struct codetag_iterator it;
	bool found;

	nodes_print_heading(m, w);
	codetag_lock(&alloc_tag_type);
	if (codetag_generation(&alloc_tag_type) != w->generation) {
		codetag_unlock(&alloc_tag_type);
		return -ESTALE;
	}
	found = codetag_seek(&it, &alloc_tag_type, 0);
	while (found) {
		if (!(it.ct->flags & ALLOC_TAG_SHARED))
			nodes_print_row(m, w, it.ct, it.range->modname);
		found = codetag_next(&it);
	}
	nodes_print_row(m, w, &alloc_tag_catch_all.ct, NULL);
	codetag_unlock(&alloc_tag_type);
	return 0;
}

/*
 * Root of a container has /proc, too, and a walk takes time of all CPUs'
 * allocators, so 0400 is not enough.
 */
static int nodes_open(struct inode *inode, struct file *file)
{
	struct node_walk *w;
	int err;

	if (!perfmon_capable())
		return -EPERM;
	w = node_walk_take();
	if (IS_ERR(w))
		return PTR_ERR(w);
	err = single_open_size(file, nodes_show, w, (size_t)w->nr * ROW_SIZE);
	if (err)
		node_walk_free(w);
	return err;
}

static int nodes_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	node_walk_free(m->private);
	return single_release(inode, file);
}

static const struct proc_ops nodes_proc_ops = {
	.proc_open	= nodes_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_release	= nodes_release,
};

static int __init alloc_tag_nodes_init(void)
{
	if (!proc_create("allocinfo.nodes", 0400, NULL, &nodes_proc_ops))
		return -ENOMEM;
	return 0;
}
fs_initcall(alloc_tag_nodes_init);
