/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation tags: every allocation of memory is accounted to the call site
 * that made it. See lib/alloc_tag.c and
 * Documentation/mm/allocation-profiling.rst.
 */
#ifndef _LINUX_ALLOC_TAG_H
#define _LINUX_ALLOC_TAG_H

#include <linux/types.h>

struct seq_file;

#ifdef CONFIG_MEM_ALLOC_PROFILING

#include <linux/codetag.h>
#include <linux/jump_label.h>
#include <linux/lazy-percpu-counter.h>
#include <linux/sched.h>

/**
 * struct alloc_tag - a call site that allocates
 * @ct: its file, function, line and index
 *
 * After the kernel or the module is loaded, a tag does not change, except for
 * flags that consumers set. The bytes and calls are not here but in the counter
 * of the index, so a module's tags can go away before its memory is freed.
 */
struct alloc_tag {
	struct codetag ct;
};

/**
 * struct alloc_tag_ref - the tag that a piece of memory is accounted to
 * @index: index of the tag, 0 for none
 *
 * The reference belongs to the memory: only the owner of the memory changes it.
 */
struct alloc_tag_ref {
	u16 index;
};

static_assert(sizeof(struct alloc_tag_ref) == 2);

/*
 * With CONFIG_MEM_ALLOC_PROFILING_DEBUG, a reference with this index marks
 * memory that did not come from an allocation, and so is accounted to no tag.
 * No tag has this index.
 */
#define ALLOC_TAG_EXEMPT	U16_MAX

/*
 * Three switches:
 *
 *  - alloc_tag_hooks_key: hooks make their tag current. On for profiling, and
 *    for other consumers that need the call site.
 *  - mem_alloc_profiling_key: allocations are accounted.
 *  - alloc_tag_refs_key: there may be references to release. It is enabled
 *    together with profiling, but never disabled: memory that was allocated
 *    while profiling was on can be freed after it is off.
 */
DECLARE_STATIC_KEY_FALSE(alloc_tag_hooks_key);
DECLARE_STATIC_KEY_FALSE(mem_alloc_profiling_key);
DECLARE_STATIC_KEY_FALSE(alloc_tag_refs_key);

/* Stays false after "never": no memory was set aside for references. */
extern bool alloc_tag_available;

/* Counters by index, in chunks: adding those of a module moves no other one. */
#define ALLOC_TAG_CHUNK_SHIFT	8
#define ALLOC_TAG_CHUNK_SIZE	BIT(ALLOC_TAG_CHUNK_SHIFT)
#define ALLOC_TAG_CHUNKS	((CODETAG_INDEX_MAX + 1) >> ALLOC_TAG_CHUNK_SHIFT)

extern struct lazy_percpu_counter *alloc_tag_chunks[ALLOC_TAG_CHUNKS];

/**
 * struct alloc_tag_table - the per-CPU parts of hot counters, by index
 * @nr: number of entries
 * @parts: NULL for a counter without parts, and for index 0
 *
 * A shortcut to the counters' own parts. References lie next to objects, where
 * an overrun can corrupt them, so every index is checked against @nr.
 */
struct alloc_tag_table {
	unsigned long nr;
	struct lazy_percpu_part __percpu *parts[];
};

extern struct alloc_tag_table *alloc_tag_table;

/* current->alloc_tag outside of any hook: no call site, index 0. */
extern struct alloc_tag alloc_tag_none;

/**
 * mem_alloc_profiling_enabled - are allocations accounted?
 *
 * Context: any.
 * Return: true while profiling is enabled.
 */
static __always_inline bool mem_alloc_profiling_enabled(void)
{
	return static_branch_unlikely(&mem_alloc_profiling_key);
}

/**
 * alloc_tag_refs_exist - may there be references to release?
 *
 * Context: any.
 * Return: true since profiling was enabled for the first time.
 */
static __always_inline bool alloc_tag_refs_exist(void)
{
	return static_branch_unlikely(&alloc_tag_refs_key);
}

/**
 * alloc_tag_counter - get the counter of an index
 * @index: index of a tag, not 0; its chunk must exist
 *
 * Return: the counter, which is never moved or freed.
 */
static __always_inline struct lazy_percpu_counter *
alloc_tag_counter(u16 index)
{
	return alloc_tag_chunks[index >> ALLOC_TAG_CHUNK_SHIFT] +
	       (index & (ALLOC_TAG_CHUNK_SIZE - 1));
}

#define DEFINE_ALLOC_TAG_FOR(_name, _function)				\
	static struct alloc_tag _name __used __aligned(8)		\
	__section("alloc_tags") = { .ct = CODETAG_INIT_FOR(_function) }

#define DEFINE_ALLOC_TAG(_name)	DEFINE_ALLOC_TAG_FOR(_name, __func__)

