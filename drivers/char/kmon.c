// SPDX-License-Identifier: GPL-2.0-only
/*
 * KMON: /dev/kmon, binary records from any context to any number of readers. The
 * layout of the records is in include/uapi/linux/kmon.h.
 *
 * There are two stages. A CPU writes its records into a ring of its own,
 * without a lock, an atomic operation or a wakeup, because the scheduler is
 * among the callers. Periodically, and when a ring is half full, a work item
 * copies the records from the rings to the buffer of every started instance,
 * where its reader gets them.
 *
 * Invariants:
 *
 *  - A record is in a ring or a buffer whole or not at all. A record that does
 *    not fit is counted as lost, for each instance that should have got it.
 *  - In a ring, times never go backwards: if an interrupt gets the place first,
 *    the time is read again.
 *  - Rings exist from the first open to the last close. Every writer disables
 *    preemption and then checks whether any instance is started. A tracepoint
 *    does both before it calls a probe. kmon_add_data() has to check the count
 *    of kmon_key again, because a task can be preempted for a long time after
 *    the branch. Before the last close, stop() decrements the count, which
 *    reaches 0 before the branch is patched back, and removes the last probe.
 *    The grace period in close_rings() comes after both: it waits for all
 *    writers that have passed the check, and later writers do not pass it.
 *
 * Locks, in this order: the read_lock of an instance (for its readers; held
 * during page faults, so nothing else may be held while waiting for it),
 * kmon_lock (open, close, start, stop), kmon_flush_lock (rings to buffers). The
 * CPU hotplug callback takes none of them.
 */
#define pr_fmt(fmt) "kmon: " fmt

#include <linux/alloc_tag.h>
#include <linux/compat.h>
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/kasan.h>
#include <linux/kmemtrace.h>
#include <linux/kmon.h>
#include <linux/list.h>
#include <linux/log2.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/topology.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include <asm/local.h>
#include <asm/unaligned.h>

#include <trace/events/kmem.h>
#include <trace/events/sched.h>
#include <uapi/linux/kmon.h>

/* Data */

/* The smallest ring has room for the largest record. */
#define RING_SIZE_MIN		(128 * 1024)
#define RING_SIZE_MAX		(64 * 1024 * 1024)
#define RING_SIZE_DEFAULT	(256 * 1024)

#define FLUSH_HZ_DEFAULT	100

/* Limit of one read(); it only has to be larger than the largest record. */
#define READ_MAX		(1024 * 1024)

/* Call cond_resched() after this many bytes or records. */
#define BYTES_AT_ONCE		(256 * 1024)
#define RECORDS_AT_ONCE		8192

/* A wide record has room for the number of every CPU. */
static_assert(CONFIG_NR_CPUS - 1 <= KMON_WIDE_CPU_MAX);
static_assert(KMON_HDR_SIZE + KMON_BLOB_MAX <= RING_SIZE_MIN);
static_assert(KMON_HDR_SIZE + KMON_BLOB_MAX <= READ_MAX);

/**
 * struct kmon_buf - a circular buffer
 * @data: the memory, NULL if there is none
 * @size: size in bytes, a power of two
 *
 * Positions only rise, and wrap around like an unsigned long.
 */
struct kmon_buf {
	u8 *data;
	unsigned long size;
};

/**
 * struct kmon_ring - the records of a CPU that are not flushed yet
 * @buf: the memory
 * @head: position of the next record
 * @nest: number of unfinished records: of a task, and of interrupts and NMIs
 *	that came on top of it
 * @kicked: a flush has been requested
 * @published: position up to which all records are finished
 * @lost: number of records that found no room
 * @refused: number of blobs that were too large for a record
 * @kick: requests a flush
 * @tail: position up to which all records are flushed
 * @lost_told: the part of @lost that the instances have counted
 *
 * The CPU writes the members up to @kick, and the flush writes the others. The
 * flush also clears @kicked.
 */
struct kmon_ring {
	struct kmon_buf buf;
	local_t head;
	unsigned int nest;
	bool kicked;
	unsigned long published;
	local_t lost;
	local_t refused;
	struct irq_work kick;
	unsigned long tail ____cacheline_aligned_in_smp;
	unsigned long lost_told;
};

static DEFINE_PER_CPU_ALIGNED(struct kmon_ring, kmon_rings);

/**
 * struct kmon_instance - an open file
 * @node: in kmon_started
 * @wait: readers that wait for records
 * @sources: KMON_SOURCE_* it has chosen; changed under kmon_lock
 * @started: it gets records; changed under kmon_lock and kmon_flush_lock
 * @ended: it has been stopped at least once; changed under kmon_flush_lock
 * @read_lock: protects @buf, @tail and @read
 * @buf: the memory
 * @tail: position up to which all records are read; changed under @read_lock
 * @read: number of records read; changed under @read_lock
 * @head: position of the next record; changed under kmon_flush_lock
 * @stored: number of records put into @buf; changed under kmon_flush_lock
 * @lost: number of records lost; changed under kmon_flush_lock
 * @overrun: records were lost since the last read()
 */
