/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef __ASM_GENERIC_CODETAG_LDS_H
#define __ASM_GENERIC_CODETAG_LDS_H

/*
 * Each section of code tags in vmlinux lies between two symbols, by which its
 * user finds it. A section of a module needs no symbols: the module loader
 * looks it up by name.
 */
#define CODETAG_SECTION(_name)						\
	. = ALIGN(8);							\
	__start_##_name = .;						\
	KEEP(*(_name))							\
	__stop_##_name = .;

#ifdef CONFIG_MEM_ALLOC_PROFILING
#define ALLOC_TAG_SECTION()	CODETAG_SECTION(alloc_tags)
#else
#define ALLOC_TAG_SECTION()
#endif

#ifdef CONFIG_DYNAMIC_FAULT
#define DYNAMIC_FAULT_SECTION()	CODETAG_SECTION(dynamic_faults)
#else
#define DYNAMIC_FAULT_SECTION()
#endif

#ifdef CONFIG_CODETAG_TIME_STATS
#define TIME_STATS_SECTION()	CODETAG_SECTION(time_stats_tags)
#else
#define TIME_STATS_SECTION()
#endif

#ifdef CONFIG_ERROR_CODES
#define ERROR_CODE_SECTION()	CODETAG_SECTION(error_codes)
#else
#define ERROR_CODE_SECTION()
#endif

#define CODETAG_SECTIONS()						\
	ALLOC_TAG_SECTION()						\
	DYNAMIC_FAULT_SECTION()						\
	TIME_STATS_SECTION()						\
	ERROR_CODE_SECTION()

#endif /* __ASM_GENERIC_CODETAG_LDS_H */
