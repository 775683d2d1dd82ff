// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtrace: write a record for every allocation and every free of slab objects
 * and pages into per-CPU relay buffers, which user space reads.
 *
 * The probes are attached to tracepoints of the allocators. So kmemtrace needs
 * no profiling, and while it is off it costs no more than the tracepoints. The
 * layout of the records is in include/uapi/linux/kmemtrace.h.
 *
 * Invariants:
 *
 *  - Every event seen while recording takes one sequence number, and is then
 *    either written whole or counted as lost. Over all CPUs, the numbers used
 *    are: one for each event written, one for each event lost, one for each
 *    KMEMTRACE_EVENT_LOST record, and one for each start of recording.
 *  - Only a CPU itself writes its records, with interrupts off, so the numbers
 *    in its buffer rise. The allocators are not called in NMI, so neither is
 *    this code.
 *  - Lost records are reported in the stream before the next record of that
 *    CPU.
 *
 * A record is made in place, in any context, without a lock. The CPUs share
 * only the counter of sequence numbers, which gives all records one total
 * order. It can count several times faster than a reader can follow.
 *
 * From kmem_cache_init() to the end of mm_init() there are no relay buffers
 * yet. Until then the records go into an array, which is freed after boot.
 */
#define pr_fmt(fmt) "kmemtrace: " fmt

#include <linux/alloc_tag.h>
#include <linux/atomic.h>
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kasan.h>
#include <linux/kmemtrace.h>
#include <linux/memblock.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/relay.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/swap.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>

#include <asm/sections.h>
#include <asm/unaligned.h>

#include <trace/events/kmem.h>
#include <uapi/linux/kmemtrace.h>

#include "internal.h"
#include "slab.h"

/* Data */

#define SUBBUF_SIZE	(256 * 1024)
#define SUBBUFS_DEFAULT	16
#define SUBBUFS_MAX	(UINT_MAX / SUBBUF_SIZE)	/* of relay_open() */

/* Bits of the configuration; the bit of a feature is its id. */
#define RECORDING	BIT(0)
#define WITH_TIME	BIT(KMEMTRACE_FEATURE_TIME)
#define WITH_PID	BIT(KMEMTRACE_FEATURE_PID)
#define WITH_TAG	BIT(KMEMTRACE_FEATURE_TAG)
#define WITH_ALL	(WITH_TIME | WITH_PID | WITH_TAG)

static const char * const feature_names[] = {
	[KMEMTRACE_FEATURE_TIME]	= "time",
	[KMEMTRACE_FEATURE_PID]		= "pid",
	[KMEMTRACE_FEATURE_TAG]		= "tag",
};

static_assert(sizeof(struct kmemtrace_event) == 24);
static_assert(sizeof(struct kmemtrace_alloc) == 48);
static_assert(sizeof(struct kmemtrace_lost) == 40);
static_assert(sizeof(struct kmemtrace_feature) == 3);

/* The kinds of records, and their sizes without features. */
enum kind {
	KIND_ALLOC,
	KIND_FREE,
	KIND_FREE_PAGES,
	NR_KINDS,
};

static const u16 kind_core[NR_KINDS] = {
	[KIND_ALLOC]		= sizeof(struct kmemtrace_alloc),
	[KIND_FREE]		= sizeof(struct kmemtrace_event),
	[KIND_FREE_PAGES]	= sizeof(struct kmemtrace_event),
};

/*
 * The configuration is changed under the lock. The probes read it without: the
 * features and sizes are set before RECORDING, and do not change while probes
 * run.
 */
static DEFINE_MUTEX(kmemtrace_lock);
static unsigned int kmemtrace_config __read_mostly = WITH_ALL;
static u16 kind_size[NR_KINDS] __read_mostly;
static struct rchan *kmemtrace_chan __read_mostly;
static unsigned int kmemtrace_subbufs = SUBBUFS_DEFAULT;
static struct dentry *kmemtrace_dir;
/* Recording ends when this file is closed, if set. Changed under the lock. */
static struct file *kmemtrace_holder;

static atomic_t kmemtrace_sequence ____cacheline_aligned_in_smp;

/**
 * struct kmemtrace_cpu - counts of a CPU since boot
 * @events: records of allocations and frees that were written
 * @bytes: size of all records that were written
 * @lost_events: records that were lost for lack of room
 * @lost_bytes: size of the lost records
 * @untold_events: lost records not yet reported by a KMEMTRACE_EVENT_LOST
 * @untold_bytes: size of the unreported records
 *
 * Only that CPU changes them, with interrupts off.
 */
struct kmemtrace_cpu {
	u64 events;
	u64 bytes;
	u64 lost_events;
	u64 lost_bytes;
	u64 untold_events;
	u64 untold_bytes;
};

static DEFINE_PER_CPU(struct kmemtrace_cpu, kmemtrace_cpu);

/* The records of early boot, when there are no relay buffers yet. */
static u8 early_room[256 * 1024] __initdata __aligned(KMEMTRACE_ALIGN);
static size_t early_used;

/* Internals: the caller of the page allocator */

