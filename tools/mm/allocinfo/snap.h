/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of snapshots, which `allocinfo record` writes for weeks.
 *
 * A file is a sequence of records and is only ever appended to. All numbers are
 * little-endian:
 *
 *	offset	size	contents
 *	     0	   8	SNAP_MAGIC
 *	     8	   1	type: 'H', 'F' or 'D'
 *	     9	   3	0
 *	    12	   4	length of the contents
 *	    16	   4	length of the text that the contents unpack to
 *	    20	   4	CRC-32 of all of this but itself, and of the contents
 *	    24		contents
 *
 *	'H'	header: lines "name value", not packed. It begins a recording: a new one
 *		follows whenever the recorder is started.
 *	'F'	full snapshot: one frame of zstd
 *	'D'	snapshot: one frame of zstd, with the text of the snapshot before it as prefix
 *
 * The text of a snapshot is a line "snapshot TIME BOOTTIME M A", M bytes of /proc/meminfo,
 * a zero byte, A bytes of /proc/allocinfo, and a zero byte. TIME is in nanoseconds since
 * 1970, BOOTTIME in nanoseconds since boot. Keeping the text as it is keeps columns that
 * future kernels add.
 *
 * Old parts of a recording are FILE.1, FILE.2 and so on, the oldest with the largest number.
 * Each part begins with a header and a full snapshot.
 *
 * A file that was cut at any byte is read up to there. The recorder holds an OFD lock on the
 * newest part, by which a reader knows that a cut record at its end is being written. A
 * reader skips records of a type that it does not know, and finds the next record after
 * damage by SNAP_MAGIC.
 */
#ifndef _ALLOCINFO_SNAP_H
#define _ALLOCINFO_SNAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "complaints.h"

#define SNAP_MAGIC	"allocsnp"
#define SNAP_MAGIC_SIZE	8
#define SNAP_VERSION	1

/* The largest text of a snapshot: a million call sites would fit. */
#define SNAP_TEXT_MAX	(128u << 20)

/**
 * struct snap_header - where a recording was made
 * @boot_id: differs after each boot
 * @release: release of the kernel
 * @machine: architecture
 * @host: name of the machine
 * @cmdline: command line of the kernel
 *
 * Any of them may be an empty string.
 */
struct snap_header {
	char *boot_id;
	char *release;
	char *machine;
	char *host;
	char *cmdline;
};

/**
 * struct snap - a snapshot
 * @header: of its recording
 * @nr: number of the snapshot, from 0
 * @time: nanoseconds since 1970
 * @boottime: nanoseconds since boot
 * @meminfo: text of /proc/meminfo, ends with a zero byte
 * @meminfo_size: its size, without the zero byte
 * @allocinfo: text of /proc/allocinfo, ends with a zero byte
 * @allocinfo_size: its size, without the zero byte
 */
struct snap {
	const struct snap_header *header;
	uint64_t nr;
	uint64_t time;
	uint64_t boottime;
	const char *meminfo;
	size_t meminfo_size;
	const char *allocinfo;
	size_t allocinfo_size;
};

struct snap_reader;

bool snap_is_file(const char *path);
struct snap_reader *snap_open(const char *path, const struct complainer *complainer);
bool snap_next(struct snap_reader *reader, struct snap *snap);
void snap_close(struct snap_reader *reader);

/**
 * struct snap_limits - how much of a recording is kept
 * @size: bytes of all parts, 0 for no limit
 * @age: seconds, 0 for no limit
 */
struct snap_limits {
	uint64_t size;
	uint64_t age;
};

struct snap_writer;

struct snap_writer *snap_writer_open(const char *path, bool force,
				     const struct snap_limits *limits);
bool snap_write(struct snap_writer *writer, const struct snap *snap);
uint64_t snap_written(const struct snap_writer *writer);
void snap_writer_close(struct snap_writer *writer);

#endif /* _ALLOCINFO_SNAP_H */
