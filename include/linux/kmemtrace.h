/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kmemtrace: every allocation and free of memory, streamed. See mm/kmemtrace.c.
 */
#ifndef _LINUX_KMEMTRACE_H
#define _LINUX_KMEMTRACE_H

#ifdef CONFIG_KMEMTRACE
void kmemtrace_early_init(void);
void kmemtrace_init(void);
#else
static inline void kmemtrace_early_init(void) { }
static inline void kmemtrace_init(void) { }
#endif

#endif /* _LINUX_KMEMTRACE_H */