/*
 * Functions that allocate or free pages on behalf of their caller. If the call
 * site is in one of them, its caller on the stack is the one to record.
 */
static void * const inner_functions[] = {
#ifdef CONFIG_NUMA
	alloc_pages_noprof,
	folio_alloc_noprof,
	vma_alloc_folio_noprof,
	alloc_pages_bulk_array_mempolicy_noprof,
#endif
#ifdef CONFIG_CONTIG_ALLOC
	alloc_contig_range_noprof,
	alloc_contig_pages_noprof,
	isolate_freepages_range,
	free_contig_range,
#endif
#ifdef CONFIG_TRANSPARENT_HUGEPAGE
	free_transhuge_page,
#endif
	__folio_alloc_noprof,
	__get_free_pages_noprof,
	get_zeroed_page_noprof,
	__alloc_pages_bulk_noprof,
	alloc_pages_exact_noprof,
	alloc_pages_exact_nid_noprof,
	page_frag_alloc_align_noprof,
	__free_pages,
	free_pages,
	free_pages_exact,
	free_compound_page,
	destroy_large_folio,
	__folio_put,
	page_frag_free,
	__page_frag_cache_drain,
};

/* The same for functions that the compiler may have inlined. */
static const char * const inner_names[] = {
	"alloc_page_interleave",
	"alloc_pages_preferred_many",
	"__page_frag_cache_refill",
	"free_shared_pages",
};

struct text_range {
	unsigned long start;
	unsigned long size;
};

static struct text_range
inner[ARRAY_SIZE(inner_functions) + ARRAY_SIZE(inner_names)] __read_mostly;
static unsigned int nr_inner __read_mostly;
static struct text_range inner_all __read_mostly;

static void add_inner(unsigned long addr)
{
	unsigned long size, offset, end;

	if (!addr || !kallsyms_lookup_size_offset(addr, &size, &offset))
		return;
	addr -= offset;
	inner[nr_inner].start = addr;
	inner[nr_inner++].size = size;
	end = max(inner_all.start + inner_all.size, addr + size);
	inner_all.start = min(inner_all.start ?: addr, addr);
	inner_all.size = end - inner_all.start;
}

static void find_inner(void)
{
	unsigned int i;

	if (nr_inner)
		return;
	for (i = 0; i < ARRAY_SIZE(inner_functions); i++)
		add_inner((unsigned long)dereference_function_descriptor(inner_functions[i]));
	for (i = 0; i < ARRAY_SIZE(inner_names); i++)
		add_inner(kallsyms_lookup_name(inner_names[i]));
}

static bool is_inner(unsigned long addr)
{
	unsigned int i;

	for (i = 0; i < nr_inner; i++)
		if (addr - inner[i].start < inner[i].size)
			return true;
	return false;
}

static noinline unsigned long search_caller(unsigned long call_site)
{
	unsigned long stack[16];
	unsigned int i, nr;

	if (!is_inner(call_site))
		return call_site;
	nr = stack_trace_save(stack, ARRAY_SIZE(stack), 1);
	for (i = 0; i < nr && stack[i] != call_site; i++)
		;
	for (i++; i < nr; i++)
		if (!is_inner(stack[i]))
			return stack[i];
	return call_site;
}

static __always_inline unsigned long outer_caller(unsigned long call_site)
{
	if (likely(call_site - inner_all.start >= inner_all.size))
		return call_site;
	return search_caller(call_site);
}

/* Internals: a record */

static __ref noinline void *early_reserve(size_t size)
{
	void *room = early_room + early_used;

	/* After boot, early_used is the size of the array: no room is left. */
	if (early_used + size > sizeof(early_room))
		return NULL;
	early_used += size;
	return room;
}

static __always_inline void *reserve(struct kmemtrace_cpu *c, size_t size)
{
	void *room;

	if (likely(kmemtrace_chan))
		room = relay_reserve(kmemtrace_chan, size);
	else
		room = early_reserve(size);
	if (likely(room))
		c->bytes += size;
	return room;
}

static __always_inline void fill_event(struct kmemtrace_event *e, u8 event_id,
				       u8 type_id, u16 size,
				       unsigned long call_site, u64 ptr)
{
	e->event_id = event_id;
	e->type_id = type_id;
	e->event_size = size;
	e->sequence_number = atomic_inc_return(&kmemtrace_sequence);
	e->call_site = call_site;
	e->ptr = ptr;
}

/*
 * Report the lost records. This is impossible in the array of early boot: it is
 * full after the first loss.
 */
static noinline bool tell_lost(struct kmemtrace_cpu *c)
{
	struct kmemtrace_lost *r;

	r = kmemtrace_chan ? reserve(c, sizeof(*r)) : NULL;
	if (!r)
		return false;
	fill_event(&r->event, KMEMTRACE_EVENT_LOST, 0, sizeof(*r), 0, 0);
	r->events = c->untold_events;
	r->bytes = c->untold_bytes;
	c->untold_events = 0;
	c->untold_bytes = 0;
	return true;
}

