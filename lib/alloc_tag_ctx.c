// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation context capture.
 *
 * Profiling says how much a line of code holds. Where the line is a helper that
 * half of the kernel calls, the next question is by whose calls. At the lines
 * that a person chooses, the stack of each allocation is taken, and kept with
 * the memory until that is freed.
 *
 * What is kept:
 *
 *	site ---> stack ---> detail: pid, time, size; for the first so many
 *	            ^
 *	            | counts and bytes
 *	          entry <--- hash table, by the address of the reference
 *
 * An entry stands for one piece of memory. Its stack has the count and the bytes
 * of all entries that came the same way. So freed memory is taken off again
 * however little is known of it.
 *
 * How allocations get here: the counting path looks up the per-CPU parts of a
 * counter in a table and calls alloc_tag_count_slow() where there are none. A
 * line that is chosen has none there. Other lines do not know of all this.
 *
 * A site is off, armed or on. Armed, its allocations and frees come here and
 * nothing is kept; when every CPU is sure to send them here, it is switched on.
 * That way, memory that has an entry is freed past this code on no CPU. Sites
 * and stacks are never freed, as the depot that has the stacks frees none
 * either: a line that is chosen again finds its own again.
 *
 * What this takes is limited by a cap, and allocations that do not fit are
 * counted. Memory is taken a page at a time without waiting, and never under the
 * lock. Taking it, and saving a stack, allocates; what that would have captured
 * in turn is dropped, and counted.
 *
 * Locking: context_mutex is that of commands and readers; the tags are locked
 * inside of it. context_lock protects the table and all counts; it is a raw lock
 * with interrupts off, as allocators are called under others of that kind, and
 * nothing is called under it.
 */
#define pr_fmt(fmt) "alloc_tags.ctx: " fmt

#include <linux/alloc_tag.h>
#include <linux/alloc_tag_watch.h>
#include <linux/codetag_query.h>
#include <linux/debugfs.h>
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/highmem.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pgalloc_tag.h>
#include <linux/preempt.h>
#include <linux/rculist.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stackdepot.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include "alloc_tag.h"

/* Data */

/*
 * Does not even wake kswapd: the caller may hold a lock which that would take, and
 * have taken care not to. Nor does it use up what reclaim has in reserve.
 */
#define CONTEXT_GFP		(__GFP_NOWARN | __GFP_NOMEMALLOC)

#define CONTEXT_FRAMES		32	/* of a stack, from the inside */
#define CONTEXT_DETAILS		1024	/* of a site */
#define CONTEXT_MEM_MIN		SZ_64K
#define CONTEXT_TABLE_BITS_MAX	22
#define CONTEXT_MEM_DEFAULT	SZ_64M	/* at most; else 1 % of all memory */

enum context_state {
	CONTEXT_OFF,
	CONTEXT_ARMED,
	CONTEXT_ON,
};

enum context_drop {
	DROP_MEMORY,	/* the cap, or there was none to be had */
	DROP_STACK,	/* the depot did not take the stack */
	DROP_NMI,
	DROP_NESTED,	/* this code's own allocations */
	NR_DROPS,
};

static const char * const context_drop_names[] = {
	[DROP_MEMORY]	= "memory",
	[DROP_STACK]	= "stack",
	[DROP_NMI]	= "nmi",
	[DROP_NESTED]	= "nested",
};

/**
 * struct context_site - a line that is chosen, or was
 * @index: of its tag
 * @state: see above
 * @nr_details: how many of its entries have one
 * @count: entries
 * @bytes: of all of them
 * @dropped: allocations that have none, by reason, since it was chosen
 * @stacks: struct context_stack, only ever added to
 * @node: in context_sites_list
 * @where: the tag, as people read it
 * @function: the part of @where that names the function
 */
struct context_site {
	unsigned long index;
	enum context_state state;
	unsigned int nr_details;
	unsigned long count;
	u64 bytes;
	atomic_long_t dropped[NR_DROPS];
	struct list_head stacks;
	struct list_head node;
	char *where;
	const char *function;
};

/**
 * struct context_stack - a way that led to a site
 * @node: in site->stacks
 * @next: in the same bucket
 * @site: the site
 * @handle: the frames, in the depot
 * @count: entries
 * @bytes: of all of them
 * @details: of some of them, the oldest first
 */
struct context_stack {
	struct list_head node;
	struct context_stack *next;
	struct context_site *site;
	depot_stack_handle_t handle;
	unsigned long count;
	u64 bytes;
	struct list_head details;
};

