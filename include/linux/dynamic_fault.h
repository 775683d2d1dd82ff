/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dynamic fault injection: each dynamic_fault() and each call site that
 * allocates memory is a fault point. Each point can be enabled on its own. See
 * lib/dynamic_fault.c.
 */
#ifndef _LINUX_DYNAMIC_FAULT_H
#define _LINUX_DYNAMIC_FAULT_H

#include <linux/types.h>

#ifdef CONFIG_DYNAMIC_FAULT

#include <linux/codetag.h>
#include <linux/jump_label.h>

/**
 * struct dynamic_fault - a fault point
 * @ct: its place in the source
 * @class: the kind of fault, for queries
 */
struct dynamic_fault {
	struct codetag ct;
	const char *class;
} __aligned(8);

/* In codetag.flags: there is a struct fault_point for this tag. */
#define DYNAMIC_FAULT_SET	BIT(1)

/* On while there is a struct fault_point for any tag. */
DECLARE_STATIC_KEY_FALSE(dynamic_fault_key);

bool __dynamic_fault(const struct codetag *ct);
bool __dynamic_fault_memory(gfp_t gfp);
int __dynamic_fault_decides(gfp_t gfp);

/**
 * dynamic_fault - define a fault point and evaluate it
 * @_class: a string, the kind of fault
 *
 * May be used in the kernel and in modules.
 *
 * Context: any but NMI; on PREEMPT_RT, any that may take a spinlock_t, because random
 * numbers need a local lock.
 * Return: true if the caller must act as if the operation had failed.
 */
#define dynamic_fault(_class)						\
({									\
	static struct dynamic_fault __used __aligned(8)			\
	__section("dynamic_faults") _dynamic_fault = {			\
		.ct	= CODETAG_INIT,					\
		.class	= (_class),					\
	};								\
									\
	static_branch_unlikely(&dynamic_fault_key) &&			\
		__dynamic_fault(&_dynamic_fault.ct);			\
})

/**
 * dynamic_fault_memory - must the current allocation fail?
 * @gfp: flags of the allocation
 *
 * An allocator calls this before it allocates. The fault point is the current
 * allocation tag.
 *
 * Context: any but NMI.
 * Return: true if the allocator must fail.
 */
static __always_inline bool dynamic_fault_memory(gfp_t gfp)
{
	return static_branch_unlikely(&dynamic_fault_key) &&
	       __dynamic_fault_memory(gfp);
}

/**
 * dynamic_fault_memory_or - must the current allocation fail, for any reason?
 * @_gfp: flags of the allocation
 * @_other: expression that is true if another part of the fault injection
 *	framework wants the failure. It is not evaluated if the fault point has
 *	fired, or has counted the allocation for /proc/<pid>/fail-nth.
 *
 * For an allocator with two sources of faults: fail-nth must count an
 * allocation only once.
 *
 * Context: any but NMI.
 * Return: true if the allocator must fail.
 */
#define dynamic_fault_memory_or(_gfp, _other)				\
({									\
	int _decided = static_branch_unlikely(&dynamic_fault_key) ?	\
		       __dynamic_fault_decides(_gfp) : 0;		\
									\
	_decided ? _decided > 0 : (_other);				\
})

#else /* CONFIG_DYNAMIC_FAULT */

#define dynamic_fault(_class)	((void)(_class), false)

static inline bool dynamic_fault_memory(gfp_t gfp)
{
	return false;
}

#define dynamic_fault_memory_or(_gfp, _other)	(_other)

#endif /* CONFIG_DYNAMIC_FAULT */

#endif /* _LINUX_DYNAMIC_FAULT_H */