static noinline void lose(struct kmemtrace_cpu *c, size_t size)
{
	atomic_inc(&kmemtrace_sequence);
	c->lost_events++;
	c->lost_bytes += size;
	c->untold_events++;
	c->untold_bytes += size;
}

/* Get room for a record of this CPU, or count it as lost and return NULL. */
static __always_inline void *begin_record(size_t size)
{
	struct kmemtrace_cpu *c = this_cpu_ptr(&kmemtrace_cpu);
	void *room = NULL;

	if (likely(!c->untold_events) || tell_lost(c))
		room = reserve(c, size);
	if (likely(room))
		c->events++;
	else
		lose(c, size);
	return room;
}

/* Write size and id in one store; the value then overwrites its fourth byte. */
static __always_inline void *put_feature(void *p, u8 id, u64 value, size_t len)
{
	u32 size = sizeof(struct kmemtrace_feature) + len;

	put_unaligned(IS_ENABLED(CONFIG_CPU_BIG_ENDIAN) ?
		      size << 16 | (u32)id << 8 : size | (u32)id << 16,
		      (u32 *)p);
	p += sizeof(struct kmemtrace_feature);
	switch (len) {
	case sizeof(u64):
		put_unaligned(value, (u64 *)p);
		break;
	case sizeof(u32):
		put_unaligned((u32)value, (u32 *)p);
		break;
	default:
		put_unaligned((u16)value, (u16 *)p);
	}
	return p + len;
}

static __always_inline void put_features(void *record, enum kind kind,
					 unsigned int config, u64 bytes)
{
	void *p = record + kind_core[kind];

	/* Clear the end of the record, which the features may not fill. */
	*(u64 *)(record + kind_size[kind] - KMEMTRACE_ALIGN) = 0;
	if (kind == KIND_FREE_PAGES)
		p = put_feature(p, KMEMTRACE_FEATURE_BYTES, bytes, sizeof(u64));
	if (config & WITH_TIME)
		p = put_feature(p, KMEMTRACE_FEATURE_TIME,
				ktime_get_mono_fast_ns(), sizeof(u64));
	if (config & WITH_PID)
		p = put_feature(p, KMEMTRACE_FEATURE_PID,
				in_task() ? current->pid : -1, sizeof(u32));
#ifdef CONFIG_MEM_ALLOC_PROFILING
	if (kind == KIND_ALLOC && config & WITH_TAG)
		p = put_feature(p, KMEMTRACE_FEATURE_TAG,
				current->alloc_tag->ct.index, sizeof(u16));
#endif
}

static unsigned int size_of_kind(enum kind kind, unsigned int config)
{
	unsigned int size = kind_core[kind];

	if (kind == KIND_FREE_PAGES)
		size += sizeof(struct kmemtrace_feature) + sizeof(u64);
	if (config & WITH_TIME)
		size += sizeof(struct kmemtrace_feature) + sizeof(u64);
	if (config & WITH_PID)
		size += sizeof(struct kmemtrace_feature) + sizeof(u32);
	if (kind == KIND_ALLOC && config & WITH_TAG)
		size += sizeof(struct kmemtrace_feature) + sizeof(u16);
	return ALIGN(size, KMEMTRACE_ALIGN);
}

/* A CPU of the requested node, or -1 for the local node or none. */
static __always_inline s32 target_cpu(int node)
{
	unsigned int cpu;

	if (likely(node == NUMA_NO_NODE || node == numa_node_id()))
		return -1;
	cpu = cpumask_first(cpumask_of_node(node));
	return cpu < nr_cpu_ids ? cpu : -1;
}

static __always_inline void record_alloc(u8 type, unsigned long call_site,
					 u64 ptr, size_t req, size_t alloc,
					 gfp_t gfp, int node)
{
	/* Pairs with the smp_store_release() in begin_recording(). */
	unsigned int config = smp_load_acquire(&kmemtrace_config);
	struct kmemtrace_alloc *r;
	unsigned long flags;
	u16 size;

	if (unlikely(!(config & RECORDING)))
		return;
	size = kind_size[KIND_ALLOC];
	local_irq_save(flags);
	r = begin_record(size);
	if (likely(r)) {
		fill_event(&r->event, KMEMTRACE_EVENT_ALLOC, type, size,
			   call_site, ptr);
		r->bytes_req = req;
		r->bytes_alloc = alloc;
		r->gfp_flags = (__force u32)gfp;
		r->target_cpu = target_cpu(node);
		if (config & WITH_ALL)
			put_features(r, KIND_ALLOC, config, 0);
	}
	local_irq_restore(flags);
}

static __always_inline void record_free(u8 type, enum kind kind,
					unsigned long call_site, u64 ptr,
					u64 bytes)
{
	/* Pairs with the smp_store_release() in begin_recording(). */
	unsigned int config = smp_load_acquire(&kmemtrace_config);
	struct kmemtrace_event *r;
	unsigned long flags;
	u16 size;

	if (unlikely(!(config & RECORDING)))
		return;
	size = kind_size[kind];
	local_irq_save(flags);
	r = begin_record(size);
	if (likely(r)) {
		fill_event(r, KMEMTRACE_EVENT_FREE, type, size, call_site, ptr);
		if (kind == KIND_FREE_PAGES || config & (WITH_TIME | WITH_PID))
			put_features(r, kind, config, bytes);
	}
	local_irq_restore(flags);
}

