/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The binary interface of /proc/allocinfo: one record for each line of code
 * that allocates memory. See Documentation/mm/allocation-profiling.rst.
 *
 * Every structure has the same layout for 32-bit and for 64-bit callers, and
 * none has a hole.
 */
#ifndef _UAPI_LINUX_ALLOC_TAG_H
#define _UAPI_LINUX_ALLOC_TAG_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Room for a name and its NUL; of a longer name the end is kept. */
#define ALLOCINFO_STR_SIZE	64

/**
 * struct allocinfo_content_id - state of the set of records
 * @id: another number after every load or unload of a module
 */
struct allocinfo_content_id {
	__u64 id;
};

/**
 * struct allocinfo_tag - a line of code
 * @modname: its module, empty for the kernel's own
 * @function: the function that the line is in
 * @filename: the source file
 * @lineno: the line in that file
 */
struct allocinfo_tag {
	char modname[ALLOCINFO_STR_SIZE];
	char function[ALLOCINFO_STR_SIZE];
	char filename[ALLOCINFO_STR_SIZE];
	__u64 lineno;
};

/**
 * struct allocinfo_counter - what the line holds
 * @bytes: memory
 * @calls: number of allocations it is in
 * @accurate: 1, or 0 when allocations are missing in the numbers
 * @__pad: 0
 */
struct allocinfo_counter {
	__u64 bytes;
	__u64 calls;
	__u8 accurate;
	__u8 __pad[7];
} __attribute__((aligned(8)));

/**
 * struct allocinfo_tag_data - a record
 * @tag: which line
 * @counter: what it holds
 */
struct allocinfo_tag_data {
	struct allocinfo_tag tag;
	struct allocinfo_counter counter;
};

/* In the mask of a filter: which of its members count. */
#define ALLOCINFO_FILTER_MASK_MODNAME		(1 << 0)
#define ALLOCINFO_FILTER_MASK_FUNCTION		(1 << 1)
#define ALLOCINFO_FILTER_MASK_FILENAME		(1 << 2)
#define ALLOCINFO_FILTER_MASK_LINENO		(1 << 3)
#define ALLOCINFO_FILTER_MASK_INACCURATE	(1 << 4)
#define ALLOCINFO_FILTER_MASK_MIN_SIZE		(1 << 5)
#define ALLOCINFO_FILTER_MASK_MAX_SIZE		(1 << 6)
#define ALLOCINFO_FILTER_MASKS			((1 << 7) - 1)

/**
 * struct allocinfo_filter - which records to return
 * @mask: ALLOCINFO_FILTER_MASK_*, 0 for all records; what it names must all
 *	hold
 * @fields: names and line that a record must have; a name as a record would
 *	show it, that is, its last 63 characters
 * @min_size: least number of bytes
 * @max_size: largest number of bytes
 * @inaccurate: 0 for records that are accurate, else for those that are not
 */
struct allocinfo_filter {
	__u64 mask;
	struct allocinfo_tag fields;
	__u64 min_size;
	__u64 max_size;
	__u64 inaccurate;
};

/**
 * struct allocinfo_get_at - argument of ALLOCINFO_IOC_GET_AT
 * @pos: where to begin, in records from 0, whether they pass the filter or not
 * @filter: for this call and for each ALLOCINFO_IOC_GET_NEXT after it
 * @data: the first record from there that passes; out
 */
struct allocinfo_get_at {
	__u64 pos;
	struct allocinfo_filter filter;
	struct allocinfo_tag_data data;
};

#define ALLOCINFO_IOC_BASE	0xA6

#define ALLOCINFO_IOC_CONTENT_ID	\
	_IOR(ALLOCINFO_IOC_BASE, 0, struct allocinfo_content_id)
#define ALLOCINFO_IOC_GET_AT		\
	_IOWR(ALLOCINFO_IOC_BASE, 1, struct allocinfo_get_at)
#define ALLOCINFO_IOC_GET_NEXT		\
	_IOR(ALLOCINFO_IOC_BASE, 2, struct allocinfo_tag_data)

#endif /* _UAPI_LINUX_ALLOC_TAG_H */
