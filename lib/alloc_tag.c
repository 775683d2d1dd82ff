// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory allocation profiling.
 *
 * alloc_hooks() makes the tag of a call site current for the time of one
 * allocation. Once the allocator has the memory, it adds to the counter of the
 * current tag and stores the tag's index in a reference that belongs to the
 * memory. When the memory is freed, the same amount is taken off the counter of
 * that index. So a counter shows what the call site holds right now.
 *
 * Invariants:
 *
 *  - A reference that is not empty stands for exactly one call and for all bytes
 *    of its memory in the counter of its index. Code that splits or moves
 *    memory splits or moves its references as well.
 *  - A reference is released when its memory is freed, whether profiling is on
 *    or off by then. Only the adding stops when profiling is switched off.
 *  - A counter is never moved or freed. An index is given to another module
 *    only when its counter is back at zero, so there is nothing to reset.
 *
 * When the indices run out, profiling goes on: all further call sites share one
 * tag, and their lines in /proc/allocinfo say accurate:no.
 *
 * alloc_tag_add(), alloc_tag_sub() and the functions they call run in any
 * context. All else here runs at boot or in process context, unless its comment
 * says otherwise.
 */
#define pr_fmt(fmt) "alloc_tag: " fmt

#include <linux/alloc_tag_watch.h>
#include <linux/bitmap.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/jhash.h>
#include <linux/memblock.h>
#include <linux/mutex.h>
#include <linux/pgalloc_tag.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/sysctl.h>

#include "alloc_tag.h"

/* Data */

enum mem_profiling_mode {
	MEM_PROFILING_NEVER,
	MEM_PROFILING_OFF,
	MEM_PROFILING_ON,
};

#define MEM_PROFILING_DEFAULT						\
	(IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING_ENABLED_BY_DEFAULT) ?	\
	 MEM_PROFILING_ON : MEM_PROFILING_NEVER)

static enum mem_profiling_mode boot_mode __initdata = MEM_PROFILING_DEFAULT;

DEFINE_STATIC_KEY_FALSE(alloc_tag_hooks_key);
EXPORT_SYMBOL(alloc_tag_hooks_key);

DEFINE_STATIC_KEY_FALSE(mem_alloc_profiling_key);

DEFINE_STATIC_KEY_FALSE(alloc_tag_refs_key);
EXPORT_SYMBOL_GPL(alloc_tag_refs_key);

bool alloc_tag_available __ro_after_init;

struct lazy_percpu_counter *alloc_tag_chunks[ALLOC_TAG_CHUNKS] __read_mostly;

/* The documented bound of per-CPU memory, reached if all counters are hot. */
static_assert(CODETAG_INDEX_MAX * sizeof(struct lazy_percpu_part) <= SZ_1M);

struct lazy_percpu_part __percpu *alloc_tag_parts[ALLOC_TAG_NR_PARTS]
							__page_aligned_bss;
unsigned int alloc_tag_nr __read_mostly;

struct alloc_tag alloc_tag_none;

extern struct alloc_tag __start_alloc_tags[], __stop_alloc_tags[];

static DECLARE_BITMAP(alloc_tag_index_map, CODETAG_INDEX_MAX + 1);

static int alloc_tag_module_load(struct codetag_type *type,
				 struct codetag_range *range);
static bool alloc_tag_in_use(struct codetag_type *type,
			     const struct codetag *ct);

struct codetag_type alloc_tag_type = {
	.section	= "alloc_tags",
	.tag_size	= sizeof(struct alloc_tag),
	.index_map	= alloc_tag_index_map,
	.max_index	= CONFIG_MEM_ALLOC_PROFILING_INDICES,
	.module_load	= alloc_tag_module_load,
	.in_use		= alloc_tag_in_use,
};

static struct codetag_range alloc_tag_kernel;

/*
 * The index that all call sites without one of their own share. It is reserved
 * before codetag assigns any. Its tag only gives it a name in the report.
 */
#define SHARED_INDEX		1