/* Internals: the probes */

static void probe_kmalloc(void *data, unsigned long call_site, const void *ptr,
			  size_t bytes_req, size_t bytes_alloc, gfp_t gfp,
			  int node)
{
	record_alloc(KMEMTRACE_TYPE_KMALLOC, call_site, kmemtrace_object_address(ptr),
		     bytes_req, bytes_alloc, gfp, node);
}

static void probe_kfree(void *data, unsigned long call_site, const void *ptr)
{
	if (likely(!ZERO_OR_NULL_PTR(ptr)))
		record_free(KMEMTRACE_TYPE_KMALLOC, KIND_FREE, call_site,
			    kmemtrace_object_address(ptr), 0);
}

static void probe_cache_alloc(void *data, unsigned long call_site,
			      const void *ptr, struct kmem_cache *s, gfp_t gfp,
			      int node)
{
	record_alloc(KMEMTRACE_TYPE_CACHE, call_site, kmemtrace_object_address(ptr),
		     s->object_size, s->size, gfp, node);
}

static void probe_cache_free(void *data, unsigned long call_site,
			     const void *ptr, const struct kmem_cache *s)
{
	if (likely(ptr))
		record_free(KMEMTRACE_TYPE_CACHE, KIND_FREE, call_site,
			    kmemtrace_object_address(ptr), 0);
}

static void probe_page_alloc(void *data, struct page *page, unsigned int order,
			     gfp_t gfp, int migratetype,
			     struct zone *preferred,
			     unsigned long call_site)
{
	size_t bytes = PAGE_SIZE << order;

	record_alloc(KMEMTRACE_TYPE_PAGES, outer_caller(call_site),
		     page ? kmemtrace_page_address(page) : 0, bytes, bytes, gfp,
		     preferred ? zone_to_nid(preferred) : NUMA_NO_NODE);
}

static void probe_page_free(void *data, struct page *page, unsigned int order,
			    unsigned long call_site)
{
	record_free(KMEMTRACE_TYPE_PAGES, KIND_FREE_PAGES,
		    outer_caller(call_site), kmemtrace_page_address(page), PAGE_SIZE << order);
}

static void unregister_probes(void)
{
	unregister_trace_kmalloc(probe_kmalloc, NULL);
	unregister_trace_kfree(probe_kfree, NULL);
	unregister_trace_kmem_cache_alloc(probe_cache_alloc, NULL);
	unregister_trace_kmem_cache_free(probe_cache_free, NULL);
	unregister_trace_mm_page_alloc(probe_page_alloc, NULL);
	unregister_trace_mm_page_free(probe_page_free, NULL);
	/* After this, no CPU is in a probe. */
	tracepoint_synchronize_unregister();
}

static int register_probes(void)
{
	int ret;

	ret = register_trace_kmalloc(probe_kmalloc, NULL);
	if (ret)
		return ret;
	ret = register_trace_kfree(probe_kfree, NULL);
	if (ret)
		goto no_kfree;
	ret = register_trace_kmem_cache_alloc(probe_cache_alloc, NULL);
	if (ret)
		goto no_cache_alloc;
	ret = register_trace_kmem_cache_free(probe_cache_free, NULL);
	if (ret)
		goto no_cache_free;
	ret = register_trace_mm_page_alloc(probe_page_alloc, NULL);
	if (ret)
		goto no_page_alloc;
	ret = register_trace_mm_page_free(probe_page_free, NULL);
	if (ret)
		goto no_page_free;
	return 0;

no_page_free:
	unregister_trace_mm_page_alloc(probe_page_alloc, NULL);
no_page_alloc:
	unregister_trace_kmem_cache_free(probe_cache_free, NULL);
no_cache_free:
	unregister_trace_kmem_cache_alloc(probe_cache_alloc, NULL);
no_cache_alloc:
	unregister_trace_kfree(probe_kfree, NULL);
no_kfree:
	unregister_trace_kmalloc(probe_kmalloc, NULL);
	tracepoint_synchronize_unregister();
	return ret;
}

/* Internals: the channel */

static int buf_open(struct inode *inode, struct file *file)
{
	/* The records contain kernel addresses. */
	int ret = security_locked_down(LOCKDOWN_TRACEFS);

	return ret ?: relay_file_operations.open(inode, file);
}

static ssize_t buf_read(struct file *file, char __user *user, size_t count,
			loff_t *ppos)
{
	return relay_file_operations.read(file, user, count, ppos);
}

static __poll_t buf_poll(struct file *file, poll_table *wait)
{
	return relay_file_operations.poll(file, wait);
}

static int buf_release(struct inode *inode, struct file *file)
{
	return relay_file_operations.release(inode, file);
}

/*
 * The operations of relay without mmap(): under lockdown, debugfs does not open
 * a file that can be mapped. On other kernels it does not pass mmap() on.
 */