/**
 * alloc_tag_save - make a tag current
 * @task: current; passed in, because some architectures would compute it again
 * @tag: the tag
 *
 * Return: the tag that was current before, for alloc_tag_restore().
 */
static __always_inline struct alloc_tag *
alloc_tag_save(struct task_struct *task, struct alloc_tag *tag)
{
	struct alloc_tag *old = task->alloc_tag;

	task->alloc_tag = tag;
	return old;
}

/**
 * alloc_tag_restore - make the previous tag current again
 * @task: current
 * @tag: the tag that was passed to alloc_tag_save()
 * @old: the tag that alloc_tag_save() returned
 */
static __always_inline void alloc_tag_restore(struct task_struct *task,
					      struct alloc_tag *tag,
					      struct alloc_tag *old)
{
#ifdef CONFIG_MEM_ALLOC_PROFILING_DEBUG
	WARN_ONCE(task->alloc_tag != tag, "alloc_tag: unbalanced restore\n");
#endif
	task->alloc_tag = old;
}

/**
 * alloc_tag_record - store the current tag in a data structure
 * @_p: the struct alloc_tag * to set
 *
 * For the initialiser of a data structure that later allocates on behalf of its
 * user, with alloc_hooks_tag(). The initialiser must be hooked with
 * alloc_hooks_record(). The structure must not outlive the code that called the
 * initialiser.
 */
#define alloc_tag_record(_p)	((_p) = current->alloc_tag)

/*
 * Does a hook make its tag current? Without jump labels, the question would
 * cost a load, a test and a second copy of each hooked call. There a hook
 * always sets the tag: while the switch is off, nobody reads it.
 */
static __always_inline bool alloc_tag_hooks_on(void)
{
	return !IS_ENABLED(CONFIG_JUMP_LABEL) ||
	       static_branch_unlikely(&alloc_tag_hooks_key);
}

#define __alloc_hooks(_on, _tag, _do_alloc)				\
({									\
	typeof(_do_alloc) __at_res;					\
									\
	if (_on) {							\
		struct task_struct *__at_task = current;		\
		struct alloc_tag *__at_new = (_tag);			\
		struct alloc_tag *__at_old =				\
			alloc_tag_save(__at_task, __at_new);		\
									\
		__at_res = _do_alloc;					\
		alloc_tag_restore(__at_task, __at_new, __at_old);	\
	} else {							\
		__at_res = _do_alloc;					\
	}								\
	__at_res;							\
})

/**
 * alloc_hooks_tag - allocate on behalf of a tag
 * @_tag: the tag
 * @_do_alloc: a call of a _noprof function
 *
 * Hooks nest; the innermost one determines the tag.
 *
 * Return: the value of @_do_alloc.
 */
#define alloc_hooks_tag(_tag, _do_alloc)				\
	__alloc_hooks(alloc_tag_hooks_on(), _tag, _do_alloc)

/**
 * alloc_hooks - account an allocation to this call site
 * @_do_alloc: a call of a _noprof function
 *
 * With jump labels the call is compiled twice, and one of the two copies runs.
 * So a hook in the arguments of the call has two tags, both with this line.
 *
 * Return: the value of @_do_alloc.
 */
#define alloc_hooks(_do_alloc)						\
({									\
	DEFINE_ALLOC_TAG(_alloc_tag);					\
									\
	alloc_hooks_tag(&_alloc_tag, _do_alloc);			\
})

/**
 * alloc_hooks_void - alloc_hooks() for a function without a value
 * @_do_alloc: a call of a _noprof function
 */
#define alloc_hooks_void(_do_alloc)					\
	((void)alloc_hooks(({ _do_alloc; 0; })))

/**
 * alloc_hooks_record_tag - alloc_hooks_tag() for a call that records the tag
 * @_tag: the tag
 * @_do_alloc: a call of a _noprof function that uses alloc_tag_record()
 *
 * The tag is made current even while profiling is off: a tag that is recorded
 * now is needed once profiling is on.
 *
 * Return: the value of @_do_alloc.
 */
#define alloc_hooks_record_tag(_tag, _do_alloc)				\
	__alloc_hooks(true, _tag, _do_alloc)

/**
 * alloc_hooks_record - alloc_hooks() for a call that records the tag
 * @_do_alloc: a call of a _noprof function that uses alloc_tag_record()
 *
 * Return: the value of @_do_alloc.
 */
#define alloc_hooks_record(_do_alloc)					\
({									\
	DEFINE_ALLOC_TAG(_alloc_tag);					\
									\
	alloc_hooks_record_tag(&_alloc_tag, _do_alloc);			\
})

void alloc_tag_count_slow(unsigned long index, long bytes, long calls,
			  struct alloc_tag_ref *ref);