struct alloc_tag alloc_tag_catch_all = {
	.ct = CODETAG_INIT_FOR("lines_without_index",
			       .index = SHARED_INDEX,
			       .flags = ALLOC_TAG_SHARED),
};

/* Internals */

static bool alloc_tag_in_use(struct codetag_type *type,
			     const struct codetag *ct)
{
	s64 bytes;
	long calls;

	/*
	 * The module is gone, so its memory can only be freed. The CPUs are
	 * read one after the other, so a sum may miss frees: it can be too
	 * large, but never too small.
	 */
	if (ct->flags & ALLOC_TAG_SHARED)
		return false;
	lazy_percpu_counter_read(alloc_tag_counter(ct->index), &bytes, &calls);
	return bytes || alloc_tag_watched(ct->index);
}

static void alloc_tag_share(struct codetag_range *range, unsigned int first)
{
	unsigned int i;
	struct codetag *ct;

	for (i = first; i < range->nr; i++) {
		ct = codetag_of_range(&alloc_tag_type, range, i);
		ct->index = SHARED_INDEX;
		ct->flags |= ALLOC_TAG_SHARED;
	}
}

static int alloc_tag_module_load(struct codetag_type *type,
				 struct codetag_range *range)
{
	unsigned int i, last;

	if (!range->nr_index) {
		pr_warn_once("%s: out of indices, its allocations are accounted together with others\n",
			     range->modname);
		alloc_tag_share(range, 0);
		return 0;
	}

	last = range->first_index + range->nr_index - 1;
	for (i = range->first_index >> ALLOC_TAG_CHUNK_SHIFT;
	     i <= last >> ALLOC_TAG_CHUNK_SHIFT; i++) {
		if (alloc_tag_chunks[i])
			continue;
		alloc_tag_chunks[i] = kcalloc(ALLOC_TAG_CHUNK_SIZE,
					      sizeof(struct lazy_percpu_counter),
					      GFP_KERNEL);
		if (!alloc_tag_chunks[i])
			return -ENOMEM;
	}
	WRITE_ONCE(alloc_tag_nr, max(alloc_tag_nr, last + 1));
	return 0;
}

/* Enter the parts of a hot counter in the array, unless its site is watched. */
static void alloc_tag_enter_parts(unsigned long index,
				  const struct lazy_percpu_counter *c)
{
	struct lazy_percpu_part __percpu *parts = READ_ONCE(c->parts);

	/* A grace period after a site is watched, no CPU is still in here. */
	rcu_read_lock();
	if (index < ALLOC_TAG_NR_PARTS && !alloc_tag_watched(index)) {
		WRITE_ONCE(alloc_tag_parts[index], parts);
		/* Pairs with the smp_mb() in alloc_tag_drop_parts(). */
		smp_mb();
		if (unlikely(alloc_tag_watched(index)))
			WRITE_ONCE(alloc_tag_parts[index], NULL);
	}
	rcu_read_unlock();
}

/**
 * alloc_tag_drop_parts - make a call site count in alloc_tag_count_slow()
 * @index: index of its tag, for which alloc_tag_watched() is true by now
 *
 * A CPU that has read the old entry can still count once without the slow path.
 * A grace period later, all allocations and frees take the slow path. The only
 * exception is a task that was preempted after it had read the old entry.
 *
 * Context: process context, with alloc_tag_type locked.
 */
void alloc_tag_drop_parts(unsigned long index)
{
	lockdep_assert_held(&alloc_tag_type.lock);

	/*
	 * Pairs with the smp_mb() in alloc_tag_enter_parts(), which either sees
	 * that the call site is watched, or has entered the parts before they
	 * are dropped here.
	 */
	smp_mb();
	WRITE_ONCE(alloc_tag_parts[index], NULL);
}

/**
 * alloc_tag_count_slow - change a counter whose parts are not in the array
 * @index: index of the tag, 0 for none
 * @bytes: added to its bytes
 * @calls: added to its calls
 * @ref: reference of the memory that is allocated or freed, NULL for neither
 *
 * A work item can give the counter parts at any time. The next change of the
 * counter comes here, counts, and enters the parts in the array.
 *
 * Context: any.
 */