static const struct file_operations buf_fops = {
	.open		= buf_open,
	.read		= buf_read,
	.poll		= buf_poll,
	.release	= buf_release,
	.llseek		= no_llseek,
};

static struct dentry *create_buf_file(const char *filename,
				      struct dentry *parent, umode_t mode,
				      struct rchan_buf *buf, int *is_global)
{
	static struct dentry none;

	/* There are no files before debugfs; relay needs a non-NULL value. */
	if (!filename)
		return &none;
	return debugfs_create_file(filename, mode, parent, buf, &buf_fops);
}

static int remove_buf_file(struct dentry *dentry)
{
	struct rchan_buf *buf;

	/* relay does not wake the tasks in poll() when a buffer goes away. */
	if (dentry) {
		buf = d_inode(dentry)->i_private;
		wake_up_interruptible(&buf->read_wait);
	}
	debugfs_remove(dentry);
	return 0;
}

static const struct rchan_callbacks relay_callbacks = {
	.create_buf_file	= create_buf_file,
	.remove_buf_file	= remove_buf_file,
};

/* At boot, most of the memory may not have reached the page allocator yet. */
static u64 __ref memory_size(void)
{
	if (IS_ENABLED(CONFIG_DEFERRED_STRUCT_PAGE_INIT) &&
	    system_state == SYSTEM_BOOTING)
		return memblock_phys_mem_size() - memblock_reserved_size();
	return (u64)nr_free_buffer_pages() << PAGE_SHIFT;
}

/*
 * The buffers of all CPUs may take half of the memory, half of the available
 * memory, and half of the vmalloc space. One sub-buffer for each CPU is always
 * allowed: relay_open() then decides.
 */
static unsigned int subbufs_limit(void)
{
	u64 bytes = memory_size();

	if (system_state == SYSTEM_RUNNING)
		bytes = min_t(u64, bytes, (u64)si_mem_available() << PAGE_SHIFT);
#ifdef VMALLOC_TOTAL
	bytes = min_t(u64, bytes, VMALLOC_TOTAL);
#endif
	bytes = div_u64(bytes / 2, num_possible_cpus());
	return clamp_t(u64, bytes / SUBBUF_SIZE, 1, SUBBUFS_MAX);
}

static void limit_subbufs(void)
{
	unsigned int limit = subbufs_limit();
	unsigned int nr = min_t(unsigned int, limit, SUBBUFS_DEFAULT);

	lockdep_assert_held(&kmemtrace_lock);

	if (kmemtrace_subbufs <= limit)
		return;
	pr_warn("no memory for %u sub-buffers of 256 KiB for each CPU, using %u\n",
		kmemtrace_subbufs, nr);
	WRITE_ONCE(kmemtrace_subbufs, nr);
}

static int open_channel(void)
{
	lockdep_assert_held(&kmemtrace_lock);

	if (kmemtrace_chan)
		return 0;
	limit_subbufs();
	/* relay makes a buffer for each CPU that comes online later. */
	cpus_read_lock();
	kmemtrace_chan = relay_open(kmemtrace_dir ? "cpu" : NULL, kmemtrace_dir,
				    SUBBUF_SIZE, kmemtrace_subbufs,
				    &relay_callbacks, NULL);
	cpus_read_unlock();
	return kmemtrace_chan ? 0 : -ENOMEM;
}

/* Drop the buffers with all unread records, and forget unreported losses. */
static void drop_channel(void)
{
	struct kmemtrace_cpu *c;
	unsigned int cpu;

	lockdep_assert_held(&kmemtrace_lock);

	relay_close(kmemtrace_chan);
	kmemtrace_chan = NULL;
	for_each_possible_cpu(cpu) {
		c = per_cpu_ptr(&kmemtrace_cpu, cpu);
		c->untold_events = 0;
		c->untold_bytes = 0;
	}
}

/*
 * poll() reports only whole sub-buffers. So when recording ends, close the last
 * one of each CPU, which will not get any fuller.
 */
static void close_subbufs(void)
{
	struct dentry *dentry;
	struct rchan_buf *buf;
	struct inode *inode;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		/* relay publishes the buffer of a new CPU without a barrier. */
		cpus_read_lock();
		buf = *per_cpu_ptr(kmemtrace_chan->buf, cpu);
		dentry = buf ? buf->dentry : NULL;
		cpus_read_unlock();
		if (!dentry)
			continue;
		inode = d_inode(dentry);
		/* Keep readers out. */
		inode_lock(inode);
		if (buf->offset && buf->offset <= kmemtrace_chan->subbuf_size)
			relay_switch_subbuf(buf, 0);
		inode_unlock(inode);
	}
}

/* Internals: on and off */

static void set_features(unsigned int features)
{
	lockdep_assert_held(&kmemtrace_lock);

	WRITE_ONCE(kmemtrace_config, features);
}

static void begin_recording(void)
{
	lockdep_assert_held(&kmemtrace_lock);

	/* Leave a gap in the numbers to show that events may be missing. */
	atomic_inc(&kmemtrace_sequence);
	/*
	 * Let all probes begin together. Pairs with their smp_load_acquire():
	 * they see the channel and the sizes of the records.
	 */
	smp_store_release(&kmemtrace_config, kmemtrace_config | RECORDING);
}

