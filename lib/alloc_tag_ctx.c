// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation context capture.
 *
 * Profiling shows how much memory a call site holds. If the call site is in a
 * helper that half of the kernel calls, the next question is which caller holds
 * it. For each call site that the user enables, this code saves the stack of
 * every allocation and keeps it until the memory is freed.
 *
 * The data:
 *
 *	site ---> stack ---> detail: pid, time, size; for a limited number
 *	            ^
 *	            | counts and bytes
 *	          entry <--- hash table, by the address of the reference
 *
 * An entry stands for one piece of memory. A stack has the count and the bytes
 * of all its entries. So a free can be subtracted even if there is no detail
 * for it.
 *
 * How allocations get here: the counting path looks up the per-CPU parts of a
 * counter in an array, and calls alloc_tag_count_slow() if they are not there.
 * The parts of an enabled call site are kept out of that array. So other call
 * sites pay nothing.
 *
 * A site is off, armed or on. While it is armed, its allocations and frees come
 * here, but nothing is recorded. A grace period later it is switched on, see
 * context_switch_on(). So every free of memory that has an entry comes here.
 * All users of the tables disable interrupts and then check the state of the
 * site. So a grace period after a site goes off, nobody adds entries to it or
 * looks for them. Sites are never freed: a call site that is enabled again gets
 * its old one.
 *
 * A capture allocates nothing, because the caller may hold a lock of an
 * allocator, or any raw lock. It takes objects from the pages of a reserve,
 * which an irq_work refills as soon as interrupts are enabled again. If the
 * reserve is empty, the allocation is counted as dropped. A cap limits all
 * these pages, and the sizes of the tables follow from it. Pages and tables are
 * freed when the last site goes off, and only then.
 *
 * Locking: context_mutex serializes commands and readers; the tags are locked
 * inside of it. All other locks are raw and taken with interrupts off, so that
 * a capture works under any lock, even with PREEMPT_RT. Each group of buckets
 * has a lock, for its chains and for the memory of the objects in them. Inside
 * of that lock the following are taken, one at a time: the lock of a stack
 * (counts and details), the lock of a site (its list of stacks), and the lock
 * of the reserve. Stacks are looked up without a lock.
 */
#define pr_fmt(fmt) "alloc_tags.ctx: " fmt

#include <linux/alloc_tag.h>
#include <linux/alloc_tag_watch.h>
#include <linux/capability.h>
#include <linux/codetag_query.h>
#include <linux/debugfs.h>
#include <linux/gfp.h>
#include <linux/hash.h>
#include <linux/highmem.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/pgalloc_tag.h>
#include <linux/preempt.h>
#include <linux/proc_fs.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/uaccess.h>
#include <linux/xarray.h>

#include "alloc_tag.h"

/* Data */

/* Neither wakes kswapd nor uses the memory that is reserved for reclaim. */
#define CONTEXT_GFP		(__GFP_NOWARN | __GFP_NOMEMALLOC)

#define CONTEXT_FRAMES		32	/* of a stack, the innermost ones */
#define CONTEXT_DETAILS		1024	/* of a site */
#define CONTEXT_PAGE_HEAD	sizeof(u64)	/* a link to the next page */
#define CONTEXT_MEM_MIN		(16 * PAGE_SIZE)
#define CONTEXT_MEM_DEFAULT	SZ_64M	/* or 1 % of memory, if less */

enum context_state {
	CONTEXT_OFF,
	CONTEXT_ARMED,
	CONTEXT_ON,
};

enum context_drop {
	DROP_MEMORY,	/* the cap is reached, or no page could be allocated */
	DROP_STACK,	/* stack_trace_save() found no frame */
	DROP_NMI,
	DROP_NESTED,	/* this CPU was in the middle of another capture */
	DROP_RESERVE,	/* the reserve is empty and not refilled yet */
	NR_DROPS,
};

static const char * const context_drop_names[] = {
	[DROP_MEMORY]	= "memory",
	[DROP_STACK]	= "stack",
	[DROP_NMI]	= "nmi",
	[DROP_NESTED]	= "nested",
	[DROP_RESERVE]	= "reserve",
};

static_assert(ARRAY_SIZE(context_drop_names) == NR_DROPS);

/**
 * struct context_site - a call site that is or was enabled
 * @index: index of its tag
 * @state: off, armed or on, see the top of this file
 * @nr_details: number of entries with a detail
 * @dropped: number of allocations without an entry since it was enabled, by
 *	reason
 * @lock: protects additions to @stacks
 * @stacks: list of struct context_stack; nothing is removed while any site is
 *	on
 * @node: in context_sites_list
 * @where: the tag as text
 * @function: the part of @where that is the name of the function
 */
struct context_site {
	unsigned long index;
	enum context_state state;
	atomic_t nr_details;
	atomic_long_t dropped[NR_DROPS];
	raw_spinlock_t lock;
	struct list_head stacks;
	struct list_head node;
	char *where;
	const char *function;
};

/**
 * struct context_stack - a call stack that led to a site
 * @next: in its bucket
 * @node: in site->stacks
 * @site: the site
 * @lock: protects @count, @bytes and @details
 * @nr_frames: number of @frames
 * @count: number of entries
 * @bytes: bytes of all entries
 * @details: details of some of the entries, the oldest first
 * @frames: return addresses, the innermost first
 */