struct context_info {
	pid_t pid;
	pid_t tgid;
	u64 ts;
	char comm[TASK_COMM_LEN];
};

struct context_detail {
	struct list_head node;
	size_t bytes;
	struct context_info info;
};

struct context_entry {
	struct context_entry *next;
	struct alloc_tag_ref *ref;
	struct context_stack *stack;
	struct context_detail *detail;
	size_t bytes;
};

/**
 * struct context_pool - unused objects of one kind
 * @size: of an object
 * @free: the first, which points to the next
 * @pages: what they were cut from, each pointing to the next
 */
struct context_pool {
	size_t size;
	void *free;
	void *pages;
};

static struct context_pool context_stacks = {
	.size = sizeof(struct context_stack),
};

static struct context_pool context_entries = {
	.size = sizeof(struct context_entry),
};

static struct context_pool context_details = {
	.size = sizeof(struct context_detail),
};

static DEFINE_MUTEX(context_mutex);
static DEFINE_RAW_SPINLOCK(context_lock);

/* Sites by index, and in the order in which they were first chosen. */
static DEFINE_XARRAY(context_sites);
static LIST_HEAD(context_sites_list);
static unsigned int context_nr_on;

/* There while a site is on, or armed; their sizes go by the cap. */
static struct context_entry **context_table;
static unsigned int context_table_bits;

#define CONTEXT_STACK_BITS	10
static struct context_stack *context_stack_table[BIT(CONTEXT_STACK_BITS)];

static unsigned long context_mem_max;
static unsigned long context_mem;

/**
 * struct context_cpu - where a stack is taken
 * @busy: that is going on
 * @frames: of the stack
 */
struct context_cpu {
	bool busy;
	unsigned long frames[CONTEXT_FRAMES];
};

static DEFINE_PER_CPU(struct context_cpu, context_cpu);

/* Internals: memory */

static bool context_fits(unsigned long bytes)
{
	unsigned long mem = READ_ONCE(context_mem);

	return bytes <= context_mem_max - min(mem, context_mem_max);
}

static void *context_get(struct context_pool *pool)
{
	void *p = pool->free;

	lockdep_assert_held(&context_lock);

	pool->free = *(void **)p;
	return p;
}

static void context_put(struct context_pool *pool, void *p)
{
	lockdep_assert_held(&context_lock);

	*(void **)p = pool->free;
	pool->free = p;
}

/* A page more, cut into pieces; its first bytes tie it to the others. */
static bool context_refill(struct context_pool *pool)
{
	unsigned int at = max(pool->size, sizeof(void *));
	unsigned long flags;
	void *page;
	bool fits;

	raw_spin_lock_irqsave(&context_lock, flags);
	fits = context_fits(PAGE_SIZE);
	if (fits)
		context_mem += PAGE_SIZE;
	raw_spin_unlock_irqrestore(&context_lock, flags);
	if (!fits)
		return false;
	page = (void *)__get_free_page(CONTEXT_GFP);

	raw_spin_lock_irqsave(&context_lock, flags);
	if (page) {
		*(void **)page = pool->pages;
		pool->pages = page;
		for (; at + pool->size <= PAGE_SIZE; at += pool->size)
			context_put(pool, page + at);
	} else {
		context_mem -= PAGE_SIZE;
	}
	raw_spin_unlock_irqrestore(&context_lock, flags);
	return page;
}

/* None of its objects is in use. */
static void context_drain(struct context_pool *pool)
{
	unsigned long nr = 0;
	void *page, *next;

	raw_spin_lock_irq(&context_lock);
	page = pool->pages;
	pool->pages = NULL;
	pool->free = NULL;
	raw_spin_unlock_irq(&context_lock);

	for (; page; page = next) {
		next = *(void **)page;
		free_page((unsigned long)page);
		nr++;
	}

	raw_spin_lock_irq(&context_lock);
	context_mem -= nr * PAGE_SIZE;
	raw_spin_unlock_irq(&context_lock);
}

/* Internals: stacks and entries */

static struct context_stack **
context_stack_bucket(const struct context_site *site,
		     depot_stack_handle_t handle)
{
	return &context_stack_table[hash_32(handle ^ site->index << 16,
					    CONTEXT_STACK_BITS)];
}

static struct context_stack *context_find_stack(const struct context_site *site,
						depot_stack_handle_t handle)
{
	struct context_stack *st = *context_stack_bucket(site, handle);

	lockdep_assert_held(&context_lock);

	while (st && (st->site != site || st->handle != handle))
		st = st->next;
	return st;
}