struct kmon_instance {
	struct list_head node;
	wait_queue_head_t wait;
	u32 sources;
	bool started;
	bool ended;
	struct mutex read_lock;		/* protects @buf, @tail and @read */
	struct kmon_buf buf;
	unsigned long tail;
	u64 read;
	unsigned long head;
	u64 stored;
	u64 lost;
	bool overrun;
};

DEFINE_STATIC_KEY_FALSE(kmon_key);
EXPORT_SYMBOL_GPL(kmon_key);

static DEFINE_MUTEX(kmon_lock);
static unsigned int kmon_opens;
static int kmon_cpuhp_state;

static DEFINE_MUTEX(kmon_flush_lock);
static LIST_HEAD(kmon_started);

static unsigned int kmon_ring_size = RING_SIZE_DEFAULT;
static unsigned int kmon_flush_hz = FLUSH_HZ_DEFAULT;

static void kmon_flush_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(kmon_flusher, kmon_flush_work);

/* Internals: circular buffers */

static __always_inline void buf_put(const struct kmon_buf *b, unsigned long pos,
				    const void *from, unsigned int len)
{
	unsigned long at = pos & (b->size - 1);
	unsigned long behind = b->size - at;

	if (likely(len <= behind)) {
		memcpy(b->data + at, from, len);
	} else {
		memcpy(b->data + at, from, behind);
		memcpy(b->data, from + behind, len - behind);
	}
}

/* Copy @len bytes between two buffers, which may be a GiB. May sleep. */
static void buf_move(const struct kmon_buf *to, unsigned long to_pos,
		     const struct kmon_buf *from, unsigned long pos,
		     unsigned long len)
{
	unsigned long at, n;

	for (; len; len -= n, pos += n, to_pos += n) {
		at = pos & (from->size - 1);
		n = min3(len, from->size - at, (unsigned long)BYTES_AT_ONCE);
		n = min(n, to->size - (to_pos & (to->size - 1)));
		buf_put(to, to_pos, from->data + at, n);
		cond_resched();
	}
}

static unsigned long buf_to_user(char __user *to, const struct kmon_buf *from,
				 unsigned long pos, unsigned long len)
{
	unsigned long at = pos & (from->size - 1);
	unsigned long n = min(len, from->size - at);

	return copy_to_user(to, from->data + at, n) ||
	       copy_to_user(to + n, from->data, len - n);
}

static unsigned int record_len(const struct kmon_buf *b, unsigned long pos)
{
	unsigned long at = pos + KMON_HDR_SIZE_OF_BLOB;

	return KMON_HDR_SIZE + (b->data[at & (b->size - 1)] |
				b->data[(at + 1) & (b->size - 1)] << 8);
}

/*
 * Return the size of the whole records between two positions that fit into
 * @room, and their number in @nr. There can be millions in a ring of 64 MiB.
 * May sleep.
 */
static unsigned long whole_records(const struct kmon_buf *b, unsigned long pos,
				   unsigned long end, unsigned long room,
				   u64 *nr)
{
	unsigned long len, taken = 0;

	for (*nr = 0; pos + taken != end; ++*nr) {
		len = record_len(b, pos + taken);
		if (len > room - taken)
			break;
		taken += len;
		if (!(*nr % RECORDS_AT_ONCE))
			cond_resched();
	}
	return taken;
}

/* Internals: writing a record to the ring of this CPU */

/* Reserve room for a record. If there is none, count the record as lost. */
static __always_inline bool ring_reserve(struct kmon_ring *r, unsigned int len,
					 unsigned long *pos, u64 *now)
{
	unsigned long head;

	do {
		head = local_read(&r->head);
		/* Pairs with flush_ring(): all before tail has been copied. */
		if (unlikely(head + len - smp_load_acquire(&r->tail) >
			     r->buf.size)) {
			local_inc(&r->lost);
			return false;
		}
		*now = ktime_get_mono_fast_ns();
	} while (unlikely(local_cmpxchg(&r->head, head, head + len) != head));
	*pos = head;
	return true;
}

/*
 * Writers on a CPU can interrupt each other. Only the outermost one knows that
 * all records before @head are finished, so only it publishes. An interrupt
 * that comes after @head is read may leave a record that it did not publish
 * itself. @head has moved then, so read it again.
 */
static __always_inline void ring_publish(struct kmon_ring *r)
{
	unsigned long head;

	barrier();
	if (unlikely(READ_ONCE(r->nest) > 1)) {
		WRITE_ONCE(r->nest, READ_ONCE(r->nest) - 1);
		return;
	}
	for (;;) {
		head = local_read(&r->head);
		/* Pairs with the smp_load_acquire() in flush_ring(). */
		smp_store_release(&r->published, head);
		WRITE_ONCE(r->nest, 0);
		barrier();
		if (likely(head == local_read(&r->head)))
			break;
		WRITE_ONCE(r->nest, 1);
		barrier();
	}
}

/* Request a flush. On a CPU that goes offline, an irq_work would not run. */
static noinline void ring_ask(struct kmon_ring *r, unsigned int cpu)
{
	if (!cpu_online(cpu))
		return;
	WRITE_ONCE(r->kicked, true);
	irq_work_queue(&r->kick);
}

