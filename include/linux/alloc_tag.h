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
 * @old: the tag that alloc_tag_save() returned
 */
static __always_inline void alloc_tag_restore(struct task_struct *task,
					      struct alloc_tag *old)
{
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
 * Does a hook make its tag current? Without jump labels, a check of the switch
 * would cost a load, a test and a second copy of each hooked call. So without
 * them a hook always sets the tag: while the switch is off, nobody reads it.
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
		struct alloc_tag *__at_old =				\
			alloc_tag_save(__at_task, _tag);		\
									\
		__at_res = _do_alloc;					\
		alloc_tag_restore(__at_task, __at_old);			\
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