/*
 * What the depot takes for a stack: the frames, and what it needs to find them.
 * Charged once, as it is never given back.
 */
static size_t context_depot_size(depot_stack_handle_t handle)
{
	unsigned long *frames;

	return 32 + stack_depot_fetch(handle, &frames) * sizeof(*frames);
}

static struct context_stack *context_add_stack(struct context_site *site,
					       depot_stack_handle_t handle,
					       size_t depot_size)
{
	struct context_stack **bucket = context_stack_bucket(site, handle);
	struct context_stack *st = context_get(&context_stacks);

	context_mem += depot_size;

	*st = (struct context_stack) {
		.next	= *bucket,
		.site	= site,
		.handle	= handle,
	};
	INIT_LIST_HEAD(&st->details);
	*bucket = st;
	/* Readers look at no more than the list. */
	list_add_tail_rcu(&st->node, &site->stacks);
	return st;
}

static struct context_entry **context_bucket(const struct alloc_tag_ref *ref)
{
	return &context_table[hash_ptr(ref, context_table_bits)];
}

/* Where the entry of some memory is linked, or would be. */
static struct context_entry **context_find(const struct alloc_tag_ref *ref,
					   unsigned long index)
{
	struct context_entry **e = context_bucket(ref);

	lockdep_assert_held(&context_lock);

	while (*e && ((*e)->ref != ref || (*e)->stack->site->index != index))
		e = &(*e)->next;
	return e;
}

static void context_link(struct context_entry *e, struct alloc_tag_ref *ref)
{
	struct context_entry **bucket = context_bucket(ref);

	e->ref = ref;
	e->next = *bucket;
	*bucket = e;
}

static void context_resize(struct context_entry *e, size_t bytes)
{
	u64 more = (u64)bytes - e->bytes;

	e->stack->bytes += more;
	e->stack->site->bytes += more;
	e->bytes = bytes;
	if (e->detail)
		e->detail->bytes = bytes;
}

static void context_remove(struct context_entry **link)
{
	struct context_entry *e = *link;
	struct context_stack *st = e->stack;

	*link = e->next;
	context_resize(e, 0);
	st->count--;
	st->site->count--;
	if (e->detail) {
		list_del(&e->detail->node);
		context_put(&context_details, e->detail);
		st->site->nr_details--;
	}
	context_put(&context_entries, e);
}

static void context_add_detail(struct context_entry *e,
			       const struct context_info *info)
{
	struct context_detail *d = context_get(&context_details);

	d->info = *info;
	list_add_tail(&d->node, &e->stack->details);
	e->detail = d;
	e->stack->site->nr_details++;
}

/*
 * Adds an entry, if the site is on; with a detail if there is @info and room for
 * one. Returns the pool that has to be refilled first; NULL when it is done with.
 */
static struct context_pool *context_insert(struct context_site *site,
					   depot_stack_handle_t handle,
					   size_t depot_size,
					   const struct context_info *info,
					   struct alloc_tag_ref *ref,
					   size_t bytes)
{
	struct context_stack *st;
	struct context_entry *e;

	lockdep_assert_held(&context_lock);

	if (site->state != CONTEXT_ON)
		return NULL;
	/* First of all: the depot has it, and that has to be charged. */
	st = context_find_stack(site, handle);
	if (!st) {
		/* It takes less than a page: where it does not fit, no page does. */
		if (!context_stacks.free || !context_fits(depot_size))
			return &context_stacks;
		st = context_add_stack(site, handle, depot_size);
	}
	if (!context_entries.free)
		return &context_entries;
	if (site->nr_details >= CONTEXT_DETAILS)
		info = NULL;
	if (info && !context_details.free)
		return &context_details;

	e = context_get(&context_entries);
	*e = (struct context_entry) { .stack = st };
	context_link(e, ref);
	if (info)
		context_add_detail(e, info);
	st->count++;
	site->count++;
	context_resize(e, bytes);
	return NULL;
}

/* Removes the entry of some memory. Returns whether there was one. */
static bool context_forget(const struct alloc_tag_ref *ref, unsigned long index)
{
	struct context_entry **e = context_find(ref, index);
	bool found = *e;

	if (found)
		context_remove(e);
	return found;
}