void alloc_tag_count_slow(unsigned long index, long bytes, long calls,
			  struct alloc_tag_ref *ref)
{
	struct lazy_percpu_counter *c;

	if (!index || (IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING_DEBUG) &&
		       index == ALLOC_TAG_EXEMPT))
		return;
	if (WARN_ONCE(index >= READ_ONCE(alloc_tag_nr),
		      "alloc_tag: no index %lu, memory corruption?\n", index))
		return;
	c = alloc_tag_counter(index);
	if (unlikely(alloc_tag_watched(index))) {
		lazy_percpu_counter_add(c, bytes, calls);
		alloc_tag_watch_count(index, ref, bytes, calls);
	} else if (READ_ONCE(c->parts)) {
		alloc_tag_enter_parts(index, c);
		lazy_percpu_counter_add(c, bytes, calls);
	} else {
		lazy_percpu_counter_add_atomic(c, bytes, calls);
	}
}

#ifdef CONFIG_MEM_ALLOC_PROFILING_DEBUG
/**
 * alloc_tag_warn - warn about memory whose call site is not known
 * @what: what happened to the memory
 *
 * Warns once for each place. A place is the four innermost return addresses, so
 * there is a warning for each entry point of an allocator.
 *
 * Context: any.
 */
void alloc_tag_warn(const char *what)
{
	static DECLARE_BITMAP(warned, 4096);
	unsigned long callers[4];
	unsigned int nr, bit;

	nr = stack_trace_save(callers, ARRAY_SIZE(callers), 1);
	bit = jhash(callers, nr * sizeof(*callers), 0) % 4096;
	if (!test_and_set_bit(bit, warned))
		WARN(1, "alloc_tag: %s\n", what);
}
#endif

static void mem_profiling_enable(void)
{
	if (static_key_enabled(&mem_alloc_profiling_key))
		return;
	/*
	 * Enable the hooks first: an allocation without a current tag would never
	 * be released.
	 */
	static_branch_inc(&alloc_tag_hooks_key);
	static_branch_enable(&alloc_tag_refs_key);
	/* On some architectures, a CPU could see the next key change before these. */
	kick_all_cpus_sync();
	static_branch_enable(&mem_alloc_profiling_key);
}

static void __maybe_unused mem_profiling_disable(void)
{
	if (!static_key_enabled(&mem_alloc_profiling_key))
		return;
	static_branch_disable(&mem_alloc_profiling_key);
	kick_all_cpus_sync();
	static_branch_dec(&alloc_tag_hooks_key);
}

/* Interface: for consumers that need the call site of an allocation */

/**
 * alloc_tag_hooks_get - make hooks set the current tag
 *
 * From then on current->alloc_tag is the call site of an allocation, whether
 * profiling is on or off.
 *
 * Context: process context, may sleep.
 * Return: false if the tags have no indices, as after "never".
 */
bool alloc_tag_hooks_get(void)
{
	if (!alloc_tag_available)
		return false;
	static_branch_inc(&alloc_tag_hooks_key);
	return true;
}

/**
 * alloc_tag_hooks_put - undo a successful alloc_tag_hooks_get()
 *
 * Context: process context, may sleep.
 */
void alloc_tag_hooks_put(void)
{
	static_branch_dec(&alloc_tag_hooks_key);
}

/* Interface: for the consumer that follows memory, linux/alloc_tag_watch.h */

#ifdef CONFIG_ALLOC_TAG_WATCH

DEFINE_STATIC_KEY_FALSE(alloc_tag_watch_key);

DEFINE_STATIC_CALL_NULL(alloc_tag_watch_wants, bool (unsigned long));
DEFINE_STATIC_CALL_NULL(alloc_tag_watch_count,
			void (unsigned long, struct alloc_tag_ref *, long, long));
DEFINE_STATIC_CALL_NULL(alloc_tag_watch_regroup,
			void (unsigned long, struct page *, unsigned long,
			      unsigned long));