/* Write the header and, for a wide record, the CPU before its blob. */
static __always_inline void put_head(const struct kmon_buf *b, unsigned long pos,
				     unsigned int cpu, u64 now, unsigned int size,
				     unsigned int wide)
{
	u8 head[KMON_HDR_SIZE + KMON_WIDE_SIZE];

	head[KMON_HDR_CPU] = wide ? KMON_CPU_MAX : cpu;
	put_unaligned_le64(now, head + KMON_HDR_TIME);
	put_unaligned_le16(wide + size, head + KMON_HDR_SIZE_OF_BLOB);
	if (wide) {
		head[KMON_HDR_SIZE] = KMON_DT_WIDE;
		put_unaligned_le16(cpu, head + KMON_HDR_SIZE + 1);
	}
	buf_put(b, pos, head, KMON_HDR_SIZE + wide);
}

/* @wide is 0 or KMON_WIDE_SIZE. */
static __always_inline int ring_put_record(struct kmon_ring *r, unsigned int cpu,
					   const void *blob, unsigned int size,
					   unsigned int wide)
{
	unsigned long pos;
	int ret = 0;
	u64 now;

	WRITE_ONCE(r->nest, READ_ONCE(r->nest) + 1);
	barrier();
	if (likely(ring_reserve(r, KMON_HDR_SIZE + wide + size, &pos, &now))) {
		put_head(&r->buf, pos, cpu, now, size, wide);
		buf_put(&r->buf, pos + KMON_HDR_SIZE + wide, blob, size);
	} else {
		ret = -ENOBUFS;
	}
	ring_publish(r);
	if (unlikely(local_read(&r->head) - READ_ONCE(r->tail) >
		     r->buf.size / 2 && !READ_ONCE(r->kicked)))
		ring_ask(r, cpu);
	return ret;
}

/* The number of this CPU does not fit into the byte of a header. */
static noinline int ring_put_wide(struct kmon_ring *r, unsigned int cpu,
				  const void *blob, unsigned int size)
{
	if (size > KMON_BLOB_MAX - KMON_WIDE_SIZE) {
		local_inc(&r->refused);
		return -EMSGSIZE;
	}
	return ring_put_record(r, cpu, blob, size, KMON_WIDE_SIZE);
}

static __always_inline int ring_put(struct kmon_ring *r, unsigned int cpu,
				    const void *blob, unsigned int size)
{
	if (unlikely(cpu > KMON_CPU_MAX))
		return ring_put_wide(r, cpu, blob, size);
	return ring_put_record(r, cpu, blob, size, 0);
}

/*
 * The caller must have disabled preemption before it checked whether any
 * instance is started, see the last invariant at the top.
 */
static __always_inline int ring_add(const void *blob, unsigned int size)
{
	return ring_put(this_cpu_ptr(&kmon_rings), smp_processor_id(), blob,
			size);
}

/* Runs in hard interrupt context, where a work item may be queued. */
static void ring_kick(struct irq_work *work)
{
	mod_delayed_work(system_unbound_wq, &kmon_flusher, 0);
}

/* Internals: from rings to buffers */

static void deliver(struct kmon_instance *i, const struct kmon_ring *r,
		    unsigned long end)
{
	/* Pairs with read_records(): all before tail has been copied. */
	unsigned long room = i->buf.size - (i->head - smp_load_acquire(&i->tail));
	unsigned long len;
	u64 nr;

	len = whole_records(&r->buf, r->tail, end, room, &nr);
	buf_move(&i->buf, i->head, &r->buf, r->tail, len);
	i->stored += nr;
	/* Pairs with buffer_end(). */
	smp_store_release(&i->head, i->head + len);
	if (r->tail + len == end)
		return;
	whole_records(&r->buf, r->tail + len, end, ULONG_MAX, &nr);
	i->lost += nr;
	WRITE_ONCE(i->overrun, true);
}

static void tell_lost(struct kmon_instance *i, unsigned long lost)
{
	if (!lost)
		return;
	i->lost += lost;
	WRITE_ONCE(i->overrun, true);
}

static void flush_ring(struct kmon_ring *r)
{
	struct kmon_instance *i;
	unsigned long end, lost;

	/* Clear this first: a CPU that fills the ring now may ask again. */
	WRITE_ONCE(r->kicked, false);
	/* Pairs with ring_publish(). */
	end = smp_load_acquire(&r->published);
	lost = local_read(&r->lost);
	list_for_each_entry(i, &kmon_started, node) {
		deliver(i, r, end);
		tell_lost(i, lost - r->lost_told);
		cond_resched();
	}
	r->lost_told = lost;
	/* Pairs with ring_reserve(). */
	smp_store_release(&r->tail, end);
}

static unsigned long buffer_end(const struct kmon_instance *i)
{
	/* Pairs with deliver(). */
	return smp_load_acquire(&i->head);
}

static bool has_records(const struct kmon_instance *i)
{
	return buffer_end(i) != READ_ONCE(i->tail);
}

static void flush_all(void)
{
	struct kmon_instance *i;
	unsigned int cpu;

	lockdep_assert_held(&kmon_flush_lock);

	for_each_possible_cpu(cpu)
		flush_ring(per_cpu_ptr(&kmon_rings, cpu));
	list_for_each_entry(i, &kmon_started, node) {
		if (has_records(i) || READ_ONCE(i->overrun))
			wake_up_interruptible(&i->wait);
	}
}