struct context_stack {
	struct hlist_node next;
	struct list_head node;
	struct context_site *site;
	raw_spinlock_t lock;
	unsigned int nr_frames;
	unsigned long count;
	u64 bytes;
	struct list_head details;
	unsigned long frames[];
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
 * struct context_pool - memory for objects of one kind
 * @free: list of the free objects, each of which points to the next
 * @fresh: the unused rest of a page
 * @left: size of @fresh in bytes
 */
struct context_pool {
	void *free;
	void *fresh;
	size_t left;
};

/**
 * struct context_group - some of the buckets of both tables
 * @lock: protects their chains, and the pools
 * @entries: pool of struct context_entry
 * @details: pool of struct context_detail, for these entries
 * @stacks: pool of struct context_stack; these differ in size and are never put
 *	back
 */
struct context_group {
	raw_spinlock_t lock;
	struct context_pool entries;
	struct context_pool details;
	struct context_pool stacks;
} ____cacheline_aligned_in_smp;

/**
 * struct context_tables - the hash tables of entries and stacks
 * @entry_bits: binary logarithm of the number of buckets of @entries
 * @stack_bits: binary logarithm of the number of buckets of @stacks
 * @group_bits: binary logarithm of the number of @groups, the smallest of the
 *	three
 * @entries: buckets of entries, by the address of the reference
 * @stacks: buckets of stacks, by site and frames
 * @groups: groups of buckets; the low bits of a bucket's number are the number
 *	of its group
 */
struct context_tables {
	unsigned int entry_bits;
	unsigned int stack_bits;
	unsigned int group_bits;
	struct context_entry **entries;
	struct hlist_head *stacks;
	struct context_group *groups;
};

/**
 * struct context_reserve - the pages that objects come from
 * @lock: protects @free, @used and @nr
 * @free: list of the free pages, each of which points to the next
 * @used: the same for the pages that contain objects
 * @nr: number of free pages
 * @want: number of free pages to keep; 0 while nothing is captured
 * @starved: the last refill found no memory
 * @starved_at: time of that refill, in jiffies
 */
struct context_reserve {
	raw_spinlock_t lock;
	void *free;
	void *used;
	unsigned int nr;
	unsigned int want;
	bool starved;
	unsigned long starved_at;
};

static_assert(sizeof(void *) <= CONTEXT_PAGE_HEAD &&
	      CONTEXT_PAGE_HEAD % __alignof__(struct context_stack) == 0 &&
	      CONTEXT_PAGE_HEAD % __alignof__(struct context_detail) == 0);

static DEFINE_MUTEX(context_mutex);

/* Sites by index, and in the order in which they were first enabled. */
static DEFINE_XARRAY(context_sites);
static LIST_HEAD(context_sites_list);
static unsigned int context_nr_on;

/* Allocated while any site is armed or on; check the state of a site first. */
static struct context_tables context_tables;

static struct context_reserve context_reserve = {
	.lock = __RAW_SPIN_LOCK_UNLOCKED(context_reserve.lock),
};

static unsigned long context_mem_max;
static atomic_long_t context_mem;

/* Incremented when the stacks are freed, under context_mutex. */
static unsigned long context_generation;

/**
 * struct context_cpu - a CPU's buffer for the stack that it captures
 * @busy: a capture is going on
 * @frames: return addresses of the stack
 */
struct context_cpu {
	bool busy;
	unsigned long frames[CONTEXT_FRAMES];
};

static DEFINE_PER_CPU(struct context_cpu, context_cpu);

/*
 * Call this with interrupts off. If the site is on, the tables and the objects
 * in them stay until interrupts are enabled again, see context_sweep().
 */
static bool context_is_on(const struct context_site *site)
{
	return READ_ONCE(site->state) == CONTEXT_ON;
}

/* Internals: memory */

static bool context_fits(unsigned long bytes)
{
	unsigned long mem = atomic_long_read(&context_mem);

	return bytes <= context_mem_max - min(mem, context_mem_max);
}

static bool context_charge(unsigned long bytes)
{
	if (atomic_long_add_return(bytes, &context_mem) <= context_mem_max)
		return true;
	atomic_long_sub(bytes, &context_mem);
	return false;
}

static void context_free_page(void *page)
{
	free_page((unsigned long)page);
	atomic_long_sub(PAGE_SIZE, &context_mem);
}

/*
 * Add a page if one is wanted. Return whether it was added. A refill can run
 * after context_drain() has emptied the reserve: a page added then would never
 * be freed.
 */
static bool context_reserve_put(void *page)
{
	unsigned long flags;
	bool wanted;

	raw_spin_lock_irqsave(&context_reserve.lock, flags);
	wanted = context_reserve.nr < READ_ONCE(context_reserve.want);
	if (wanted) {
		*(void **)page = context_reserve.free;
		context_reserve.free = page;
		WRITE_ONCE(context_reserve.nr, context_reserve.nr + 1);
	}
	raw_spin_unlock_irqrestore(&context_reserve.lock, flags);
	return wanted;
}

/*
 * Fill the reserve as far as the cap and the memory allow. The number of pages
 * is limited, because this can run in an interrupt while other CPUs use the
 * pages up.
 */
static void context_refill(gfp_t gfp)
{
	unsigned int i, most = READ_ONCE(context_reserve.want);
	void *page;

	for (i = 0; i < most; i++) {
		if (READ_ONCE(context_reserve.nr) >= READ_ONCE(context_reserve.want) ||
		    !context_charge(PAGE_SIZE))
			return;
		page = (void *)__get_free_page(gfp);
		if (!page) {
			atomic_long_sub(PAGE_SIZE, &context_mem);
			WRITE_ONCE(context_reserve.starved_at, jiffies);
			WRITE_ONCE(context_reserve.starved, true);
			return;
		}
		WRITE_ONCE(context_reserve.starved, false);
		if (!context_reserve_put(page)) {
			context_free_page(page);
			return;
		}
	}
}

/*
 * Runs in an interrupt as soon as the capturing CPU enables interrupts; with
 * PREEMPT_RT, in a thread. Pages can be allocated in both contexts.
 */
static void context_refill_fn(struct irq_work *work)
{
	context_refill(CONTEXT_GFP);
}

static DEFINE_IRQ_WORK(context_refill_work, context_refill_fn);

/*
 * Ask for a refill once a quarter of the reserve is used. The rest has to last
 * until interrupts are enabled again, see context_reserve_size(). After a
 * refill that found no memory, ask at most once per jiffy.
 */
static void context_ask_for_refill(void)
{
	unsigned int want = READ_ONCE(context_reserve.want);

	if (READ_ONCE(context_reserve.nr) > want - want / 4 ||
	    !context_fits(PAGE_SIZE))
		return;
	if (READ_ONCE(context_reserve.starved) &&
	    !time_after(jiffies, READ_ONCE(context_reserve.starved_at)))
		return;
	irq_work_queue(&context_refill_work);
}

/* Take a page from the reserve. Its first bytes link it into the used pages. */
static void *context_take_page(void)
{
	void *page;

	raw_spin_lock(&context_reserve.lock);
	page = context_reserve.free;
	if (page) {
		context_reserve.free = *(void **)page;
		WRITE_ONCE(context_reserve.nr, context_reserve.nr - 1);
		*(void **)page = context_reserve.used;
		context_reserve.used = page;
	}
	raw_spin_unlock(&context_reserve.lock);
	context_ask_for_refill();
	return page;
}

/* Call this under the lock of the group that the pool is in. */
static void *context_get(struct context_pool *pool, size_t size)
{
	void *p = pool->free;

	if (p) {
		pool->free = *(void **)p;
		return p;
	}
	if (pool->left < size) {
		p = context_take_page();
		if (!p)
			return NULL;
		pool->fresh = p + CONTEXT_PAGE_HEAD;
		pool->left = PAGE_SIZE - CONTEXT_PAGE_HEAD;
	}
	p = pool->fresh;
	pool->fresh += size;
	pool->left -= size;
	return p;
}

static void context_put(struct context_pool *pool, void *p)
{
	*(void **)p = pool->free;
	pool->free = p;
}

/* Count a dropped allocation. The reason is memory if a refill cannot help. */
static void context_drop_no_memory(struct context_site *site)
{
	bool hopeless = READ_ONCE(context_reserve.starved) ||
			!context_fits(PAGE_SIZE);

	atomic_long_inc(&site->dropped[hopeless ? DROP_MEMORY : DROP_RESERVE]);
}

/* Context: process context. */
static void context_free_pages(void *page)
{
	void *next;

	for (; page; page = next) {
		next = *(void **)page;
		context_free_page(page);
		cond_resched();
	}
}

/*
 * Call this when nothing is captured any more. A refill may still run: either
 * it adds its page before the lists are taken here, or it sees under the lock
 * that no page is wanted.
 */
static void context_drain(void)
{
	void *free, *used;

	WRITE_ONCE(context_reserve.want, 0);
	raw_spin_lock_irq(&context_reserve.lock);
	free = context_reserve.free;
	used = context_reserve.used;
	context_reserve.free = NULL;
	context_reserve.used = NULL;
	WRITE_ONCE(context_reserve.nr, 0);
	raw_spin_unlock_irq(&context_reserve.lock);

	/*
	 * Wait, so that a refill has usually freed its page as well. This is
	 * not certain: an irq_work that was queued again while it ran can still
	 * run on another CPU.
	 */
	irq_work_sync(&context_refill_work);
	WRITE_ONCE(context_reserve.starved, false);
	context_free_pages(free);
	context_free_pages(used);
}

/* Internals: stacks and entries */

static struct context_group *context_group(u32 bucket)
{
	return &context_tables.groups[bucket &
				      (BIT(context_tables.group_bits) - 1)];
}

static struct context_stack *
context_find_stack(const struct context_site *site, u32 bucket,
		   const unsigned long *frames, unsigned int nr)
{
	struct context_stack *st;

	/* Stacks may be added now, but are removed only when no site is on. */
	hlist_for_each_entry_rcu(st, &context_tables.stacks[bucket], next)
		if (st->site == site && st->nr_frames == nr &&
		    !memcmp(st->frames, frames, nr * sizeof(*frames)))
			return st;
	return NULL;
}

static void context_init_stack(struct context_stack *st,
			       struct context_site *site,
			       const unsigned long *frames, unsigned int nr)
{
	st->site = site;
	st->nr_frames = nr;
	st->count = 0;
	st->bytes = 0;
	raw_spin_lock_init(&st->lock);
	INIT_LIST_HEAD(&st->details);
	memcpy(st->frames, frames, nr * sizeof(*frames));
}

/* Find a stack, or add it. Return NULL if there is no memory for it. */
static struct context_stack *
context_add_stack(struct context_site *site, u32 bucket,
		  const unsigned long *frames, unsigned int nr)
{
	struct context_group *group = context_group(bucket);
	struct context_stack *st;

	raw_spin_lock(&group->lock);
	st = context_find_stack(site, bucket, frames, nr);
	if (st)
		goto out;
	st = context_get(&group->stacks, ALIGN(struct_size(st, frames, nr),
					       __alignof__(*st)));
	if (!st)
		goto out;
	context_init_stack(st, site, frames, nr);
	hlist_add_head_rcu(&st->next, &context_tables.stacks[bucket]);
	raw_spin_lock(&site->lock);
	list_add_tail_rcu(&st->node, &site->stacks);
	raw_spin_unlock(&site->lock);
out:
	raw_spin_unlock(&group->lock);
	return st;
}

static u32 context_bucket(const struct alloc_tag_ref *ref)
{
	return hash_ptr(ref, context_tables.entry_bits);
}

/* Find the link to the entry of a reference, or the end of its chain. */
static struct context_entry **context_find(u32 bucket,
					   const struct alloc_tag_ref *ref,
					   unsigned long index)
{
	struct context_entry **e = &context_tables.entries[bucket];

	lockdep_assert_held(&context_group(bucket)->lock);

	while (*e && ((*e)->ref != ref || (*e)->stack->site->index != index))
		e = &(*e)->next;
	return e;
}

static void context_link(u32 bucket, struct context_entry *e,
			 struct alloc_tag_ref *ref)
{
	lockdep_assert_held(&context_group(bucket)->lock);