DEFINE_STATIC_CALL_NULL(alloc_tag_watch_move,
			void (struct alloc_tag_ref *, struct alloc_tag_ref *));

/**
 * alloc_tag_register_watcher - register the consumer that follows memory
 * @watcher: its callbacks; there can be only one watcher
 *
 * No callback runs before the watcher enables alloc_tag_watch_key.
 *
 * Context: boot, may sleep.
 */
void __init alloc_tag_register_watcher(const struct alloc_tag_watcher *watcher)
{
	static_call_update(alloc_tag_watch_wants, watcher->wants);
	static_call_update(alloc_tag_watch_count, watcher->count);
	static_call_update(alloc_tag_watch_regroup, watcher->regroup);
	static_call_update(alloc_tag_watch_move, watcher->move);
}

#endif /* CONFIG_ALLOC_TAG_WATCH */

/**
 * alloc_tag_register_unload - register a callback for the unload of modules
 * @unload: see module_unload in struct codetag_type; there can be only one
 *
 * Context: boot, before the first module is loaded.
 */
void __init
alloc_tag_register_unload(void (*unload)(struct codetag_type *type,
					 struct codetag_range *range))
{
	alloc_tag_type.module_unload = unload;
}

/* Interface: for lib/allocinfo.c */

/**
 * alloc_tag_read - read the counter of a call site
 * @ct: its tag, in a range of the locked alloc_tag_type, or the catch-all
 * @bytes: the bytes it holds, never below 0; 0 for a tag with a shared counter
 * @calls: the number of allocations, likewise
 *
 * Reads the memory of every possible CPU if the counter is hot.
 *
 * Context: any.
 */
void alloc_tag_read(const struct codetag *ct, s64 *bytes, long *calls)
{
	*bytes = 0;
	*calls = 0;
	if (!ct->index || ((ct->flags & ALLOC_TAG_SHARED) &&
			   ct != &alloc_tag_catch_all.ct))
		return;
	lazy_percpu_counter_read(alloc_tag_counter(ct->index), bytes, calls);

	/* A sum can see a free on one CPU but miss the allocation elsewhere. */
	*bytes = max_t(s64, *bytes, 0);
	*calls = max(*calls, 0L);
}

/* Interface: vm.mem_profiling */

#ifdef CONFIG_SYSCTL
static int mem_profiling_handler(struct ctl_table *table, int write,
				 void *buffer, size_t *lenp, loff_t *ppos)
{
	static DEFINE_MUTEX(lock);
	int val, ret;
	struct ctl_table tmp = {
		.data	= &val,
		.maxlen	= sizeof(val),
		.mode	= table->mode,
		.extra1	= SYSCTL_ZERO,
		.extra2	= SYSCTL_ONE,
	};

	mutex_lock(&lock);
	val = static_key_enabled(&mem_alloc_profiling_key);
	ret = proc_dointvec_minmax(&tmp, write, buffer, lenp, ppos);
	if (write && !ret) {
		if (val)
			mem_profiling_enable();
		else
			mem_profiling_disable();
	}
	mutex_unlock(&lock);
	return ret;
}

static struct ctl_table mem_profiling_sysctls[] = {
	{
		.procname	= "mem_profiling",
		.mode		= IS_ENABLED(CONFIG_MEM_ALLOC_PROFILING_DEBUG) ?
				  0444 : 0644,
		.proc_handler	= mem_profiling_handler,
	},
	{ }
};

static int __init mem_profiling_sysctl_init(void)
{
	if (!alloc_tag_available)
		mem_profiling_sysctls[0].mode = 0444;
	register_sysctl_init("vm", mem_profiling_sysctls);
	return 0;
}
fs_initcall(mem_profiling_sysctl_init);
#endif

/* Init */

/* {0|1|never}[,compressed]; references are compact in either case. */
static int mem_profiling_parse(const char *s)
{
	static const char * const modes[] = {
		[MEM_PROFILING_NEVER]	= "never",
		[MEM_PROFILING_OFF]	= "0",
		[MEM_PROFILING_ON]	= "1",
	};
	const char *rest;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		if (!strstarts(s, modes[i]))
			continue;
		rest = s + strlen(modes[i]);
		if (!*rest || !strcmp(rest, ",compressed"))
			return i;
	}
	return -EINVAL;
}

