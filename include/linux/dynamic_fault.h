/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dynamic fault injection: each line that can fail, and each that allocates
 * memory, is a fault point that is switched on by itself. See
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
 * @ct: where it is
 * @class: what kind of fault it is, for queries
 */
struct dynamic_fault {
	struct codetag ct;
	const char *class;
} __aligned(8);

/* In codetag.flags, of fault points and of allocation tags: there is more. */
#define DYNAMIC_FAULT_SET	BIT(1)

/* Is any point switched on? */
DECLARE_STATIC_KEY_FALSE(dynamic_fault_key);

bool __dynamic_fault(const struct codetag *ct);
bool __dynamic_fault_memory(gfp_t gfp);
int __dynamic_fault_decides(gfp_t gfp);

/**
 * dynamic_fault - is this line to fail?
 * @_class: a string, the kind of fault
 *
 * Makes the line it stands on a fault point, in the kernel or in a module.
 *
 * Context: any but NMI.
 * Return: true when the caller is to act as if it had failed.
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
 * dynamic_fault_memory - is the current allocation to fail?
 * @gfp: its flags
 *
 * For an allocator, on the way in. The fault point is the line that hooked the
 * allocation.
 *
 * Context: any but NMI.
 * Return: true when the allocator is to return what it returns on failure.
 */
static __always_inline bool dynamic_fault_memory(gfp_t gfp)
{
	return static_branch_unlikely(&dynamic_fault_key) &&
	       __dynamic_fault_memory(gfp);
}

/**
 * dynamic_fault_memory_or - is the current allocation to fail, for any reason?
 * @_gfp: its flags
 * @_other: whether it is to fail by another part of the fault injection framework;
 *	not evaluated if the fault point has fired, or has counted the allocation
 *	for /proc/<pid>/fail-nth
 *
 * For an allocator that has both, so that fail-nth counts an allocation once.
 *
 * Context: any but NMI.
 * Return: true when the allocator is to return what it returns on failure.
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