static void kmon_flush_work(struct work_struct *work)
{
	mutex_lock(&kmon_flush_lock);
	flush_all();
	if (!list_empty(&kmon_started))
		queue_delayed_work(system_unbound_wq, &kmon_flusher,
				   max(HZ / READ_ONCE(kmon_flush_hz), 1U));
	mutex_unlock(&kmon_flush_lock);
}

static bool is_started(const struct kmon_instance *i)
{
	/* Pairs with stop(). */
	return smp_load_acquire(&i->started);
}

/* A reader must see the records added before its call: flush if it has none. */
static void flush_for(struct kmon_instance *i)
{
	mutex_lock(&kmon_flush_lock);
	if (i->started && !has_records(i))
		flush_all();
	mutex_unlock(&kmon_flush_lock);
}

/* Internals: sources of records in the kernel */

struct task_blob {
	u8 type;
	__le16 pid;
} __packed;

struct task_blob32 {
	u8 type;
	__le32 pid;
} __packed;

struct tasks_blob {
	u8 type;
	__le16 from;
	__le16 to;
} __packed;

struct tasks_blob32 {
	u8 type;
	__le32 from;
	__le32 to;
} __packed;

struct alloc_blob {
	u8 type;
	__le16 site;
	__le64 bytes;
	__le64 address;
} __packed;

struct free_blob {
	u8 type;
	__le64 address;
} __packed;

/* The format is an ABI, the same on all machines. */
static_assert(KMON_HDR_CPU == 0);
static_assert(KMON_HDR_TIME == 1);
static_assert(KMON_HDR_SIZE_OF_BLOB == 9);
static_assert(KMON_HDR_SIZE == 11);
static_assert(KMON_BLOB_MAX == U16_MAX);
static_assert(KMON_CPU_MAX == U8_MAX);
static_assert(KMON_WIDE_SIZE == 3);
static_assert(KMON_WIDE_CPU_MAX == U16_MAX);
static_assert(sizeof(struct task_blob) == 3);
static_assert(sizeof(struct task_blob32) == 5);
static_assert(sizeof(struct tasks_blob) == 5);
static_assert(sizeof(struct tasks_blob32) == 9);
static_assert(sizeof(struct alloc_blob) == 19);
static_assert(sizeof(struct free_blob) == 9);
static_assert(sizeof(struct kmon_stats) == 56);
static_assert(offsetof(struct kmon_stats, sources) == 48);

static __always_inline void add_task(u8 type, u8 type32, u32 pid)
{
	struct task_blob narrow = { type, cpu_to_le16(pid) };
	struct task_blob32 wide = { type32, cpu_to_le32(pid) };

	if (likely(pid <= U16_MAX))
		ring_add(&narrow, sizeof(narrow));
	else
		ring_add(&wide, sizeof(wide));
}

static __always_inline void add_tasks(u8 type, u8 type32, u32 from, u32 to)
{
	struct tasks_blob narrow = { type, cpu_to_le16(from), cpu_to_le16(to) };
	struct tasks_blob32 wide = { type32, cpu_to_le32(from), cpu_to_le32(to) };

	if (likely((from | to) <= U16_MAX))
		ring_add(&narrow, sizeof(narrow));
	else
		ring_add(&wide, sizeof(wide));
}

static void probe_enqueue(void *data, struct rq *rq, struct task_struct *p)
{
	add_task(KMON_DT_TSKQUEUE, KMON_DT_TSKQUEUE32, p->pid);
}

static void probe_dequeue(void *data, struct rq *rq, struct task_struct *p)
{
	add_task(KMON_DT_TSKDEQUEUE, KMON_DT_TSKDEQUEUE32, p->pid);
}

static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	add_tasks(KMON_DT_TSKSWITCH, KMON_DT_TSKSWITCH32, prev->pid, next->pid);
}

/* Runs on the waker's CPU, which can differ from that of the woken task. */
static void probe_waking(void *data, struct task_struct *p)
{
	add_tasks(KMON_DT_TSKWAKEUP, KMON_DT_TSKWAKEUP32,
		  in_task() ? current->pid : 0, p->pid);
}

/* Do hooks make their tag current? Changed only while there are no probes. */
static bool kmon_sites __read_mostly;

static __always_inline void add_alloc(u64 address, u64 bytes)
{
	struct alloc_blob blob = {
		.type = KMON_DT_ALLOC,
		.site = cpu_to_le16(KMON_NO_SITE),
		.bytes = cpu_to_le64(bytes),
		.address = cpu_to_le64(address),
	};

#ifdef CONFIG_MEM_ALLOC_PROFILING
	if (kmon_sites)
		blob.site = cpu_to_le16(current->alloc_tag->ct.index);
#endif
	ring_add(&blob, sizeof(blob));
}

static __always_inline void add_free(u64 address)
{
	struct free_blob blob = { KMON_DT_FREE, cpu_to_le64(address) };

	ring_add(&blob, sizeof(blob));
}

static void probe_kmalloc(void *data, unsigned long call_site, const void *ptr,
			  size_t bytes_req, size_t bytes_alloc, gfp_t gfp,
			  int node)
{
	if (likely(!ZERO_OR_NULL_PTR(ptr)))
		add_alloc(kmemtrace_object_address(ptr), bytes_alloc);
}