static void context_add(struct context_site *site, depot_stack_handle_t handle,
			const struct context_info *info,
			struct alloc_tag_ref *ref, size_t bytes)
{
	size_t depot_size = context_depot_size(handle);
	struct context_pool *pool;
	unsigned long flags;
	bool stale = false;

	for (;;) {
		raw_spin_lock_irqsave(&context_lock, flags);
		if (site->state == CONTEXT_ON)
			stale |= context_forget(ref, site->index);
		pool = context_insert(site, handle, depot_size, info, ref,
				      bytes);
		raw_spin_unlock_irqrestore(&context_lock, flags);
		if (!pool)
			break;
		if (context_refill(pool))
			continue;
		if (pool != &context_details) {
			atomic_long_inc(&site->dropped[DROP_MEMORY]);
			break;
		}
		info = NULL;
	}
	WARN_ONCE(stale, "alloc_tags.ctx: memory was freed past us\n");
}

/* Internals: capture */

static depot_stack_handle_t context_save_stack(struct context_site *site,
					       struct context_cpu *cpu)
{
	depot_stack_handle_t handle;
	unsigned int nr;

	nr = stack_trace_save(cpu->frames, CONTEXT_FRAMES, 0);
	/* The depot knows nothing of __GFP_NOMEMALLOC. */
	handle = __stack_depot_save(cpu->frames, nr, 0, CONTEXT_GFP,
				    context_fits(PAGE_SIZE) &&
				    !(current->flags & PF_MEMALLOC));
	if (!handle)
		atomic_long_inc(&site->dropped[DROP_STACK]);
	return handle;
}

static void context_capture(struct context_site *site, struct context_cpu *cpu,
			    struct alloc_tag_ref *ref, size_t bytes)
{
	depot_stack_handle_t handle = context_save_stack(site, cpu);
	struct context_info info = {
		.pid	= current->pid,
		.tgid	= current->tgid,
		.ts	= local_clock(),
	};

	if (!handle)
		return;
	memcpy(info.comm, current->comm, sizeof(info.comm));
	context_add(site, handle, &info, ref, bytes);
}

static void context_alloc(struct context_site *site, struct alloc_tag_ref *ref,
			  size_t bytes)
{
	struct context_cpu *cpu;
	unsigned long flags;

	if (READ_ONCE(site->state) != CONTEXT_ON)
		return;
	if (in_nmi()) {
		atomic_long_inc(&site->dropped[DROP_NMI]);
		return;
	}
	local_irq_save(flags);
	cpu = this_cpu_ptr(&context_cpu);
	if (cpu->busy) {
		atomic_long_inc(&site->dropped[DROP_NESTED]);
	} else {
		cpu->busy = true;
		context_capture(site, cpu, ref, bytes);
		cpu->busy = false;
	}
	local_irq_restore(flags);
}

static void context_free(struct context_site *site, struct alloc_tag_ref *ref)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&context_lock, flags);
	if (site->state == CONTEXT_ON)
		context_forget(ref, site->index);
	raw_spin_unlock_irqrestore(&context_lock, flags);
}

/* Interface: what alloc_tag calls */

static bool context_wants(unsigned long index)
{
	struct context_site *site = xa_load(&context_sites, index);

	return site && READ_ONCE(site->state) != CONTEXT_OFF;
}

static void context_count(unsigned long index, struct alloc_tag_ref *ref,
			  long bytes, long calls)
{
	struct context_site *site = xa_load(&context_sites, index);

	if (calls > 0)
		context_alloc(site, ref, bytes);
	else
		context_free(site, ref);
}

/*
 * The first page's entry says where all of them came from. The pages are the
 * caller's alone, so nothing happens to their references meanwhile.
 */
static void context_regroup(unsigned long index, struct page *page,
			    unsigned long nr, unsigned long part)
{
	struct context_site *site = xa_load(&context_sites, index);
	struct context_info info, *known = NULL;
	depot_stack_handle_t handle = 0;
	struct context_entry **e;
	unsigned long i, flags;

	raw_spin_lock_irqsave(&context_lock, flags);
	if (site->state != CONTEXT_ON) {
		raw_spin_unlock_irqrestore(&context_lock, flags);
		return;
	}
	e = context_find(pgalloc_tag_ref(page), index);
	if (*e) {
		handle = (*e)->stack->handle;
		if ((*e)->detail) {
			info = (*e)->detail->info;
			known = &info;
		}
		context_resize(*e, part * PAGE_SIZE);
	}
	raw_spin_unlock_irqrestore(&context_lock, flags);

	for (i = 1; i < nr; i++) {
		struct alloc_tag_ref *ref = pgalloc_tag_ref(nth_page(page, i));

		raw_spin_lock_irqsave(&context_lock, flags);
		if (site->state == CONTEXT_ON && context_forget(ref, index) &&
		    !handle)
			atomic_long_inc(&site->dropped[DROP_MEMORY]);
		raw_spin_unlock_irqrestore(&context_lock, flags);
		if (i % part == 0 && handle)
			context_add(site, handle, known, ref, part * PAGE_SIZE);
	}
}