	e->ref = ref;
	e->next = context_tables.entries[bucket];
	context_tables.entries[bucket] = e;
}

static void context_resize(struct context_entry *e, size_t bytes)
{
	struct context_stack *st = e->stack;

	raw_spin_lock(&st->lock);
	st->bytes += (u64)bytes - e->bytes;
	e->bytes = bytes;
	if (e->detail)
		e->detail->bytes = bytes;
	raw_spin_unlock(&st->lock);
}

/* Get a detail, or NULL if the site has enough of them or memory is short. */
static struct context_detail *
context_new_detail(struct context_group *group, struct context_site *site,
		   const struct context_info *info)
{
	struct context_detail *d;

	if (!atomic_add_unless(&site->nr_details, 1, CONTEXT_DETAILS))
		return NULL;
	d = context_get(&group->details, sizeof(*d));
	if (d)
		d->info = *info;
	else
		atomic_dec(&site->nr_details);
	return d;
}

static void context_insert(struct context_entry *e)
{
	struct context_stack *st = e->stack;

	raw_spin_lock(&st->lock);
	st->count++;
	st->bytes += e->bytes;
	if (e->detail) {
		e->detail->bytes = e->bytes;
		list_add_tail(&e->detail->node, &st->details);
	}
	raw_spin_unlock(&st->lock);
}

static void context_remove(struct context_group *group,
			   struct context_entry **link)
{
	struct context_entry *e = *link;
	struct context_stack *st = e->stack;