static void probe_kfree(void *data, unsigned long call_site, const void *ptr)
{
	if (likely(!ZERO_OR_NULL_PTR(ptr)))
		add_free(kmemtrace_object_address(ptr));
}

static void probe_cache_alloc(void *data, unsigned long call_site,
			      const void *ptr, struct kmem_cache *s, gfp_t gfp,
			      int node)
{
	if (likely(ptr))
		add_alloc(kmemtrace_object_address(ptr), kmem_cache_size(s));
}

static void probe_cache_free(void *data, unsigned long call_site,
			     const void *ptr, const struct kmem_cache *s)
{
	if (likely(ptr))
		add_free(kmemtrace_object_address(ptr));
}

static void probe_page_alloc(void *data, struct page *page, unsigned int order,
			     gfp_t gfp, int migratetype, struct zone *preferred,
			     unsigned long call_site)
{
	if (likely(page))
		add_alloc(kmemtrace_page_address(page), PAGE_SIZE << order);
}

static void probe_page_free(void *data, struct page *page, unsigned int order,
			    unsigned long call_site)
{
	add_free(kmemtrace_page_address(page));
}

struct kmon_probe {
	u32 source;
	struct tracepoint *tp;
	void *probe;
};

#define FOR_EACH_PROBE(_do)						\
	_do(SCHED, sched_enqueue_tp, probe_enqueue)			\
	_do(SCHED, sched_dequeue_tp, probe_dequeue)			\
	_do(SCHED, sched_switch, probe_switch)				\
	_do(SCHED, sched_waking, probe_waking)				\
	_do(SCHED, sched_wakeup_new, probe_waking)			\
	_do(ALLOC, kmalloc, probe_kmalloc)				\
	_do(ALLOC, kfree, probe_kfree)					\
	_do(ALLOC, kmem_cache_alloc, probe_cache_alloc)			\
	_do(ALLOC, kmem_cache_free, probe_cache_free)			\
	_do(ALLOC, mm_page_alloc, probe_page_alloc)			\
	_do(ALLOC, mm_page_free, probe_page_free)

#define PROBE(_source, _name, _probe)					\
	{ KMON_SOURCE_##_source, &__tracepoint_##_name, _probe },

static const struct kmon_probe kmon_probes[] = {
	FOR_EACH_PROBE(PROBE)
};

/* The table has no types, so check those of the probes here. */
#define CHECK_PROBE(_source, _name, _probe)				\
	check_trace_callback_type_##_name(_probe);

static void __maybe_unused check_probes(void)
{
	FOR_EACH_PROBE(CHECK_PROBE)
}

static void unregister_probes(u32 source, unsigned int end)
{
	while (end--) {
		if (kmon_probes[end].source == source)
			tracepoint_probe_unregister(kmon_probes[end].tp,
						    kmon_probes[end].probe, NULL);
	}
	/* After this, no CPU is in one of these probes. */
	tracepoint_synchronize_unregister();
}

static int register_probes(u32 source)
{
	unsigned int n;
	int ret;

	for (n = 0; n < ARRAY_SIZE(kmon_probes); n++) {
		if (kmon_probes[n].source != source)
			continue;
		ret = tracepoint_probe_register(kmon_probes[n].tp,
						kmon_probes[n].probe, NULL);
		if (ret) {
			unregister_probes(source, n);
			return ret;
		}
	}
	return 0;
}

/* Number of started instances that use a source, by the number of its bit. */
static unsigned int source_users[ilog2(KMON_SOURCES_ALL) + 1];

static void source_off(u32 source)
{
	unregister_probes(source, ARRAY_SIZE(kmon_probes));
	if (source == KMON_SOURCE_ALLOC && kmon_sites) {
		kmon_sites = false;
		alloc_tag_hooks_put();
	}
}

static int source_on(u32 source)
{
	int ret;

	if (source == KMON_SOURCE_ALLOC) {
		kmon_sites = alloc_tag_hooks_get();
		/*
		 * Pairs with the disabled preemption in a tracepoint. A CPU
		 * that finds a probe there has disabled preemption after this,
		 * and so sees kmon_sites.
		 */
		synchronize_rcu();
	}
	ret = register_probes(source);
	if (ret && source == KMON_SOURCE_ALLOC && kmon_sites) {
		kmon_sites = false;
		alloc_tag_hooks_put();
	}
	return ret;
}

static void put_sources(u32 sources, unsigned int end)
{
	lockdep_assert_held(&kmon_lock);

	while (end--) {
		if (sources & BIT(end) && !--source_users[end])
			source_off(BIT(end));
	}
}

static int get_sources(u32 sources)
{
	unsigned int n;
	int ret;

	lockdep_assert_held(&kmon_lock);

	for (n = 0; n < ARRAY_SIZE(source_users); n++) {
		if (!(sources & BIT(n)) || source_users[n]++)
			continue;
		ret = source_on(BIT(n));
		if (ret) {
			source_users[n]--;
			put_sources(sources, n);
			return ret;
		}
	}
	return 0;
}

/* Internals: rings */

/*
 * Fail rather than drive the system out of memory. The available memory is only an
 * estimate, but a close one.
 */
static bool memory_suffices(unsigned long size)
{
	return si_mem_available() >= (long)(size >> PAGE_SHIFT);
}

/*
 * Also runs before a CPU comes online. That must not fail for lack of memory: a
 * CPU without a ring counts all its records as lost.
 */
static int make_ring(unsigned int cpu)
{
	struct kmon_ring *r = per_cpu_ptr(&kmon_rings, cpu);
	unsigned long size = READ_ONCE(kmon_ring_size);

	if (r->buf.data)
		return 0;
	if (memory_suffices(size))
		r->buf.data = __vmalloc_node(size, 1, GFP_KERNEL | __GFP_RETRY_MAYFAIL |
					     __GFP_NOWARN, cpu_to_node(cpu),
					     __builtin_return_address(0));
	if (r->buf.data)
		r->buf.size = size;
	else
		pr_warn("no memory for the ring of CPU %u\n", cpu);
	return 0;
}

static void free_rings(void)
{
	struct kmon_ring *r;
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		r = per_cpu_ptr(&kmon_rings, cpu);
		vfree(r->buf.data);
		r->buf.data = NULL;
		r->buf.size = 0;
	}
}

