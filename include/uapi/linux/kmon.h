/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * KMON: what /dev/kmon gives to read, and its ioctls. See
 * Documentation/driver-api/kmon.rst.
 *
 * A record is a header and a blob, byte after byte, with nothing between them and
 * nothing between records. All numbers are little-endian on every architecture,
 * and none is aligned.
 *
 * The header, KMON_HDR_SIZE bytes:
 *
 *	at  bytes
 *	 0  1	 CPU that the record was made on
 *	 1  8	 nanoseconds of CLOCK_MONOTONIC
 *	 9  2	 size of the blob
 *
 * The blob is whatever kmon_add_data() was given. By custom its first byte says
 * what it is; the kernel's own are enum kmon_type.
 *
 * A CPU above KMON_CPU_MAX makes wide records: the header has KMON_CPU_MAX, and what
 * it describes is KMON_DT_WIDE, a u16 with the number of the CPU, and then the blob.
 */
#ifndef _UAPI_LINUX_KMON_H
#define _UAPI_LINUX_KMON_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KMON_HDR_CPU		0
#define KMON_HDR_TIME		1
#define KMON_HDR_SIZE_OF_BLOB	9
#define KMON_HDR_SIZE		11

/* The largest blob, and the largest number of a CPU, that a header can tell. */
#define KMON_BLOB_MAX		65535
#define KMON_CPU_MAX		255

/* What a wide record has in front of its blob, and the largest number of a CPU there. */
#define KMON_WIDE_SIZE		3
#define KMON_WIDE_CPU_MAX	65535

/**
 * enum kmon_type - first byte of a blob
 * @KMON_DT_TSKQUEUE: a task became runnable; u16 pid
 * @KMON_DT_TSKDEQUEUE: a task is not runnable any more; u16 pid
 * @KMON_DT_TSKSWITCH: a CPU goes from one task to another; u16 pid of the
 *	previous, u16 pid of the next
 * @KMON_DT_TSKWAKEUP: a task is woken; u16 pid of who wakes it, 0 for an
 *	interrupt, u16 pid of the task
 * @KMON_DT_TSKQUEUE32: as KMON_DT_TSKQUEUE, u32 in place of u16
 * @KMON_DT_TSKDEQUEUE32: as KMON_DT_TSKDEQUEUE, u32 in place of u16
 * @KMON_DT_TSKSWITCH32: as KMON_DT_TSKSWITCH, u32 in place of u16, both
 * @KMON_DT_TSKWAKEUP32: as KMON_DT_TSKWAKEUP, u32 in place of u16, both
 * @KMON_DT_ALLOC: memory is allocated; u16 index of the line of code, or
 *	KMON_NO_SITE, u64 bytes, u64 address
 * @KMON_DT_FREE: memory is freed; u64 address
 * @KMON_DT_WIDE: a record of a CPU above KMON_CPU_MAX; u16 CPU, then its blob
 * @KMON_DT_USER: this and all above it are for other users of kmon_add_data()
 *
 * The types with 32 are used where a pid does not fit the narrow one, and nowhere
 * else. Pids are those of the initial namespace.
 */
enum kmon_type {
	KMON_DT_TSKQUEUE	= 1,
	KMON_DT_TSKDEQUEUE	= 2,
	KMON_DT_TSKSWITCH	= 3,
	KMON_DT_TSKWAKEUP	= 4,
	KMON_DT_TSKQUEUE32	= 5,
	KMON_DT_TSKDEQUEUE32	= 6,
	KMON_DT_TSKSWITCH32	= 7,
	KMON_DT_TSKWAKEUP32	= 8,
	KMON_DT_ALLOC		= 9,
	KMON_DT_FREE		= 10,
	KMON_DT_WIDE		= 11,
	KMON_DT_USER		= 128,
};

/* In KMON_DT_ALLOC: there is no memory allocation profiling to know the line. */
#define KMON_NO_SITE		0xffff

/* What the kernel shall make records of, for KMON_SOURCES. */
#define KMON_SOURCE_SCHED	(1 << 0)
#define KMON_SOURCE_ALLOC	(1 << 1)
#define KMON_SOURCES_ALL	(KMON_SOURCE_SCHED | KMON_SOURCE_ALLOC)
#define KMON_SOURCES_DEFAULT	KMON_SOURCE_SCHED

/* The buffer of an instance has a size from here to there, rounded up to a power of two. */
#define KMON_BUFFSIZE_MIN	(1L << 12)
#define KMON_BUFFSIZE_MAX	(1L << 30)
#define KMON_BUFFSIZE_DEFAULT	(1L << 20)

/**
 * struct kmon_stats - an instance, since it was opened
 * @buff_size: size of its buffer in bytes, as rounded up
 * @read: records that were read
 * @lost: records that were made while it was started and found no room, in the
 *	ring of their CPU or in this instance's buffer
 * @unread: records in its buffer
 * @unread_bytes: and their size
 * @refused: blobs that are too large for a record, from all CPUs, since boot; they
 *	never were records
 * @sources: KMON_SOURCE_* that it asked for
 * @started: 1 between KMON_START and KMON_STOP
 *
 * @read + @lost + @unread is how many records were made while it was started.
 */
struct kmon_stats {
	__u64 buff_size;
	__u64 read;
	__u64 lost;
	__u64 unread;
	__u64 unread_bytes;
	__u64 refused;
	__u32 sources;
	__u32 started;
};

#define KMON_IOC_MAGIC		0xBC

/* An instance is stopped when it is opened. Neither is an error twice. */
#define KMON_START		_IO(KMON_IOC_MAGIC, 0)
#define KMON_STOP		_IO(KMON_IOC_MAGIC, 1)

/* While it is stopped, else EBUSY. What was not read yet must fit. */
#define KMON_BUFFSIZE		_IOW(KMON_IOC_MAGIC, 2, long)

/* While it is stopped, else EBUSY. */
#define KMON_SOURCES		_IOW(KMON_IOC_MAGIC, 3, __u32)

#define KMON_STATS		_IOR(KMON_IOC_MAGIC, 4, struct kmon_stats)

#endif /* _UAPI_LINUX_KMON_H */