/*
 * Not an early parameter: those are parsed before bootconfig adds its own. The
 * page allocator gets its first page after both.
 */
static int __init mem_profiling_setup(char *str)
{
	int mode;

	/* __setup() matches a prefix: this may be a longer name. */
	if (*str && *str != '=')
		return 0;
	if (*str)
		str++;
	/* bootconfig passes "1,compressed" as two parameters. */
	if (!strcmp(str, "compressed"))
		return 1;
	mode = mem_profiling_parse(str);
	if (mode < 0) {
		pr_warn("sysctl.vm.mem_profiling=%s is not {0|1|never}[,compressed], using the default, %s\n",
			str, MEM_PROFILING_DEFAULT == MEM_PROFILING_ON ?
			"1" : "never");
		boot_mode = MEM_PROFILING_DEFAULT;
		return 1;
	}
	boot_mode = mode;
	return 1;
}
__setup("sysctl.vm.mem_profiling", mem_profiling_setup);

static int __init alloc_tag_init_counters(unsigned int nr)
{
	size_t chunk = ALLOC_TAG_CHUNK_SIZE * sizeof(struct lazy_percpu_counter);
	unsigned int i, nr_chunks = DIV_ROUND_UP(nr, ALLOC_TAG_CHUNK_SIZE);
	void *counters;

	counters = memblock_alloc(nr_chunks * chunk, SMP_CACHE_BYTES);
	if (!counters)
		return -ENOMEM;
	alloc_tag_nr = nr;
	for (i = 0; i < nr_chunks; i++)
		alloc_tag_chunks[i] = counters + i * chunk;
	return 0;
}

/**
 * alloc_tag_early_init - set up memory allocation profiling
 *
 * Must run before the page allocator gets its first page, so that the call site
 * of all its memory is known, and after memblock and jump labels are set up.
 */
void __init alloc_tag_early_init(void)
{
	unsigned int nr = __stop_alloc_tags - __start_alloc_tags;

	if (boot_mode == MEM_PROFILING_NEVER)
		return;

	/* Index 0, which means none, and the shared index count as well. */
	nr = min(nr + SHARED_INDEX, alloc_tag_type.max_index) + 1;
	if (alloc_tag_init_counters(nr) || pgalloc_tag_init()) {
		pr_err("no memory, memory allocation profiling is unavailable\n");
		return;
	}

	__set_bit(SHARED_INDEX, alloc_tag_index_map);
	codetag_register_type(&alloc_tag_type, &alloc_tag_kernel,
			      __start_alloc_tags, __stop_alloc_tags);
	alloc_tag_share(&alloc_tag_kernel, alloc_tag_kernel.nr_index);
	if (alloc_tag_kernel.nr_index < alloc_tag_kernel.nr)
		pr_warn("out of indices, %u of %u lines are accounted together\n",
			alloc_tag_kernel.nr - alloc_tag_kernel.nr_index,
			alloc_tag_kernel.nr);
	alloc_tag_available = true;
	if (boot_mode == MEM_PROFILING_ON)
		mem_profiling_enable();
}

#ifdef CONFIG_X86
/*
 * After "never" nobody reads the array. Only x86 has a function that frees a
 * part of the kernel image and also takes care of its second mapping, of
 * kmemleak and of debug_pagealloc; elsewhere the array stays.
 */
static int __init alloc_tag_free_parts(void)
{
	if (!alloc_tag_available)
		free_kernel_image_pages("unused kernel image (allocation tags)",
					alloc_tag_parts,
					PTR_ALIGN_DOWN(alloc_tag_parts + ALLOC_TAG_NR_PARTS,
						       PAGE_SIZE));
	return 0;
}
late_initcall(alloc_tag_free_parts);
#endif

#ifdef CONFIG_ALLOC_TAG_KUNIT_TEST
#include "alloc_tag_kunit.c"
#endif