static bool rings_complete(void)
{
	unsigned int cpu;

	for_each_online_cpu(cpu) {
		if (!per_cpu(kmon_rings, cpu).buf.data)
			return false;
	}
	return true;
}

/* Called by the last close. */
static void close_rings(void)
{
	unsigned int cpu;

	lockdep_assert_held(&kmon_lock);

	cpuhp_remove_state_nocalls(kmon_cpuhp_state);
	/*
	 * Pairs with the test of kmon_key in __kmon_add_data(), and with the
	 * tracepoints. After this, every writer that found one of these on has
	 * finished, but it may have requested a flush.
	 */
	synchronize_rcu();
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(kmon_rings, cpu).kick);
	cancel_delayed_work_sync(&kmon_flusher);
	free_rings();
}

/* Called by the first open. */
static int open_rings(void)
{
	bool complete;
	int ret;

	lockdep_assert_held(&kmon_lock);

	ret = cpuhp_setup_state(CPUHP_BP_PREPARE_DYN, "char/kmon:prepare",
				make_ring, NULL);
	if (ret < 0)
		return ret;
	kmon_cpuhp_state = ret;
	cpus_read_lock();
	complete = rings_complete();
	cpus_read_unlock();
	if (!complete) {
		close_rings();
		return -ENOMEM;
	}
	/*
	 * Pairs with the disabled preemption in __kmon_add_data() and in a
	 * tracepoint. A writer that finds one of these on has disabled
	 * preemption after this, and so sees the memory and the sizes of the
	 * rings.
	 */
	synchronize_rcu();
	return 0;
}

/* Internals: an instance */

static int start(struct kmon_instance *i)
{
	int ret;

	lockdep_assert_held(&kmon_lock);

	if (i->started)
		return 0;
	ret = get_sources(i->sources);
	if (ret)
		return ret;
	static_branch_inc(&kmon_key);
	mutex_lock(&kmon_flush_lock);
	/* Flush earlier records first: this instance must not get them. */
	flush_all();
	list_add_tail(&i->node, &kmon_started);
	WRITE_ONCE(i->started, true);
	mutex_unlock(&kmon_flush_lock);
	queue_delayed_work(system_unbound_wq, &kmon_flusher, 0);
	return 0;
}

static void stop(struct kmon_instance *i)
{
	lockdep_assert_held(&kmon_lock);

	if (!i->started)
		return;
	static_branch_dec(&kmon_key);
	put_sources(i->sources, ARRAY_SIZE(source_users));
	/* After this, every record that was begun is finished and published. */
	synchronize_rcu();
	mutex_lock(&kmon_flush_lock);
	flush_all();
	list_del(&i->node);
	i->ended = true;
	/* Pairs with is_started(): its last records are in the buffer. */
	smp_store_release(&i->started, false);
	mutex_unlock(&kmon_flush_lock);
	wake_up_interruptible(&i->wait);
}

/* Move the unread records to a new buffer. An error changes nothing. */
static int replace_buffer(struct kmon_instance *i, struct kmon_buf *new)
{
	unsigned long unread = i->head - i->tail;

	lockdep_assert_held(&i->read_lock);
	lockdep_assert_held(&kmon_lock);

	if (i->started || unread > new->size)
		return -EBUSY;
	if (unread)
		buf_move(new, i->tail, &i->buf, i->tail, unread);
	swap(i->buf, *new);
	return 0;
}

static int set_size(struct kmon_instance *i, long size)
{
	struct kmon_buf buf;
	int ret;

	if (size < KMON_BUFFSIZE_MIN || size > KMON_BUFFSIZE_MAX)
		return -EINVAL;
	size = roundup_pow_of_two(size);
	buf.size = size;
	if (is_started(i))
		return -EBUSY;
	if (!memory_suffices(size))
		return -ENOMEM;
	buf.data = __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL |
				   __GFP_NOWARN);
	if (!buf.data)
		return -ENOMEM;
	ret = mutex_lock_interruptible(&i->read_lock);
	if (!ret) {
		mutex_lock(&kmon_lock);
		ret = replace_buffer(i, &buf);
		mutex_unlock(&kmon_lock);
		mutex_unlock(&i->read_lock);
	}
	vfree(buf.data);
	return ret;
}