static __always_inline void __alloc_tag_count(unsigned long index, long bytes,
					      long calls,
					      struct alloc_tag_ref *ref)
{
	/* Pairs with the smp_store_release() in alloc_tag_grow_table(). */
	struct alloc_tag_table *table = READ_ONCE(alloc_tag_table);
	struct lazy_percpu_part __percpu *parts = NULL;

	if (likely(index < table->nr)) {
		/* Pairs with the WRITE_ONCE() in alloc_tag_count_slow(). */
		parts = READ_ONCE(table->parts[index]);
	}
	if (likely(parts))
		lazy_percpu_part_add(parts, bytes, calls);
	else
		alloc_tag_count_slow(index, bytes, calls, ref);
}

/**
 * alloc_tag_count - adjust the counter of a tag
 * @index: index of the tag; 0 does nothing
 * @bytes: added to its bytes
 * @calls: added to its calls
 *
 * For memory that is split or regrouped, not for allocations and frees.
 *
 * Context: any.
 */
static __always_inline void alloc_tag_count(unsigned long index, long bytes,
					    long calls)
{
	__alloc_tag_count(index, bytes, calls, NULL);
}

#ifdef CONFIG_MEM_ALLOC_PROFILING_DEBUG
void alloc_tag_warn(const char *what);

static inline void alloc_tag_check_add(const struct alloc_tag_ref *ref,
				       unsigned long index)
{
	if (unlikely(!index))
		alloc_tag_warn("an allocation outside of any hook");
	if (unlikely(ref->index && ref->index != ALLOC_TAG_EXEMPT))
		alloc_tag_warn("an allocation of memory that is accounted already");
}

static inline void alloc_tag_check_sub(const struct alloc_tag_ref *ref)
{
	if (unlikely(!ref->index) && mem_alloc_profiling_enabled())
		alloc_tag_warn("a free of memory that is accounted to nobody");
}
#else
static inline void alloc_tag_check_add(const struct alloc_tag_ref *ref,
				       unsigned long index) { }
static inline void alloc_tag_check_sub(const struct alloc_tag_ref *ref) { }
#endif

/**
 * alloc_tag_add - account memory to the current tag
 * @ref: the reference that belongs to the memory, empty
 * @bytes: size of the memory
 *
 * The caller has checked mem_alloc_profiling_enabled().
 *
 * Context: any.
 */
static __always_inline void alloc_tag_add(struct alloc_tag_ref *ref,
					  size_t bytes)
{
	unsigned long index = current->alloc_tag->ct.index;

	alloc_tag_check_add(ref, index);
	ref->index = index;
	__alloc_tag_count(index, bytes, 1, ref);
}

/**
 * alloc_tag_sub - release the reference of memory that is freed
 * @ref: the reference, empty afterwards
 * @bytes: size of the memory
 *
 * Call this only if alloc_tag_refs_exist().
 *
 * Context: any.
 */
static __always_inline void alloc_tag_sub(struct alloc_tag_ref *ref,
					  size_t bytes)
{
	unsigned long index = ref->index;

	alloc_tag_check_sub(ref);
	ref->index = 0;
	__alloc_tag_count(index, -(long)bytes, -1, ref);
}

bool alloc_tag_hooks_get(void);
void alloc_tag_hooks_put(void);
void alloc_tag_show_tags(struct seq_file *m);
void alloc_tag_early_init(void);
void alloc_tag_show_mem(void);

#else /* CONFIG_MEM_ALLOC_PROFILING */

struct alloc_tag { };

static inline bool mem_alloc_profiling_enabled(void)
{
	return false;
}

static inline bool alloc_tag_refs_exist(void)
{
	return false;
}

#define DEFINE_ALLOC_TAG_FOR(_name, _function)				\
	static struct alloc_tag _name __maybe_unused
#define alloc_hooks_tag(_tag, _do_alloc)	(_do_alloc)
#define alloc_hooks(_do_alloc)			(_do_alloc)
#define alloc_hooks_void(_do_alloc)		(_do_alloc)
#define alloc_hooks_record_tag(_tag, _do_alloc)	(_do_alloc)
#define alloc_hooks_record(_do_alloc)		(_do_alloc)
#define alloc_tag_record(_p)			do { } while (0)

static inline bool alloc_tag_hooks_get(void)
{
	return false;
}

static inline void alloc_tag_hooks_put(void) { }
static inline void alloc_tag_show_tags(struct seq_file *m) { }
static inline void alloc_tag_early_init(void) { }
static inline void alloc_tag_show_mem(void) { }

#endif /* CONFIG_MEM_ALLOC_PROFILING */

#endif /* _LINUX_ALLOC_TAG_H */