/* Takes the entry of some memory out of the table. NULL if there is none. */
static struct context_entry *context_unlink(const struct alloc_tag_ref *ref)
{
	struct context_entry **link = context_find(ref, ref->index);
	struct context_entry *e = *link;

	if (!e)
		return NULL;
	/* What context_sweep() is after may not move behind its back. */
	if (e->stack->site->state != CONTEXT_ON) {
		context_remove(link);
		return NULL;
	}
	*link = e->next;
	return e;
}

static void context_move(struct alloc_tag_ref *a, struct alloc_tag_ref *b)
{
	struct context_entry *of_a, *of_b;
	unsigned long flags;

	raw_spin_lock_irqsave(&context_lock, flags);
	if (context_table) {
		of_a = context_unlink(a);
		of_b = context_unlink(b);
		if (of_a)
			context_link(of_a, b);
		if (of_b)
			context_link(of_b, a);
	}
	raw_spin_unlock_irqrestore(&context_lock, flags);
}

static const struct alloc_tag_watcher context_watcher = {
	.wants		= context_wants,
	.count		= context_count,
	.regroup	= context_regroup,
	.move		= context_move,
};

/* Internals: commands */

/* For as long as a site is armed or on. */
static int context_get_table(void)
{
	struct context_entry **table;
	unsigned int bits;

	lockdep_assert_held(&context_mutex);

	if (context_table)
		return 0;
	if (stack_depot_init())
		return -ENOMEM;
	bits = clamp(ilog2(context_mem_max / (4 * sizeof(struct context_entry))),
		     4, CONTEXT_TABLE_BITS_MAX);
	table = kvcalloc(BIT(bits), sizeof(*table), GFP_KERNEL);
	if (!table)
		return -ENOMEM;

	raw_spin_lock_irq(&context_lock);
	context_mem += sizeof(*table) << bits;
	context_table = table;
	context_table_bits = bits;
	raw_spin_unlock_irq(&context_lock);
	static_branch_enable(&alloc_tag_watch_key);
	return 0;
}

static void context_put_table(void)
{
	struct context_entry **table = context_table;

	lockdep_assert_held(&context_mutex);

	if (context_nr_on || !table)
		return;
	static_branch_disable(&alloc_tag_watch_key);
	raw_spin_lock_irq(&context_lock);
	context_table = NULL;
	context_mem -= sizeof(*table) << context_table_bits;
	raw_spin_unlock_irq(&context_lock);
	context_drain(&context_entries);
	context_drain(&context_details);
	kvfree(table);
}

static char *context_where(const struct codetag_iterator *it)
{
	return kasprintf(GFP_KERNEL, "%s:%u module:%s func:%s",
			 it->ct->filename, it->ct->lineno,
			 codetag_modname(it), it->ct->function);
}

/* A site for a tag, if it has none. It is off, and nobody sees it yet. */
static struct context_site *context_add_site(unsigned long index)
{
	struct context_site *site = xa_load(&context_sites, index);
	int err;

	if (site)
		return site;
	site = kzalloc(sizeof(*site), GFP_KERNEL);
	if (!site)
		return NULL;
	site->index = index;
	INIT_LIST_HEAD(&site->stacks);
	err = xa_err(xa_store(&context_sites, index, site, GFP_KERNEL));
	if (err) {
		kfree(site);
		return NULL;
	}
	list_add_tail(&site->node, &context_sites_list);
	return site;
}

/* What a site says of its tag, which may be another than the last time. */
static int context_name_site(struct context_site *site,
			     const struct codetag_iterator *it)
{
	char *where;

	if (site->state != CONTEXT_OFF)
		return 0;
	where = context_where(it);
	if (!where)
		return -ENOMEM;
	kfree(site->where);
	site->where = where;
	site->function = where + strlen(where) - strlen(it->ct->function);
	return 0;
}

