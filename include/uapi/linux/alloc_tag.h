/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The binary interface of /proc/allocinfo: one record for each call site that
 * allocates memory. See Documentation/mm/allocation-profiling.rst.
 *
 * Every structure has the same layout for 32-bit and for 64-bit callers, and
 * none has a hole.
 */
#ifndef _UAPI_LINUX_ALLOC_TAG_H
#define _UAPI_LINUX_ALLOC_TAG_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Room for a name and its NUL; a longer name loses its beginning. */
#define ALLOCINFO_STR_SIZE	64

/**
 * struct allocinfo_content_id - state of the set of records
 * @id: changes with every load and unload of a module
 */
struct allocinfo_content_id {
	__u64 id;
};

/**
 * struct allocinfo_tag - a call site
 * @modname: its module, empty for built-in code
 * @function: the function that it is in
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
 * struct allocinfo_counter - the memory that a call site holds
 * @bytes: number of bytes that are allocated and not freed
 * @calls: number of allocations that are not freed
 * @accurate: 1; or 0 for a call site without an index. All memory of such call
 *	sites is in one common record, and their own records have 0 bytes.
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
 * @tag: the call site
 * @counter: the memory that it holds
 */
struct allocinfo_tag_data {
	struct allocinfo_tag tag;
	struct allocinfo_counter counter;
};

/* Bits of the mask of a filter: the members to compare. */
#define ALLOCINFO_FILTER_MASK_MODNAME		(1 << 0)
#define ALLOCINFO_FILTER_MASK_FUNCTION		(1 << 1)
#define ALLOCINFO_FILTER_MASK_FILENAME		(1 << 2)
#define ALLOCINFO_FILTER_MASK_LINENO		(1 << 3)
#define ALLOCINFO_FILTER_MASK_INACCURATE	(1 << 4)
#define ALLOCINFO_FILTER_MASK_MIN_SIZE		(1 << 5)
#define ALLOCINFO_FILTER_MASK_MAX_SIZE		(1 << 6)
#define ALLOCINFO_FILTER_MASKS			((1 << 7) - 1)

/**
 * struct allocinfo_filter - the records to return
 * @mask: ALLOCINFO_FILTER_MASK_*. A record must match every member that the
 *	mask selects; 0 selects all records.
 * @fields: names and line. A name that is too long for a record must be given
 *	as the record shows it: by its last 63 characters.
 * @min_size: smallest number of bytes
 * @max_size: largest number of bytes
 * @inaccurate: 0 for accurate records, any other value for inaccurate ones
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
 * @pos: number of the record to begin at, counted from 0 over all records,
 *	including those that do not pass the filter
 * @filter: filter of this call and of each ALLOCINFO_IOC_GET_NEXT after it
 * @data: returns the first record from there that passes the filter
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