	lockdep_assert_held(&group->lock);

	*link = e->next;
	raw_spin_lock(&st->lock);
	st->count--;
	st->bytes -= e->bytes;
	if (e->detail)
		list_del(&e->detail->node);
	raw_spin_unlock(&st->lock);
	if (e->detail) {
		context_put(&group->details, e->detail);
		atomic_dec(&st->site->nr_details);
	}
	context_put(&group->entries, e);
}

/* Remove the entry of a reference. Return whether there was one. */
static bool context_forget(const struct alloc_tag_ref *ref, unsigned long index)
{
	u32 bucket = context_bucket(ref);
	struct context_group *group = context_group(bucket);
	struct context_entry **e;
	bool found;

	raw_spin_lock(&group->lock);
	e = context_find(bucket, ref, index);
	found = *e;
	if (found)
		context_remove(group, e);
	raw_spin_unlock(&group->lock);
	return found;
}

/* Add an entry; with @info, give it a detail if there is room for one. */
static void context_add(struct context_stack *st,
			const struct context_info *info,
			struct alloc_tag_ref *ref, size_t bytes)
{
	u32 bucket = context_bucket(ref);
	struct context_group *group = context_group(bucket);
	struct context_entry *e, **stale;
	bool was_stale;

	raw_spin_lock(&group->lock);
	stale = context_find(bucket, ref, st->site->index);
	was_stale = *stale;
	if (was_stale)
		context_remove(group, stale);
	e = context_get(&group->entries, sizeof(*e));
	if (e) {
		*e = (struct context_entry) { .stack = st, .bytes = bytes };
		if (info)
			e->detail = context_new_detail(group, st->site, info);
		context_link(bucket, e, ref);
		context_insert(e);
	}
	raw_spin_unlock(&group->lock);
	if (!e)
		context_drop_no_memory(st->site);
	WARN_ONCE(was_stale, "alloc_tags.ctx: a free was missed\n");
}

/* Internals: capture, with interrupts off */

static struct context_stack *context_save_stack(struct context_site *site,
						struct context_cpu *cpu)
{
	struct context_stack *st;
	unsigned int nr;
	u32 bucket;