static void context_arm(struct context_site *site)
{
	unsigned int i;

	if (site->state != CONTEXT_OFF)
		return;
	for (i = 0; i < NR_DROPS; i++)
		atomic_long_set(&site->dropped[i], 0);
	WRITE_ONCE(site->state, CONTEXT_ARMED);
	alloc_tag_drop_parts(site->index);
	context_nr_on++;
}

static void context_switch_off(struct context_site *site)
{
	if (site->state == CONTEXT_OFF)
		return;
	raw_spin_lock_irq(&context_lock);
	WRITE_ONCE(site->state, CONTEXT_OFF);
	raw_spin_unlock_irq(&context_lock);
	context_nr_on--;
}

/* Removes the entries of sites that were switched off: nothing is added to them. */
static void context_sweep(void)
{
	struct context_entry **e;
	unsigned long i;

	for (i = 0; i < BIT(context_table_bits); i++) {
		raw_spin_lock_irq(&context_lock);
		for (e = &context_table[i]; *e; ) {
			if ((*e)->stack->site->state == CONTEXT_OFF)
				context_remove(e);
			else
				e = &(*e)->next;
		}
		raw_spin_unlock_irq(&context_lock);
		cond_resched();
	}
}

enum context_command {
	CONTEXT_ENABLE,
	CONTEXT_DISABLE,
};

static const char * const context_commands[] = {
	[CONTEXT_ENABLE]	= "enable",
	[CONTEXT_DISABLE]	= "disable",
};

/* Calls back for each tag of a query. Returns how many there were, or an error. */
static int context_for_each(struct codetag_query query,
			    int (*visit)(const struct codetag_iterator *it))
{
	struct codetag_iterator it;
	int nr = 0, err;
	bool more;

	for (more = codetag_first(&it, &alloc_tag_type); more;
	     more = codetag_next(&it)) {
		if (!codetag_query_match(&query, it.ct, codetag_modname(&it), NULL))
			continue;
		err = visit(&it);
		if (err < 0)
			return err;
		nr += err;
		cond_resched();
	}
	return nr;
}

/* Tags with a counter of their own, of code that can still run. */
static bool context_can(const struct codetag_iterator *it)
{
	return !(it->ct->flags & ALLOC_TAG_SHARED) &&
	       (!it->range->modname || it->range->mod);
}

static int context_visit_prepare(const struct codetag_iterator *it)
{
	struct context_site *site;

	if (!context_can(it))
		return 0;
	site = context_add_site(it->ct->index);
	if (!site || context_name_site(site, it))
		return -ENOMEM;
	return 1;
}

static int context_visit_arm(const struct codetag_iterator *it)
{
	if (!context_can(it))
		return 0;
	context_arm(xa_load(&context_sites, it->ct->index));
	return 1;
}

static int context_visit_disable(const struct codetag_iterator *it)
{
	struct context_site *site = xa_load(&context_sites, it->ct->index);

	if (site && !(it->ct->flags & ALLOC_TAG_SHARED))
		context_switch_off(site);
	return 1;
}

/* From here on no CPU takes what it allocates or frees there past us. */
static void context_switch_on(void)
{
	struct context_site *site;

	synchronize_rcu();
	raw_spin_lock_irq(&context_lock);
	list_for_each_entry(site, &context_sites_list, node)
		if (site->state == CONTEXT_ARMED)
			WRITE_ONCE(site->state, CONTEXT_ON);
	raw_spin_unlock_irq(&context_lock);
}

static int context_enable(struct codetag_query query)
{
	int nr = context_get_table();

	if (nr)
		return nr;
	codetag_lock(&alloc_tag_type);
	nr = context_for_each(query, context_visit_prepare);
	if (nr > 0) {
		context_for_each(query, context_visit_arm);
		context_switch_on();
	}
	codetag_unlock(&alloc_tag_type);
	return nr;
}

static int context_disable(struct codetag_query query)
{
	int nr;

	codetag_lock(&alloc_tag_type);
	nr = context_for_each(query, context_visit_disable);
	codetag_unlock(&alloc_tag_type);
	if (context_table)
		context_sweep();
	return nr;
}

static int context_parse(struct codetag_query *query, struct codetag_words *w)
{
	int command;

	if (codetag_query_parse(query, w))
		return -EINVAL;
	if (query->class)
		return codetag_words_wrong(w, "allocations have no class here");
	if (!w->word)
		return codetag_words_wrong(w, "a command is missing");
	command = match_string(context_commands, ARRAY_SIZE(context_commands),
			       w->word);
	if (command < 0)
		return codetag_words_wrong(w, "no such command");
	codetag_words_next(w);
	if (w->word && !w->error)
		codetag_words_wrong(w, "a word too many");
	return w->error ? -EINVAL : command;
}