static int start_probes(void)
{
	unsigned int features = kmemtrace_config & WITH_ALL;
	enum kind kind;
	int ret;

	find_inner();
	if (features & WITH_TAG && !alloc_tag_hooks_get()) {
		pr_info("recording without tags, there is no memory allocation profiling\n");
		features &= ~WITH_TAG;
		set_features(features);
	}
	for (kind = 0; kind < NR_KINDS; kind++)
		kind_size[kind] = size_of_kind(kind, features);
	ret = register_probes();
	if (ret) {
		if (features & WITH_TAG)
			alloc_tag_hooks_put();
		return ret;
	}
	begin_recording();
	return 0;
}

static int start_recording(void)
{
	int ret;

	lockdep_assert_held(&kmemtrace_lock);

	if (kmemtrace_config & RECORDING)
		return 0;
	ret = open_channel();
	return ret ?: start_probes();
}

static void stop_recording(void)
{
	lockdep_assert_held(&kmemtrace_lock);

	if (!(kmemtrace_config & RECORDING))
		return;
	WRITE_ONCE(kmemtrace_config, kmemtrace_config & ~RECORDING);
	kmemtrace_holder = NULL;
	unregister_probes();
	if (kmemtrace_config & WITH_TAG)
		alloc_tag_hooks_put();
	if (kmemtrace_chan)
		close_subbufs();
}

/* Interface: debugfs and procfs */

/* Values that can be written to "enabled". It reads as 0 or 1. */
enum enabled {
	ENABLED_OFF,
	ENABLED_ON,
	ENABLED_HELD,	/* until the file that this was written to is closed */
};

static int begin_for(struct file *holder)
{
	int ret = start_recording();

	if (!ret)
		kmemtrace_holder = holder;
	return ret;
}

static int enabled_set(struct file *file, u64 val)
{
	int ret = 0;

	if (val > ENABLED_HELD)
		return -EINVAL;
	mutex_lock(&kmemtrace_lock);
	if (val == ENABLED_OFF)
		stop_recording();
	else if (val == ENABLED_ON)
		ret = begin_for(NULL);
	else if (kmemtrace_config & RECORDING)
		ret = -EBUSY;
	else
		ret = begin_for(file);
	mutex_unlock(&kmemtrace_lock);
	return ret;
}

static ssize_t enabled_read(struct file *file, char __user *user, size_t count,
			    loff_t *ppos)
{
	bool on = READ_ONCE(kmemtrace_config) & RECORDING;

	return simple_read_from_buffer(user, count, ppos, on ? "1\n" : "0\n", 2);
}

static ssize_t enabled_write(struct file *file, const char __user *user,
			     size_t count, loff_t *ppos)
{
	u64 val;
	int ret;

	ret = kstrtou64_from_user(user, count, 0, &val);
	if (!ret)
		ret = enabled_set(file, val);
	return ret ?: count;
}

/* Ends the recording that the file holds. A kill closes files, too. */
static int enabled_release(struct inode *inode, struct file *file)
{
	mutex_lock(&kmemtrace_lock);
	if (kmemtrace_holder == file)
		stop_recording();
	mutex_unlock(&kmemtrace_lock);
	return 0;
}

static const struct file_operations enabled_fops = {
	.read		= enabled_read,
	.write		= enabled_write,
	.release	= enabled_release,
	.llseek		= default_llseek,
};

/* A container has /proc, and its root is no administrator of this machine. */
static int enabled_proc_open(struct inode *inode, struct file *file)
{
	return perfmon_capable() ? 0 : -EPERM;
}

static const struct proc_ops enabled_proc_ops = {
	.proc_open	= enabled_proc_open,
	.proc_read	= enabled_read,
	.proc_write	= enabled_write,
	.proc_release	= enabled_release,
	.proc_lseek	= default_llseek,
};

static int subbufs_get(void *data, u64 *val)
{
	*val = READ_ONCE(kmemtrace_subbufs);
	return 0;
}

/* Drops the existing buffers with all unread records. */
static int subbufs_set(void *data, u64 val)
{
	int ret = 0;

	if (!val)
		return -EINVAL;
	mutex_lock(&kmemtrace_lock);
	if (kmemtrace_config & RECORDING) {
		ret = -EBUSY;
	} else if (val > kmemtrace_subbufs && val > subbufs_limit()) {
		/* A smaller number always fits: the old buffers are freed. */
		ret = -ENOMEM;
	} else {
		drop_channel();
		WRITE_ONCE(kmemtrace_subbufs, val);
	}
	mutex_unlock(&kmemtrace_lock);
	return ret;
}
DEFINE_SIMPLE_ATTRIBUTE(subbufs_fops, subbufs_get, subbufs_set, "%llu\n");

static int subbufs_proc_open(struct inode *inode, struct file *file)
{
	return perfmon_capable() ? subbufs_fops_open(inode, file) : -EPERM;
}

