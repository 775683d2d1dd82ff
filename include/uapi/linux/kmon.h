/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * KMON: the records that /dev/kmon returns, and its ioctls. See
 * Documentation/driver-api/kmon.rst.
 *
 * A record is a header and a blob. There is no padding between the two, and
 * none between records. All numbers are little-endian on every architecture,
 * and none is aligned.
 *
 * The header, KMON_HDR_SIZE bytes:
 *
 *	at  bytes
 *	 0  1	 CPU that made the record
 *	 1  8	 nanoseconds of CLOCK_MONOTONIC
 *	 9  2	 size of the blob
 *
 * The blob is the data that kmon_add_data() was given. By convention its first
 * byte is its type; the kernel's own types are enum kmon_type.
 *
 * A CPU above KMON_CPU_MAX makes wide records. The CPU in the header of a wide
 * record is KMON_CPU_MAX. The header is followed by KMON_DT_WIDE, a u16 with
 * the number of the CPU, and the blob; the size in the header is that of all
 * three.
 */
#ifndef _UAPI_LINUX_KMON_H
#define _UAPI_LINUX_KMON_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KMON_HDR_CPU		0
#define KMON_HDR_TIME		1
#define KMON_HDR_SIZE_OF_BLOB	9
#define KMON_HDR_SIZE		11

/* The largest blob, and the largest number of a CPU in a header. */
#define KMON_BLOB_MAX		65535
#define KMON_CPU_MAX		255

/* Bytes before the blob of a wide record; the largest number of a CPU there. */
#define KMON_WIDE_SIZE		3
#define KMON_WIDE_CPU_MAX	65535

/**
 * enum kmon_type - first byte of a blob
 * @KMON_DT_TSKQUEUE: a task became runnable; u16 pid
 * @KMON_DT_TSKDEQUEUE: a task is not runnable any more; u16 pid
 * @KMON_DT_TSKSWITCH: a CPU switches to another task; u16 pid of the previous
 *	task, u16 pid of the next task
 * @KMON_DT_TSKWAKEUP: a task is woken; u16 pid of the waker, 0 for an
 *	interrupt, u16 pid of the task
 * @KMON_DT_TSKQUEUE32: as KMON_DT_TSKQUEUE, but with a u32 pid
 * @KMON_DT_TSKDEQUEUE32: as KMON_DT_TSKDEQUEUE, but with a u32 pid
 * @KMON_DT_TSKSWITCH32: as KMON_DT_TSKSWITCH, but with two u32 pids
 * @KMON_DT_TSKWAKEUP32: as KMON_DT_TSKWAKEUP, but with two u32 pids
 * @KMON_DT_ALLOC: memory is allocated; u16 index of the call site or
 *	KMON_NO_SITE, u64 bytes, u64 address
 * @KMON_DT_FREE: memory is freed; u64 address
 * @KMON_DT_WIDE: a record of a CPU above KMON_CPU_MAX; u16 CPU, then its blob
 * @KMON_DT_USER: this and all higher types are for other users of
 *	kmon_add_data()
 *
 * A type with 32 in its name is used only if a pid does not fit into 16 bits.
 * Pids are those of the initial namespace.
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

/* The site in KMON_DT_ALLOC if memory allocation profiling is unavailable. */
#define KMON_NO_SITE		0xffff

/* For KMON_SOURCES: the events that the kernel makes records of. */
#define KMON_SOURCE_SCHED	(1 << 0)
#define KMON_SOURCE_ALLOC	(1 << 1)
#define KMON_SOURCES_ALL	(KMON_SOURCE_SCHED | KMON_SOURCE_ALLOC)
#define KMON_SOURCES_DEFAULT	KMON_SOURCE_SCHED

/* Sizes of an instance's buffer; a size is rounded up to a power of two. */
#define KMON_BUFFSIZE_MIN	(1L << 12)
#define KMON_BUFFSIZE_MAX	(1L << 30)
#define KMON_BUFFSIZE_DEFAULT	(1L << 20)

/**
 * struct kmon_stats - counts of an instance since it was opened
 * @buff_size: size of its buffer in bytes, after rounding up
 * @read: number of records read
 * @lost: number of records lost while it was started, because the ring of their
 *	CPU or the buffer of this instance had no room
 * @unread: number of records in its buffer
 * @unread_bytes: size of the records in its buffer
 * @refused: number of blobs that were too large to become a record, from all
 *	CPUs, since boot
 * @sources: KMON_SOURCE_* that it has chosen
 * @started: 1 between KMON_START and KMON_STOP, else 0
 *
 * @read + @lost + @unread is the number of records made while it was started.
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

/* A new instance is stopped. Starting or stopping it twice is not an error. */
#define KMON_START		_IO(KMON_IOC_MAGIC, 0)
#define KMON_STOP		_IO(KMON_IOC_MAGIC, 1)

/* EBUSY if the instance is started, or if its unread records do not fit. */
#define KMON_BUFFSIZE		_IOW(KMON_IOC_MAGIC, 2, long)

/* EBUSY if the instance is started. */
#define KMON_SOURCES		_IOW(KMON_IOC_MAGIC, 3, __u32)

#define KMON_STATS		_IOR(KMON_IOC_MAGIC, 4, struct kmon_stats)

#endif /* _UAPI_LINUX_KMON_H */