static int context_command(struct codetag_words *w)
{
	struct codetag_query query;
	int command, nr;

	command = context_parse(&query, w);
	if (command < 0)
		return command;
	if (!alloc_tag_available) {
		pr_err("memory allocation profiling is unavailable\n");
		return -EOPNOTSUPP;
	}

	mutex_lock(&context_mutex);
	nr = command == CONTEXT_ENABLE ? context_enable(query) :
					 context_disable(query);
	context_put_table();
	mutex_unlock(&context_mutex);

	if (!nr) {
		pr_err("no such line, or none that is accounted by itself\n");
		return -ENOENT;
	}
	return min(nr, 0);
}

/* Interface: debugfs */

/**
 * struct context_reader - an open file
 * @pos: where it stands, as seq_file counts
 * @site: the same, NULL at the end; sites and stacks stay, and so can this
 * @stack: NULL for the site's own line
 * @nr: details of @stack
 * @details: these
 */
struct context_reader {
	loff_t pos;
	struct context_site *site;
	struct context_stack *stack;
	unsigned int nr;
	struct context_detail details[CONTEXT_DETAILS];
};

static void context_reader_first(struct context_reader *r)
{
	r->pos = 0;
	r->stack = NULL;
	r->site = list_first_entry_or_null(&context_sites_list,
					   struct context_site, node);
}

static void context_reader_next(struct context_reader *r)
{
	struct list_head *next = r->stack ? &r->stack->node : &r->site->stacks;

	r->pos++;
	/* Pairs with list_add_tail_rcu(); none is ever taken away. */
	next = READ_ONCE(next->next);
	if (next != &r->site->stacks) {
		r->stack = list_entry(next, struct context_stack, node);
		return;
	}
	r->stack = NULL;
	if (list_is_last(&r->site->node, &context_sites_list))
		r->site = NULL;
	else
		r->site = list_next_entry(r->site, node);
}

/* Goes on where the last read() ended, whatever came before that meanwhile. */
static void *context_seq_start(struct seq_file *m, loff_t *pos)
{
	struct context_reader *r = m->private;

	mutex_lock(&context_mutex);
	if (!*pos || r->pos > *pos)
		context_reader_first(r);
	while (r->site && r->pos < *pos)
		context_reader_next(r);
	return r->site ? r : NULL;
}

static void *context_seq_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct context_reader *r = v;

	context_reader_next(r);
	*pos = r->pos;
	return r->site ? r : NULL;
}

static void context_seq_stop(struct seq_file *m, void *v)
{
	mutex_unlock(&context_mutex);
}

/* As the specification has it: no space before the unit. */
static void context_show_size(struct seq_file *m, u64 bytes)
{
	char text[16], *unit;

	string_get_size(bytes, 1, STRING_UNITS_2, text, sizeof(text));
	unit = strchr(text, ' ');
	*unit++ = '\0';
	seq_printf(m, "%*s%s", (int)(8 - strlen(unit)), text, unit);
}

static void context_show_site(struct seq_file *m, struct context_site *site)
{
	unsigned long count;
	unsigned int i;
	u64 bytes;

	raw_spin_lock_irq(&context_lock);
	count = site->count;
	bytes = site->bytes;
	raw_spin_unlock_irq(&context_lock);

	context_show_size(m, bytes);
	seq_printf(m, " %8lu %s\n", count, site->where);
	for (i = 0; i < NR_DROPS; i++) {
		count = atomic_long_read(&site->dropped[i]);
		if (count)
			seq_printf(m, "    dropped for %s: %lu\n",
				   context_drop_names[i], count);
	}
}

/* Is that the name of a symbol, but for what the compiler adds, and the module? */
static bool context_is_symbol(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(symbol, name, len) && strchr(". ", symbol[len]);
}

/*
 * The frames inside of the site are how the allocator works. Where the function
 * was inlined, there is no telling them from its own: then only our own go.
 */
static unsigned int context_skip_frames(const struct context_site *site,
					const unsigned long *frames,
					unsigned int nr)
{
	char symbol[KSYM_SYMBOL_LEN];
	unsigned int i, own = 0;

	for (i = 0; i < nr; i++) {
		sprint_symbol_no_offset(symbol, frames[i] - 1);
		if (context_is_symbol(symbol, site->function))
			return i;
		if (context_is_symbol(symbol, "alloc_tag_count_slow"))
			own = i + 1;
	}
	return own;
}

