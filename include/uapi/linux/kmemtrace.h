/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * kmemtrace: the records in the files cpu<n> of debugfs kmemtrace/.
 *
 * Everything is in the byte order of the machine that was traced. A record
 * begins with struct kmemtrace_event, whose size says where the next begins;
 * what a reader does not know in between, it skips. See
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

/* A record is a multiple of this, filled up with zero bytes. */
#define KMEMTRACE_ALIGN		8

/**
 * enum kmemtrace_event_id - what happened
 * @KMEMTRACE_EVENT_ALLOC: memory was allocated: struct kmemtrace_alloc
 * @KMEMTRACE_EVENT_FREE: memory is freed: struct kmemtrace_event
 * @KMEMTRACE_EVENT_LOST: records of this CPU found no room: struct kmemtrace_lost
 */
enum kmemtrace_event_id {
	KMEMTRACE_EVENT_ALLOC	= 0,
	KMEMTRACE_EVENT_FREE	= 1,
	KMEMTRACE_EVENT_LOST	= 2,
};

/**
 * enum kmemtrace_type_id - by which interface
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
 * @event_size: size of the record in bytes, with features and filling
 * @sequence_number: order of the records of all CPUs; wraps around. Records that
 *	found no room have taken numbers as well.
 * @call_site: address to which the call of the allocator returns
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
 * @event: beginning
 * @bytes_req: what was asked for
 * @bytes_alloc: what it takes, not less
 * @gfp_flags: as given
 * @target_cpu: a CPU of the node asked for, -1 for no such wish
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
 * @event: beginning, with @call_site and @ptr 0
 * @events: records lost on this CPU since the last such record
 * @bytes: their size
 */
struct kmemtrace_lost {
	struct kmemtrace_event	event;
	__u64	events;
	__u64	bytes;
};

/**
 * enum kmemtrace_feature_id - what may follow, in any order
 * @KMEMTRACE_FEATURE_TIME: __u64, nanoseconds of CLOCK_MONOTONIC
 * @KMEMTRACE_FEATURE_PID: __s32, thread id in the initial namespace, 0 for idle;
 *	-1 in an interrupt
 * @KMEMTRACE_FEATURE_TAG: __u16, allocations only: code tag of the line, see the
 *	file tags; 0 for none
 * @KMEMTRACE_FEATURE_BYTES: __u64, frees of pages only, always there: how much
 *	is freed, which can be a part of what was allocated at once
 */
enum kmemtrace_feature_id {
	KMEMTRACE_FEATURE_TIME	= 1,
	KMEMTRACE_FEATURE_PID	= 2,
	KMEMTRACE_FEATURE_TAG	= 3,
	KMEMTRACE_FEATURE_BYTES	= 4,
};

/**
 * struct kmemtrace_feature - the beginning of a feature
 * @size: size of the feature in bytes, these three among them; 0 in the filling
 * @id: enum kmemtrace_feature_id
 *
 * Neither it nor what follows is aligned.
 */
struct kmemtrace_feature {
	__u16	size;
	__u8	id;
} __attribute__((packed));

#endif /* _UAPI_LINUX_KMEMTRACE_H */