static const struct proc_ops subbufs_proc_ops = {
	.proc_open	= subbufs_proc_open,
	.proc_read	= simple_attr_read,
	.proc_write	= simple_attr_write,
	.proc_lseek	= generic_file_llseek,
	.proc_release	= simple_attr_release,
};

static int features_show(struct seq_file *m, void *v)
{
	unsigned int i, config = READ_ONCE(kmemtrace_config);
	const char *space = "";

	for (i = 0; i < ARRAY_SIZE(feature_names); i++) {
		if (!feature_names[i])
			continue;
		seq_printf(m, config & BIT(i) ? "%s[%s]" : "%s%s", space,
			   feature_names[i]);
		space = " ";
	}
	seq_putc(m, '\n');
	return 0;
}

/* Words are separated by blanks or commas; "all" and "none" are words, too. */
static int parse_features(char *s)
{
	unsigned int features = 0;
	char *word;
	int i;

	while ((word = strsep(&s, " ,\t\n"))) {
		if (!*word || !strcmp(word, "none"))
			continue;
		if (!strcmp(word, "all")) {
			features = WITH_ALL;
			continue;
		}
		i = match_string(feature_names + 1,
				 ARRAY_SIZE(feature_names) - 1, word);
		if (i < 0)
			return -EINVAL;
		features |= BIT(i + 1);
	}
	return features;
}

static int choose_features(unsigned int features)
{
	lockdep_assert_held(&kmemtrace_lock);

	if (kmemtrace_config & RECORDING)
		return -EBUSY;
	if (features & WITH_TAG) {
		if (!alloc_tag_hooks_get())
			return -EOPNOTSUPP;
		alloc_tag_hooks_put();
	}
	set_features(features);
	return 0;
}

static ssize_t features_write(struct file *file, const char __user *user,
			      size_t count, loff_t *ppos)
{
	char text[64];
	int ret;

	if (count >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, user, count))
		return -EFAULT;
	text[count] = '\0';
	ret = parse_features(text);
	if (ret < 0)
		return ret;
	mutex_lock(&kmemtrace_lock);
	ret = choose_features(ret);
	mutex_unlock(&kmemtrace_lock);
	return ret ?: count;
}

static int features_open(struct inode *inode, struct file *file)
{
	return single_open(file, features_show, NULL);
}

