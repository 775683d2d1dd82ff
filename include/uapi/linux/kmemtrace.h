/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * kmemtrace: the records in the files cpu<n> of debugfs kmemtrace/.
 *
 * All values are in the byte order of the machine that was traced. A record
 * begins with struct kmemtrace_event; its size gives the start of the next
 * record. A reader skips record types and features that it does not know. See
 * Documentation/ABI/testing/debugfs-kmemtrace.
 */
#ifndef _UAPI_LINUX_KMEMTRACE_H
#define _UAPI_LINUX_KMEMTRACE_H

#include <linux/types.h>

/*
 * 1: allocations and frees, no features
 * 2: the features below, KMEMTRACE_EVENT_LOST
 */
#define KMEMTRACE_ABI_VERSION	2

/* The size of a record is a multiple of this; it is padded with zero bytes. */
#define KMEMTRACE_ALIGN		8

/**
 * enum kmemtrace_event_id - what happened
 * @KMEMTRACE_EVENT_ALLOC: memory was allocated; struct kmemtrace_alloc
 * @KMEMTRACE_EVENT_FREE: memory is freed; struct kmemtrace_event
 * @KMEMTRACE_EVENT_LOST: records of this CPU were lost; struct kmemtrace_lost
 */
enum kmemtrace_event_id {
	KMEMTRACE_EVENT_ALLOC	= 0,
	KMEMTRACE_EVENT_FREE	= 1,
	KMEMTRACE_EVENT_LOST	= 2,
};

/**
 * enum kmemtrace_type_id - the interface that allocated or freed
 * @KMEMTRACE_TYPE_KMALLOC: kmalloc() and kfree(); 0 in KMEMTRACE_EVENT_LOST
 * @KMEMTRACE_TYPE_CACHE: kmem_cache_alloc() and kmem_cache_free()
 * @KMEMTRACE_TYPE_PAGES: the page allocator
 */
enum kmemtrace_type_id {
	KMEMTRACE_TYPE_KMALLOC	= 0,
	KMEMTRACE_TYPE_CACHE	= 1,
	KMEMTRACE_TYPE_PAGES	= 2,
};

/**
 * struct kmemtrace_event - the beginning of every record
 * @event_id: enum kmemtrace_event_id
 * @type_id: enum kmemtrace_type_id
 * @event_size: size of the record in bytes, including features and padding
 * @sequence_number: order of the records of all CPUs; wraps around. Lost
 *	records have taken numbers as well.
 * @call_site: return address of the call of the allocator
 * @ptr: address of the memory, 0 for none
 */
struct kmemtrace_event {
	__u8	event_id;
	__u8	type_id;
	__u16	event_size;
	__s32	sequence_number;
	__u64	call_site;
	__u64	ptr;
};

/**
 * struct kmemtrace_alloc - KMEMTRACE_EVENT_ALLOC
 * @event: the common beginning
 * @bytes_req: number of bytes requested
 * @bytes_alloc: number of bytes allocated, at least @bytes_req
 * @gfp_flags: flags of the allocation
 * @target_cpu: a CPU of the requested node; -1 for the local node, or if none
 *	was requested
 */
struct kmemtrace_alloc {
	struct kmemtrace_event	event;
	__u64	bytes_req;
	__u64	bytes_alloc;
	__u32	gfp_flags;
	__s32	target_cpu;
};

/**
 * struct kmemtrace_lost - KMEMTRACE_EVENT_LOST
 * @event: the common beginning, with @call_site and @ptr 0
 * @events: number of records lost on this CPU since the last such record
 * @bytes: size of these records in bytes
 */
struct kmemtrace_lost {
	struct kmemtrace_event	event;
	__u64	events;
	__u64	bytes;
};

/**
 * enum kmemtrace_feature_id - features that may follow, in any order
 * @KMEMTRACE_FEATURE_TIME: __u64, time in nanoseconds of CLOCK_MONOTONIC
 * @KMEMTRACE_FEATURE_PID: __s32, thread id in the initial namespace, 0 for idle;
 *	-1 in an interrupt
 * @KMEMTRACE_FEATURE_TAG: __u16, allocations only: index of the allocation tag,
 *	see the file tags; 0 for none
 * @KMEMTRACE_FEATURE_BYTES: __u64, in every free of pages and only there:
 *	number of bytes freed, which can be only a part of an allocation
 */
enum kmemtrace_feature_id {
	KMEMTRACE_FEATURE_TIME	= 1,
	KMEMTRACE_FEATURE_PID	= 2,
	KMEMTRACE_FEATURE_TAG	= 3,
	KMEMTRACE_FEATURE_BYTES	= 4,
};

/**
 * struct kmemtrace_feature - the beginning of a feature
 * @size: size of the feature in bytes, including these three; 0 in the padding
 * @id: enum kmemtrace_feature_id
 *
 * Neither this structure nor the value that follows it is aligned.
 */
struct kmemtrace_feature {
	__u16	size;
	__u8	id;
} __attribute__((packed));

#endif /* _UAPI_LINUX_KMEMTRACE_H */