static void context_show_frames(struct seq_file *m,
				const struct context_stack *st)
{
	unsigned long *frames;
	unsigned int i, nr = stack_depot_fetch(st->handle, &frames);

	seq_puts(m, "    call stack:\n");
	for (i = context_skip_frames(st->site, frames, nr); i < nr; i++)
		seq_printf(m, "         %pB\n", (void *)frames[i]);
}

static void context_show_stack(struct seq_file *m, struct context_reader *r)
{
	const struct context_stack *st = r->stack;
	const struct context_detail *d;
	unsigned long count;
	u64 bytes;

	r->nr = 0;
	raw_spin_lock_irq(&context_lock);
	count = st->count;
	bytes = st->bytes;
	list_for_each_entry(d, &st->details, node)
		r->details[r->nr++] = *d;
	raw_spin_unlock_irq(&context_lock);
	if (!count)
		return;

	seq_printf(m, "    count: %lu\n    bytes: %llu\n", count, bytes);
	for (d = r->details; d < r->details + r->nr; d++)
		seq_printf(m, "    size: %zu\n    pid: %d\n    tgid: %d\n    comm: %s\n    ts: %llu\n",
			   d->bytes, d->info.pid, d->info.tgid, d->info.comm,
			   d->info.ts);
	context_show_frames(m, st);
}

static int context_seq_show(struct seq_file *m, void *v)
{
	struct context_reader *r = v;

	if (r->site->state == CONTEXT_OFF)
		return 0;
	if (r->stack)
		context_show_stack(m, r);
	else
		context_show_site(m, r->site);
	return 0;
}

static const struct seq_operations context_seq_ops = {
	.start	= context_seq_start,
	.next	= context_seq_next,
	.stop	= context_seq_stop,
	.show	= context_seq_show,
};

static int context_open(struct inode *inode, struct file *file)
{
	struct context_reader *r = kvmalloc(sizeof(*r), GFP_KERNEL);
	int err;

	if (!r)
		return -ENOMEM;
	r->pos = 0;
	r->site = NULL;
	err = seq_open(file, &context_seq_ops);
	if (err)
		kvfree(r);
	else
		((struct seq_file *)file->private_data)->private = r;
	return err;
}

static int context_release(struct inode *inode, struct file *file)
{
	kvfree(((struct seq_file *)file->private_data)->private);
	return seq_release(inode, file);
}

static ssize_t context_write(struct file *file, const char __user *buf,
			     size_t count, loff_t *pos)
{
	return codetag_command("alloc_tags.ctx", buf, count, context_command);
}

static const struct file_operations context_fops = {
	.owner		= THIS_MODULE,
	.open		= context_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.write		= context_write,
	.release	= context_release,
};

static int context_mem_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%lu of %lu bytes\n", READ_ONCE(context_mem),
		   READ_ONCE(context_mem_max));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(context_mem);

/* Init */

static char context_mem_given[24] __initdata;

/* How much memory there is, is known later. */
static int __init context_mem_setup(char *str)
{
	strscpy(context_mem_given, str && *str ? str : "nothing",
		sizeof(context_mem_given));
	return 0;
}
early_param("alloc_tag.ctx_mem", context_mem_setup);

static unsigned long __init context_mem_asked(void)
{
	unsigned long all = (totalram_pages() - totalhigh_pages()) * PAGE_SIZE;
	unsigned long long mem;
	char *end;

	if (*context_mem_given) {
		mem = memparse(context_mem_given, &end);
		if (!*end && mem >= CONTEXT_MEM_MIN && mem <= all / 2)
			return mem;
		pr_warn("alloc_tag.ctx_mem=%s is not a size from 64K to half of the memory, using the default\n",
			context_mem_given);
	}
	return clamp_t(unsigned long, all / 100, CONTEXT_MEM_MIN,
		       CONTEXT_MEM_DEFAULT);
}

static int __init context_init(void)
{
	context_mem_max = context_mem_asked();
	alloc_tag_register_watcher(&context_watcher);
	debugfs_create_file("alloc_tags.ctx", 0600, NULL, NULL, &context_fops);
	debugfs_create_file("alloc_tags.ctx_mem", 0400, NULL, NULL,
			    &context_mem_fops);
	return 0;
}
late_initcall(context_init);