	nr = stack_trace_save(cpu->frames, CONTEXT_FRAMES, 0);
	/* The frames of the interrupted task did not cause this allocation. */
	nr = filter_irq_stacks(cpu->frames, nr);
	if (!nr) {
		atomic_long_inc(&site->dropped[DROP_STACK]);
		return NULL;
	}
	bucket = jhash2((u32 *)cpu->frames,
			nr * sizeof(*cpu->frames) / sizeof(u32), site->index);
	bucket &= BIT(context_tables.stack_bits) - 1;
	st = context_find_stack(site, bucket, cpu->frames, nr);
	if (!st)
		st = context_add_stack(site, bucket, cpu->frames, nr);
	if (!st)
		context_drop_no_memory(site);
	return st;
}

static void context_capture(struct context_site *site, struct context_cpu *cpu,
			    struct alloc_tag_ref *ref, size_t bytes)
{
	struct context_stack *st = context_save_stack(site, cpu);
	struct context_info info = {
		.pid	= current->pid,
		.tgid	= current->tgid,
		.ts	= local_clock(),
	};

	if (!st)
		return;
	memcpy(info.comm, current->comm, sizeof(info.comm));
	context_add(st, &info, ref, bytes);
}

static void context_alloc(struct context_site *site, struct alloc_tag_ref *ref,
			  size_t bytes)
{
	struct context_cpu *cpu = this_cpu_ptr(&context_cpu);

	if (cpu->busy) {
		atomic_long_inc(&site->dropped[DROP_NESTED]);
		return;
	}
	cpu->busy = true;
	context_capture(site, cpu, ref, bytes);
	cpu->busy = false;
}

/* Interface: the callbacks of alloc_tag */

static bool context_wants(unsigned long index)
{
	struct context_site *site = xa_load(&context_sites, index);

	return site && READ_ONCE(site->state) != CONTEXT_OFF;
}

static void context_count(unsigned long index, struct alloc_tag_ref *ref,
			  long bytes, long calls)
{
	struct context_site *site = xa_load(&context_sites, index);
	unsigned long flags;

	/* The interrupted code may hold our locks. No NMI frees memory. */
	if (in_nmi()) {
		if (context_is_on(site))
			atomic_long_inc(&site->dropped[DROP_NMI]);
		return;
	}
	local_irq_save(flags);
	if (!context_is_on(site))
		goto out;
	if (calls > 0)
		context_alloc(site, ref, bytes);
	else
		context_forget(ref, site->index);
out:
	local_irq_restore(flags);
}

/*
 * Find the stack of a reference, or NULL if it has no entry. If the entry has a
 * detail, copy that to @info and set @known.
 */
static struct context_stack *context_stack_of(const struct alloc_tag_ref *ref,
					      unsigned long index,
					      struct context_info *info,
					      bool *known)
{
	u32 bucket = context_bucket(ref);
	struct context_group *group = context_group(bucket);
	struct context_stack *st = NULL;
	struct context_entry *e;

	*known = false;
	raw_spin_lock(&group->lock);
	e = *context_find(bucket, ref, index);
	if (e)
		st = e->stack;
	if (e && e->detail) {
		*info = e->detail->info;
		*known = true;
	}
	raw_spin_unlock(&group->lock);
	return st;
}

static void context_regroup_first(const struct alloc_tag_ref *ref,
				  unsigned long index, size_t bytes)
{
	u32 bucket = context_bucket(ref);
	struct context_group *group = context_group(bucket);
	struct context_entry *e;

	raw_spin_lock(&group->lock);
	e = *context_find(bucket, ref, index);
	if (e)
		context_resize(e, bytes);
	raw_spin_unlock(&group->lock);
}

/* Regroup a page after the first one; @bytes is 0 if it begins no block. */
static void context_regroup_other(struct context_site *site,
				  const struct alloc_tag_ref *first,
				  struct alloc_tag_ref *ref, size_t bytes)
{
	struct context_stack *st;
	struct context_info info;
	bool known, had = context_forget(ref, site->index);

