/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Begin and end of a workload, for the plugin of measure/misses: two instructions that do
 * nothing, and that no compiler emits.
 */
#ifdef __x86_64__
#define MARK_BEGIN()	__asm__ volatile("xchg %%bx, %%bx" ::: "memory")
#define MARK_END()	__asm__ volatile("xchg %%cx, %%cx" ::: "memory")
#else
#define MARK_BEGIN()
#define MARK_END()
#endif