static const struct file_operations features_fops = {
	.open		= features_open,
	.read		= seq_read,
	.write		= features_write,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int features_proc_open(struct inode *inode, struct file *file)
{
	return perfmon_capable() ? features_open(inode, file) : -EPERM;
}

static const struct proc_ops features_proc_ops = {
	.proc_open	= features_proc_open,
	.proc_read	= seq_read,
	.proc_write	= features_write,
	.proc_lseek	= seq_lseek,
	.proc_release	= single_release,
};

static void copy_counts(void *data)
{
	unsigned long flags;

	local_irq_save(flags);
	*(struct kmemtrace_cpu *)data = *this_cpu_ptr(&kmemtrace_cpu);
	local_irq_restore(flags);
}

/* Read the counts on their own CPU, so that no u64 is half updated. */
static void read_counts(unsigned int cpu, struct kmemtrace_cpu *c)
{
	cpus_read_lock();
	if (smp_call_function_single(cpu, copy_counts, c, 1))
		*c = per_cpu(kmemtrace_cpu, cpu);
	cpus_read_unlock();
}

static int stats_show(struct seq_file *m, void *v)
{
	struct kmemtrace_cpu c;
	unsigned int cpu;

	seq_puts(m, "# cpu events bytes lost_events lost_bytes untold_events untold_bytes\n");
	for_each_possible_cpu(cpu) {
		read_counts(cpu, &c);
		seq_printf(m, "%u %llu %llu %llu %llu %llu %llu\n", cpu,
			   c.events, c.bytes, c.lost_events, c.lost_bytes,
			   c.untold_events, c.untold_bytes);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(stats);

static int total_overruns_show(struct seq_file *m, void *v)
{
	struct kmemtrace_cpu c;
	unsigned int cpu;
	u64 bytes = 0;

	for_each_possible_cpu(cpu) {
		read_counts(cpu, &c);
		bytes += c.lost_bytes;
	}
	seq_printf(m, "%llu\n", bytes);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(total_overruns);

static int abi_version_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%d\n", KMEMTRACE_ABI_VERSION);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(abi_version);

static int tags_show(struct seq_file *m, void *v)
{
	alloc_tag_show_tags(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tags);

static void create_files(void)
{
	struct dentry *dir = kmemtrace_dir;

	debugfs_create_file("abi_version", 0400, dir, NULL, &abi_version_fops);
	debugfs_create_file("total_overruns", 0400, dir, NULL,
			    &total_overruns_fops);
	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);
	debugfs_create_file("tags", 0400, dir, NULL, &tags_fops);
	debugfs_create_file("features", 0600, dir, NULL, &features_fops);
	debugfs_create_file("subbufs", 0600, dir, NULL, &subbufs_fops);
	debugfs_create_file("enabled", 0600, dir, NULL, &enabled_fops);
}

/* Under lockdown, debugfs does not open files that can be written. */
static void create_proc_files(void)
{
	struct proc_dir_entry *dir = proc_mkdir("kmemtrace", NULL);

	if (!dir)
		return;
	proc_create("features", 0600, dir, &features_proc_ops);
	proc_create("subbufs", 0600, dir, &subbufs_proc_ops);
	proc_create("enabled", 0600, dir, &enabled_proc_ops);
}

static int __init kmemtrace_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("kmemtrace", NULL);
	int ret = 0;

	mutex_lock(&kmemtrace_lock);
	if (IS_ERR(dir)) {
		if (kmemtrace_config & RECORDING)
			pr_err("not recording, no debugfs to read the records from\n");
		stop_recording();
		drop_channel();
		mutex_unlock(&kmemtrace_lock);
		return PTR_ERR(dir);
	}
	kmemtrace_dir = dir;
	if (kmemtrace_chan)
		ret = relay_late_setup_files(kmemtrace_chan, "cpu", dir);
	mutex_unlock(&kmemtrace_lock);
	if (ret)
		pr_err("cannot create files for the buffers, error %d\n", ret);
	create_files();
	create_proc_files();
	return 0;
}
fs_initcall(kmemtrace_debugfs_init);

/* Init */

static bool boot_enable __initdata =
	IS_ENABLED(CONFIG_KMEMTRACE_DEFAULT_ENABLED);
static bool boot_enable_given __initdata;
static bool boot_subbufs_given __initdata;

static int __init enable_setup(char *str)
{
	if (!str || kstrtobool(str, &boot_enable)) {
		pr_warn("kmemtrace.enable=%s is not 0 or 1, using %d\n",
			str ?: "", boot_enable);
		return 0;
	}
	boot_enable_given = true;
	return 0;
}
early_param("kmemtrace.enable", enable_setup);

static int __init subbufs_setup(char *str)
{
	unsigned int nr;

	boot_subbufs_given = true;
	if (!str || kstrtouint(str, 10, &nr) || !nr)
		pr_warn("kmemtrace.subbufs=%s is not a number of 1 or more, using %u\n",
			str ?: "", kmemtrace_subbufs);
	else
		kmemtrace_subbufs = nr;
	return 0;
}
early_param("kmemtrace.subbufs", subbufs_setup);

static int __init features_setup(char *str)
{
	char text[64] = "?";
	int features;

	if (str && strlen(str) < sizeof(text))
		strcpy(text, str);
	features = parse_features(text);
	if (features < 0)
		pr_warn("kmemtrace.features=%s is not a list of time, pid and tag, using all\n",
			str ?: "");
	else
		kmemtrace_config = features;
	return 0;
}
early_param("kmemtrace.features", features_setup);

/* Setting only "subbufs=" implies "enable=1". */
static bool __init wanted_from_boot(void)
{
	return boot_enable || (boot_subbufs_given && !boot_enable_given);
}

/**
 * kmemtrace_early_init - start recording if a boot parameter asks for it
 *
 * Call this as soon as the slab allocator is up, so that everything it does
 * from then on is recorded.
 */
void __init kmemtrace_early_init(void)
{
	if (!wanted_from_boot())
		return;
	mutex_lock(&kmemtrace_lock);
	if (start_probes())
		pr_err("not recording, no memory\n");
	mutex_unlock(&kmemtrace_lock);
}

/* There are no buffers: count the records of early boot as lost. */
static void __init lose_early(void)
{
	struct kmemtrace_cpu *c = this_cpu_ptr(&kmemtrace_cpu);

	c->lost_events += c->events;
	c->lost_bytes += c->bytes;
	c->untold_events = c->lost_events;
	c->untold_bytes = c->lost_bytes;
	c->events = 0;
	c->bytes = 0;
}

static void __init keep_early(void)
{
	void *room = relay_reserve(kmemtrace_chan, early_used);

	/* Cannot fail: the array fits into the first, empty sub-buffer. */
	memcpy(room, early_room, early_used);
}

static_assert(sizeof(early_room) <= SUBBUF_SIZE);

/**
 * kmemtrace_init - allocate the buffers, and move the early records there
 *
 * Call this as soon as vmalloc() works, while only one CPU runs. The allocation
 * of the buffers is not recorded: there is no room for its records until they
 * exist.
 */
void __init kmemtrace_init(void)
{
	int ret;

	mutex_lock(&kmemtrace_lock);
	if (boot_subbufs_given)
		limit_subbufs();
	if (!(kmemtrace_config & RECORDING))
		goto out;
	kmemtrace_config &= ~RECORDING;
	ret = open_channel();
	begin_recording();
	if (!ret) {
		keep_early();
		pr_info("recording, %u sub-buffers of 256 KiB for each CPU\n",
			kmemtrace_subbufs);
		goto out;
	}
	stop_recording();
	lose_early();
	pr_err("not recording, no memory for the buffers\n");
out:
	early_used = sizeof(early_room);
	mutex_unlock(&kmemtrace_lock);
}

#ifdef CONFIG_KMEMTRACE_KUNIT_TEST
#include "kmemtrace_kunit.c"
#endif