	if (!had && !bytes)
		return;
	st = context_stack_of(first, site->index, &info, &known);
	if (st && bytes)
		context_add(st, known ? &info : NULL, ref, bytes);
	else if (!st && had)
		atomic_long_inc(&site->dropped[DROP_MEMORY]);
}

/*
 * All pages get the stack of the first one. The caller owns the pages, so their
 * references do not change meanwhile. But the site may go off between two
 * pages, and then its stacks may be gone. So check the state again for each
 * page.
 */
static void context_regroup(unsigned long index, struct page *page,
			    unsigned long nr, unsigned long part)
{
	struct context_site *site = xa_load(&context_sites, index);
	struct alloc_tag_ref *ref, *first = pgalloc_tag_ref(page);
	unsigned long i, flags;
	size_t bytes;

	for (i = 0; i < nr; i++) {
		ref = pgalloc_tag_ref(nth_page(page, i));
		bytes = i % part ? 0 : part * PAGE_SIZE;
		local_irq_save(flags);
		if (context_is_on(site) && !i)
			context_regroup_first(ref, index, bytes);
		else if (context_is_on(site))
			context_regroup_other(site, first, ref, bytes);
		local_irq_restore(flags);
	}
}

/* Take the entry of a reference out of the table. Return NULL if none. */
static struct context_entry *context_unlink(const struct alloc_tag_ref *ref)
{
	struct context_site *site = xa_load(&context_sites, ref->index);
	struct context_entry *e, **link;
	struct context_group *group;
	u32 bucket;

	/* context_sweep() must find the entries of a site that went off. */
	if (!site || !context_is_on(site))
		return NULL;
	bucket = context_bucket(ref);
	group = context_group(bucket);
	raw_spin_lock(&group->lock);
	link = context_find(bucket, ref, ref->index);
	e = *link;
	if (e)
		*link = e->next;
	raw_spin_unlock(&group->lock);
	return e;
}

static void context_relink(struct context_entry *e, struct alloc_tag_ref *ref)
{
	u32 bucket = context_bucket(ref);
	struct context_group *group = context_group(bucket);

	raw_spin_lock(&group->lock);
	context_link(bucket, e, ref);
	raw_spin_unlock(&group->lock);
}

/* The caller owns both references: nobody looks for an entry in between. */
static void context_move(struct alloc_tag_ref *a, struct alloc_tag_ref *b)
{
	struct context_entry *of_a, *of_b;
	unsigned long flags;

	local_irq_save(flags);
	of_a = context_unlink(a);
	of_b = context_unlink(b);
	if (of_a)
		context_relink(of_a, b);
	if (of_b)
		context_relink(of_b, a);
	local_irq_restore(flags);
}

static const struct alloc_tag_watcher context_watcher = {
	.wants		= context_wants,
	.count		= context_count,
	.regroup	= context_regroup,
	.move		= context_move,
};

/* Internals: commands */

static size_t context_tables_size(const struct context_tables *t)
{
	return (sizeof(*t->entries) << t->entry_bits) +
	       (sizeof(*t->stacks) << t->stack_bits) +
	       (sizeof(*t->groups) << t->group_bits);
}

static void context_free_tables(struct context_tables *t)
{
	kvfree(t->entries);
	kvfree(t->stacks);
	kvfree(t->groups);
}

/*
 * The number of entry buckets is such that a chain has about four entries when
 * entries take up the whole cap. There is about one stack bucket for each KiB
 * of the cap. A group has up to three partly used pages, one for each pool. A
 * cap of less than 128 pages has one group. A larger cap has at least 64 pages
 * for each group, so the partly used pages are less than a twentieth of it.
 */
static int context_alloc_tables(struct context_tables *t, unsigned long cap)
{
	unsigned int i;

	t->entry_bits = clamp(ilog2(cap / (4 * sizeof(struct context_entry))),
			      4, 22);
	t->stack_bits = clamp(ilog2(cap / SZ_1K), 4, 18);
	t->group_bits = clamp(ilog2(cap / (64 * PAGE_SIZE) | 1), 0, 8);
	t->entries = kvcalloc(BIT(t->entry_bits), sizeof(*t->entries),
			      GFP_KERNEL);
	t->stacks = kvcalloc(BIT(t->stack_bits), sizeof(*t->stacks),
			     GFP_KERNEL);
	t->groups = kvcalloc(BIT(t->group_bits), sizeof(*t->groups),
			     GFP_KERNEL);
	if (!t->entries || !t->stacks || !t->groups) {
		context_free_tables(t);
		return -ENOMEM;
	}
	for (i = 0; i < BIT(t->group_bits); i++)
		raw_spin_lock_init(&t->groups[i].lock);
	return 0;
}

/*
 * The reserve has at least one page for each pool of each group. Addresses are
 * hashed, so a few hundred allocations with interrupts off can be the first
 * ones in most groups. When a quarter of the reserve is used and the refill has
 * to wait, there are still two pages for each group. With eight groups or more,
 * that is enough to split a huge page of 512 pages, which needs entries and
 * details, but no stacks. The reserve is a quarter of the smallest cap, and a
 * smaller part of larger ones.
 */
static unsigned int context_reserve_size(unsigned long cap,
					 unsigned int group_bits)
{
	return max(clamp(cap / PAGE_SIZE / 16, 4UL, 128UL), 3UL << group_bits);
}

/* Allocate the tables, which are needed while any site is armed or on. */
static int context_get_tables(void)
{
	struct context_tables tables;
	int err;

	lockdep_assert_held(&context_mutex);

	if (context_tables.entries)
		return 0;
	err = context_alloc_tables(&tables, context_mem_max);
	if (err)
		return err;
	atomic_long_add(context_tables_size(&tables), &context_mem);
	context_tables = tables;
	WRITE_ONCE(context_reserve.want,
		   context_reserve_size(context_mem_max, tables.group_bits));
	context_refill(GFP_KERNEL | __GFP_NORETRY | __GFP_NOWARN);
	static_branch_enable(&alloc_tag_watch_key);
	return 0;
}

/*
 * Free the tables if no site is armed or on. This is safe: no CPU uses the
 * tables or requests a refill. Either no site was ever on since the tables were
 * allocated, or context_sweep() has waited for a grace period after the last
 * site was switched off.
 */
static void context_put_tables(void)
{
	struct context_tables tables = context_tables;
	struct context_site *site;

	lockdep_assert_held(&context_mutex);

	if (context_nr_on || !tables.entries)
		return;
	static_branch_disable(&alloc_tag_watch_key);
	context_tables = (struct context_tables) { };
	list_for_each_entry(site, &context_sites_list, node)
		INIT_LIST_HEAD(&site->stacks);
	context_generation++;
	context_drain();
	atomic_long_sub(context_tables_size(&tables), &context_mem);
	context_free_tables(&tables);
}

static char *context_where(const struct codetag_iterator *it)
{
	return kasprintf(GFP_KERNEL, "%s:%u module:%s func:%s",
			 it->ct->filename, it->ct->lineno,
			 codetag_modname(it), it->ct->function);
}

/* Get the site of a tag, or make one, which is off. */
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
	raw_spin_lock_init(&site->lock);
	INIT_LIST_HEAD(&site->stacks);
	err = xa_err(xa_store(&context_sites, index, site, GFP_KERNEL));
	if (err) {
		kfree(site);
		return NULL;
	}
	list_add_tail(&site->node, &context_sites_list);
	return site;
}