static int set_sources(struct kmon_instance *i, u32 sources)
{
	int ret = -EBUSY;

	if (sources & ~KMON_SOURCES_ALL)
		return -EINVAL;
	mutex_lock(&kmon_lock);
	if (!i->started) {
		WRITE_ONCE(i->sources, sources);
		ret = 0;
	}
	mutex_unlock(&kmon_lock);
	return ret;
}

static u64 sum_refused(void)
{
	unsigned int cpu;
	u64 sum = 0;

	for_each_possible_cpu(cpu)
		sum += local_read(&per_cpu(kmon_rings, cpu).refused);
	return sum;
}

static int get_stats(struct kmon_instance *i, struct kmon_stats *s)
{
	if (mutex_lock_interruptible(&i->read_lock))
		return -ERESTARTSYS;
	mutex_lock(&kmon_flush_lock);
	if (i->started)
		flush_all();
	*s = (struct kmon_stats) {
		.buff_size = i->buf.size,
		.read = i->read,
		.lost = i->lost,
		.unread = i->stored - i->read,
		.unread_bytes = i->head - i->tail,
		.refused = sum_refused(),
		.sources = READ_ONCE(i->sources),
		.started = i->started,
	};
	mutex_unlock(&kmon_flush_lock);
	mutex_unlock(&i->read_lock);
	return 0;
}

/* Interface: /dev/kmon */

static int kmon_open(struct inode *inode, struct file *file)
{
	struct kmon_instance *i;
	int ret;

	/* Records can contain kernel addresses. */
	ret = security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;
	i = kzalloc(sizeof(*i), GFP_KERNEL_ACCOUNT);
	if (!i)
		return -ENOMEM;
	mutex_init(&i->read_lock);
	init_waitqueue_head(&i->wait);
	i->sources = KMON_SOURCES_DEFAULT;
	i->buf.size = KMON_BUFFSIZE_DEFAULT;
	i->buf.data = __vmalloc(i->buf.size, GFP_KERNEL_ACCOUNT);
	ret = -ENOMEM;
	if (!i->buf.data)
		goto free;
	mutex_lock(&kmon_lock);
	ret = kmon_opens ? 0 : open_rings();
	if (!ret)
		kmon_opens++;
	mutex_unlock(&kmon_lock);
	if (ret)
		goto free;
	file->private_data = i;
	return stream_open(inode, file);

free:
	vfree(i->buf.data);
	kfree(i);
	return ret;
}

static int kmon_release(struct inode *inode, struct file *file)
{
	struct kmon_instance *i = file->private_data;

	mutex_lock(&kmon_lock);
	stop(i);
	if (!--kmon_opens)
		close_rings();
	mutex_unlock(&kmon_lock);
	vfree(i->buf.data);
	kfree(i);
	return 0;
}

/* Copy as many whole records as fit. Return 0 if the buffer is empty. */
static ssize_t read_records(struct kmon_instance *i, char __user *user,
			    size_t count)
{
	unsigned long end, len;
	u64 nr;

	lockdep_assert_held(&i->read_lock);

	/* This read() clears EPOLLERR; later losses set it again. */
	WRITE_ONCE(i->overrun, false);
	end = buffer_end(i);
	if (end == i->tail)
		return 0;
	len = whole_records(&i->buf, i->tail, end, count, &nr);
	if (!len)
		return -EINVAL;
	if (buf_to_user(user, &i->buf, i->tail, len))
		return -EFAULT;
	i->read += nr;
	/* Pairs with deliver(). */
	smp_store_release(&i->tail, i->tail + len);
	return len;
}

static ssize_t kmon_read(struct file *file, char __user *user, size_t count,
			 loff_t *ppos)
{
	struct kmon_instance *i = file->private_data;
	ssize_t ret;

	if (!count)
		return 0;
	count = min_t(size_t, count, READ_MAX);
	for (;;) {
		flush_for(i);
		if (mutex_lock_interruptible(&i->read_lock))
			return -ERESTARTSYS;
		ret = read_records(i, user, count);
		mutex_unlock(&i->read_lock);
		if (ret)
			return ret;
		if (!is_started(i)) {
			/* Its last records may have come meanwhile. */
			if (has_records(i))
				continue;
			return 0;
		}
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(i->wait, has_records(i) ||
					     !is_started(i)))
			return -ERESTARTSYS;
	}
}

static __poll_t kmon_poll(struct file *file, poll_table *wait)
{
	struct kmon_instance *i = file->private_data;
	__poll_t mask = 0;

	poll_wait(file, &i->wait, wait);
	flush_for(i);
	if (!is_started(i) && READ_ONCE(i->ended))
		mask |= EPOLLHUP;
	if (has_records(i))
		mask = EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(i->overrun))
		mask |= EPOLLERR;
	return mask;
}

static int copy_stats(struct kmon_instance *i, void __user *user)
{
	struct kmon_stats stats;
	int ret;

	ret = get_stats(i, &stats);
	if (ret)
		return ret;
	return copy_to_user(user, &stats, sizeof(stats)) ? -EFAULT : 0;
}