/* Set the name of a site: its index may belong to another tag than before. */
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
	WRITE_ONCE(site->state, CONTEXT_OFF);
	context_nr_on--;
}

static void context_sweep_bucket(u32 bucket)
{
	struct context_group *group = context_group(bucket);
	struct context_entry **e = &context_tables.entries[bucket];

	raw_spin_lock_irq(&group->lock);
	while (*e) {
		if ((*e)->stack->site->state == CONTEXT_OFF)
			context_remove(group, e);
		else
			e = &(*e)->next;
	}
	raw_spin_unlock_irq(&group->lock);
}

/* Remove the entries of sites that went off. */
static void context_sweep(void)
{
	u32 i;

	/* Afterwards nobody adds entries to these sites or moves them. */
	synchronize_rcu();
	for (i = 0; i < BIT(context_tables.entry_bits); i++) {
		context_sweep_bucket(i);
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

/*
 * Call @visit for each tag that a query selects. Return the sum of its return
 * values, or its first error.
 */
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

/* Does the tag have a counter of its own, and can its code still run? */
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
	struct context_site *site;

	if (it->ct->flags & ALLOC_TAG_SHARED)
		return 0;
	site = xa_load(&context_sites, it->ct->index);
	if (site)
		context_switch_off(site);
	return 1;
}

/*
 * After the grace period, all allocations and frees at these sites come here:
 * they read the table after the parts were removed from it. There is one
 * exception: with CONFIG_PREEMPT, a task can be preempted after it has read the
 * table, and count later. Such an allocation has no entry and is not counted as
 * dropped, as if it were made before `enable`. Such a free is of memory that
 * was allocated before `enable`, which has no entry either.
 */
static void context_switch_on(void)
{
	struct context_site *site;

	synchronize_rcu();
	list_for_each_entry(site, &context_sites_list, node)
		if (site->state == CONTEXT_ARMED)
			WRITE_ONCE(site->state, CONTEXT_ON);
}

static int context_enable(struct codetag_query query)
{
	int nr = context_get_tables();

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
	if (context_tables.entries)
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
	context_put_tables();
	mutex_unlock(&context_mutex);

	if (!nr) {
		pr_err("no such call site, or none with a counter of its own\n");
		return -ENOENT;
	}
	return min(nr, 0);
}

/* Interface: debugfs and procfs */

/**
 * struct context_reader - an open file
 * @pos: current position, as seq_file counts
 * @site: current site, NULL at the end; valid between two calls, because sites
 *	are never freed
 * @stack: current stack; NULL at the line of the site itself
 * @generation: value of context_generation when @stack was found
 * @nr: number of @details
 * @details: copies of the details of @stack
 */
struct context_reader {
	loff_t pos;
	struct context_site *site;
	struct context_stack *stack;
	unsigned long generation;
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

static void context_reader_next_site(struct context_reader *r)
{
	r->stack = NULL;
	if (list_is_last(&r->site->node, &context_sites_list))
		r->site = NULL;
	else
		r->site = list_next_entry(r->site, node);
}

static void context_reader_next(struct context_reader *r)
{
	struct list_head *next = r->stack ? &r->stack->node : &r->site->stacks;

	r->pos++;
	/* Pairs with list_add_tail_rcu(). The mutex prevents removals. */
	next = READ_ONCE(next->next);
	if (next != &r->site->stacks)
		r->stack = list_entry(next, struct context_stack, node);
	else
		context_reader_next_site(r);
}

/* Continue where the last read() ended, even if stacks came or went since. */
static void *context_seq_start(struct seq_file *m, loff_t *pos)
{
	struct context_reader *r = m->private;

	mutex_lock(&context_mutex);
	if (!*pos || r->pos > *pos)
		context_reader_first(r);
	else if (r->stack && r->generation != context_generation)
		context_reader_next_site(r);
	r->generation = context_generation;
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

/* The format has no space between number and unit. */
static void context_show_size(struct seq_file *m, u64 bytes)
{
	char text[16], *unit;

	string_get_size(bytes, 1, STRING_UNITS_2, text, sizeof(text));
	unit = strchr(text, ' ');
	*unit++ = '\0';
	seq_printf(m, "%*s%s", (int)(8 - strlen(unit)), text, unit);
}

/* Sum up all stacks of a site. */
static void context_sum(struct context_site *site, unsigned long *count,
			u64 *bytes)
{
	struct context_stack *st;

	*count = 0;
	*bytes = 0;
	/* The mutex prevents removals. */
	list_for_each_entry_rcu(st, &site->stacks, node,
				lockdep_is_held(&context_mutex)) {
		raw_spin_lock_irq(&st->lock);
		*count += st->count;
		*bytes += st->bytes;
		raw_spin_unlock_irq(&st->lock);
	}
}

static void context_show_site(struct seq_file *m, struct context_site *site)
{
	unsigned long count;
	unsigned int i;
	u64 bytes;

	context_sum(site, &count, &bytes);
	context_show_size(m, bytes);
	seq_printf(m, " %8lu %s\n", count, site->where);
	for (i = 0; i < NR_DROPS; i++) {
		count = atomic_long_read(&site->dropped[i]);
		if (count)
			seq_printf(m, "    dropped for %s: %lu\n",
				   context_drop_names[i], count);
	}
}

/* Is @symbol the function @name? Ignore a compiler's suffix and the module. */
static bool context_is_symbol(const char *symbol, const char *name)
{
	size_t len = strlen(name);

	return !strncmp(symbol, name, len) && strchr(". ", symbol[len]);
}

/*
 * Skip the frames inside of the site: they show only how the allocator works.
 * If the function of the site was inlined, its frame cannot be found. Then skip
 * only the frames up to alloc_tag_count_slow().
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
	unsigned int i;

	seq_puts(m, "    call stack:\n");
	for (i = context_skip_frames(st->site, st->frames, st->nr_frames);
	     i < st->nr_frames; i++)
		seq_printf(m, "         %pB\n", (void *)st->frames[i]);
}

static void context_show_stack(struct seq_file *m, struct context_reader *r)
{
	struct context_stack *st = r->stack;
	const struct context_detail *d;
	unsigned long count;
	u64 bytes;

	r->nr = 0;
	raw_spin_lock_irq(&st->lock);
	count = st->count;
	bytes = st->bytes;
	list_for_each_entry(d, &st->details, node)
		r->details[r->nr++] = *d;
	raw_spin_unlock_irq(&st->lock);
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
	struct context_reader *r;
	int err;

	/* A call stack can contain an address that has no symbol. */
	err = security_locked_down(LOCKDOWN_TRACEFS);
	if (err)
		return err;
	r = kvmalloc(sizeof(*r), GFP_KERNEL);
	if (!r)
		return -ENOMEM;
	r->pos = 0;
	r->site = NULL;
	r->stack = NULL;
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

/* A container has /proc, and its root is no administrator of this machine. */
static int context_proc_open(struct inode *inode, struct file *file)
{
	return perfmon_capable() ? context_open(inode, file) : -EPERM;
}

static const struct proc_ops context_proc_ops = {
	.proc_open	= context_proc_open,
	.proc_read	= seq_read,
	.proc_lseek	= seq_lseek,
	.proc_write	= context_write,
	.proc_release	= context_release,
};

static int context_mem_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%lu of %lu bytes\n", atomic_long_read(&context_mem),
		   READ_ONCE(context_mem_max));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(context_mem);

/* Init */

static char context_mem_given[24] __initdata;

/* Keep the text for context_mem_asked(): the memory size is not known yet. */
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
		pr_warn("alloc_tag.ctx_mem=%s is not a size from %luK to half of the memory, using the default\n",
			context_mem_given, CONTEXT_MEM_MIN / SZ_1K);
	}
	return clamp_t(unsigned long, all / 100, CONTEXT_MEM_MIN,
		       CONTEXT_MEM_DEFAULT);
}

static int __init context_init(void)
{
	context_mem_max = context_mem_asked();
	alloc_tag_register_watcher(&context_watcher);
	debugfs_create_file("alloc_tags.ctx", 0600, NULL, NULL, &context_fops);
	/* Under lockdown, debugfs does not open files that can be written. */
	proc_create("alloc_tags.ctx", 0600, NULL, &context_proc_ops);
	debugfs_create_file("alloc_tags.ctx_mem", 0400, NULL, NULL,
			    &context_mem_fops);
	return 0;
}
late_initcall(context_init);

#ifdef CONFIG_ALLOC_TAG_CTX_KUNIT_TEST
#include "alloc_tag_ctx_kunit.c"
#endif