static long kmon_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct kmon_instance *i = file->private_data;
	void __user *user = (void __user *)arg;
	int ret = 0;
	u32 sources;
	long size;

	switch (cmd) {
	case KMON_START:
		mutex_lock(&kmon_lock);
		ret = start(i);
		mutex_unlock(&kmon_lock);
		return ret;
	case KMON_STOP:
		mutex_lock(&kmon_lock);
		stop(i);
		mutex_unlock(&kmon_lock);
		return 0;
	case KMON_BUFFSIZE:
		if (get_user(size, (long __user *)user))
			return -EFAULT;
		return set_size(i, size);
	case KMON_SOURCES:
		if (get_user(sources, (u32 __user *)user))
			return -EFAULT;
		return set_sources(i, sources);
	case KMON_STATS:
		return copy_stats(i, user);
	}
	return -ENOTTY;
}

#ifdef CONFIG_COMPAT
#define KMON_BUFFSIZE32	_IOW(KMON_IOC_MAGIC, 2, compat_long_t)

static long kmon_compat_ioctl(struct file *file, unsigned int cmd,
			      unsigned long arg)
{
	void __user *user = compat_ptr(arg);
	compat_long_t size;

	if (cmd != KMON_BUFFSIZE32)
		return kmon_ioctl(file, cmd, (unsigned long)user);
	if (get_user(size, (compat_long_t __user *)user))
		return -EFAULT;
	return set_size(file->private_data, size);
}
#endif

static const struct file_operations kmon_fops = {
	.owner		= THIS_MODULE,
	.open		= kmon_open,
	.release	= kmon_release,
	.read		= kmon_read,
	.poll		= kmon_poll,
	.unlocked_ioctl	= kmon_ioctl,
#ifdef CONFIG_COMPAT
	.compat_ioctl	= kmon_compat_ioctl,
#endif
	.llseek		= no_llseek,
};

static struct miscdevice kmon_device = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "kmon",
	.mode	= 0600,
	.fops	= &kmon_fops,
};

/* Interface: kmon_add_data() */

/**
 * __kmon_add_data - slow path of kmon_add_data()
 * @data: the blob
 * @size: its size in bytes
 *
 * Only for kmon_add_data(), whose comment describes @data, @size and the
 * context.
 *
 * Return: as kmon_add_data().
 */
int __kmon_add_data(const void *data, unsigned long size)
{
	int ret = -ENODEV;

	preempt_disable_notrace();
	if (unlikely(size > KMON_BLOB_MAX)) {
		local_inc(this_cpu_ptr(&kmon_rings.refused));
		ret = -EMSGSIZE;
	} else if (likely(static_key_enabled(&kmon_key))) {
		/* Pairs with the synchronize_rcu() in close_rings(). */
		ret = ring_add(data, size);
	}
	preempt_enable_notrace();
	return ret;
}
EXPORT_SYMBOL_GPL(__kmon_add_data);

/* Interface: debugfs */

static int tags_show(struct seq_file *m, void *v)
{
	alloc_tag_show_tags(m);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(tags);

/* Init */

static int set_ring_size(const char *val, const struct kernel_param *kp)
{
	unsigned long long size;
	char *end;

	size = memparse(val, &end);
	if (*end == '\n')
		end++;
	/* memparse() does not report overflows; no valid size is this long. */
	if (*end || end - val > 12 || size < RING_SIZE_MIN ||
	    size > RING_SIZE_MAX || !is_power_of_2(size)) {
		pr_warn("ring_size: must be a power of two from %u to %u\n",
			RING_SIZE_MIN, RING_SIZE_MAX);
		return -EINVAL;
	}
	WRITE_ONCE(kmon_ring_size, size);
	return 0;
}

static const struct kernel_param_ops ring_size_ops = {
	.set	= set_ring_size,
	.get	= param_get_uint,
};
module_param_cb(ring_size, &ring_size_ops, &kmon_ring_size, 0600);
MODULE_PARM_DESC(ring_size, "size of a CPU's ring in bytes, for rings made afterwards");

static int set_flush_hz(const char *val, const struct kernel_param *kp)
{
	return param_set_uint_minmax(val, kp, 1, HZ);
}

static const struct kernel_param_ops flush_hz_ops = {
	.set	= set_flush_hz,
	.get	= param_get_uint,
};
module_param_cb(flush_hz, &flush_hz_ops, &kmon_flush_hz, 0600);
MODULE_PARM_DESC(flush_hz, "number of flushes of the rings per second");

static int __init kmon_init(void)
{
	struct kmon_ring *r;
	unsigned int cpu;
	int ret;

	for_each_possible_cpu(cpu) {
		r = per_cpu_ptr(&kmon_rings, cpu);
		r->kick = IRQ_WORK_INIT_HARD(ring_kick);
	}
	ret = misc_register(&kmon_device);
	if (ret)
		return ret;
	debugfs_create_file("tags", 0400, debugfs_create_dir("kmon", NULL),
			    NULL, &tags_fops);
	return 0;
}
device_initcall(kmon_init);

#ifdef CONFIG_KMON_KUNIT_TEST
#include "kmon_kunit.c"
#endif
