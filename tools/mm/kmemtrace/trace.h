/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading what kmemtraced recorded: a directory with the file "header" and a file
 * cpu<n>.out for each CPU, of any byte order and word size. The format is in
 * Documentation/mm/kmemtrace.rst.
 *
 * Nothing in a trace is trusted. What is wrong is reported by file and offset
 * through a callback, and as much as can be read is.
 */
#ifndef _KMEMTRACE_TRACE_H
#define _KMEMTRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/kmemtrace.h>

#include "complaints.h"

/* where a trace is without a name, if not in the current directory */
#define TRACE_DIRECTORY	"kmemtrace-trace"
/* the numbers of CPUs are below this */
#define TRACE_MAX_CPUS	65536u

/**
 * struct trace_tag - a line of code, from the table of the kernel
 * @where: "mm/foo.c:12", with " [module]" where there is one
 * @function: its function
 */
struct trace_tag {
	char *where;
	char *function;
};

/**
 * struct trace_symbol - a symbol of the kernel
 * @addr: address
 * @name: name, with " [module]" where there is one
 */
struct trace_symbol {
	uint64_t addr;
	char *name;
};

/**
 * struct trace_header - what the file "header" says
 * @abi_version: of the records
 * @big_endian: byte order of the records
 * @word_bits: 32 or 64
 * @page_size: in bytes
 * @complete: kmemtraced came to its end and wrote all it had read
 * @lost_known: @lost_events and @lost_bytes are there
 * @lost_events: records that the kernel could not write, all CPUs
 * @lost_bytes: their size
 * @whole: all that was recorded is there, from its beginning to its end
 * @written_known: @written is there
 * @written: bytes of the files of all CPUs
 * @earlier_events: of those lost before the trace, records in it tell
 * @untold_known: @untold_events is there
 * @untold_events: of @lost_events, those that no record tells of
 * @begins_known: @begins is there
 * @begins: how often recording was switched on after the first record
 * @machine: as in uname -m
 * @release: as in uname -r
 * @strings: the strings of @tags and @symbols; the first one is empty
 * @tags: by index, up to @nr_tags; an entry without @where is none
 * @nr_tags: size of @tags
 * @symbols: sorted by address
 * @nr_symbols: size of @symbols
 */
struct trace_header {
	unsigned int abi_version;
	bool big_endian;
	unsigned int word_bits;
	unsigned int page_size;
	bool complete;
	bool lost_known;
	uint64_t lost_events;
	uint64_t lost_bytes;
	bool whole;
	bool written_known;
	uint64_t written;
	uint64_t earlier_events;
	bool untold_known;
	uint64_t untold_events;
	bool begins_known;
	unsigned int begins;
	char machine[65];
	char release[65];
	char *strings;
	struct trace_tag *tags;
	size_t nr_tags;
	struct trace_symbol *symbols;
	size_t nr_symbols;
};

/**
 * struct trace_record - a record in the order and size of this machine
 * @event_id: enum kmemtrace_event_id, or another in a later ABI
 * @type_id: enum kmemtrace_type_id, or another in a later ABI
 * @cpu: of whose file it is
 * @sequence: number extended to 64 bits, never less than that of the record
 *	before in the same file
 * @offset: in the file
 * @call_site: return address
 * @ptr: memory, 0 for none
 * @bytes_req: of an allocation
 * @bytes_alloc: of an allocation
 * @gfp_flags: of an allocation
 * @target_cpu: of an allocation
 * @lost_events: of KMEMTRACE_EVENT_LOST
 * @lost_bytes: of KMEMTRACE_EVENT_LOST
 * @features: BIT(id) for each of the following that is there
 * @time: KMEMTRACE_FEATURE_TIME
 * @bytes: KMEMTRACE_FEATURE_BYTES
 * @pid: KMEMTRACE_FEATURE_PID
 * @tag: KMEMTRACE_FEATURE_TAG
 */
struct trace_record {
	uint8_t event_id;
	uint8_t type_id;
	unsigned int cpu;
	uint64_t sequence;
	uint64_t offset;
	uint64_t call_site;
	uint64_t ptr;
	uint64_t bytes_req;
	uint64_t bytes_alloc;
	uint32_t gfp_flags;
	int32_t target_cpu;
	uint64_t lost_events;
	uint64_t lost_bytes;
	unsigned int features;
	uint64_t time;
	uint64_t bytes;
	int32_t pid;
	uint16_t tag;
};

#define TRACE_HAS(r, id)	((r)->features & 1u << (id))

struct trace;

/**
 * trace_open - open a trace
 * @dir: the directory that kmemtraced wrote
 * @complain: told of what is wrong, now and later
 * @data: for @complain
 *
 * Return: the trace, or NULL after a complaint: there is no header, or nothing
 * to be made of it.
 */
struct trace *trace_open(const char *dir, complain_fn *complain,
			 void *data);

/**
 * trace_open_file - open one file of a trace by itself
 * @path: of a cpu<n>.out; the header is looked for beside it
 * @complain: told of what is wrong, now and later
 * @data: for @complain
 *
 * Without a header the byte order is guessed from the first record.
 *
 * Return: the trace, or NULL after a complaint.
 */
struct trace *trace_open_file(const char *path, complain_fn *complain,
			      void *data);

/**
 * trace_header - what is known of the trace
 * @trace: from trace_open()
 *
 * Return: the header, valid until trace_close().
 */
const struct trace_header *trace_header(const struct trace *trace);

/**
 * trace_next - the next record of all CPUs, in the order in which they happened
 * @trace: from trace_open()
 * @record: out
 *
 * Return: false after the last.
 */
bool trace_next(struct trace *trace, struct trace_record *record);

/**
 * trace_symbol - the symbol an address belongs to
 * @header: from trace_header()
 * @addr: the address
 * @offset: out, distance from the symbol
 *
 * Return: the symbol, or NULL.
 */
const struct trace_symbol *trace_symbol(const struct trace_header *header,
					uint64_t addr, uint64_t *offset);

/**
 * trace_is_cpu_file - whether a file is that of a CPU
 * @name: its name, without a directory
 * @cpu: out, the CPU, below TRACE_MAX_CPUS
 *
 * Return: true for "cpu<n>.out", the way kmemtraced writes the number.
 */
bool trace_is_cpu_file(const char *name, unsigned int *cpu);

/**
 * trace_default_directory - where the trace is that nobody gave a name
 *
 * Return: the current directory if it has a header, else TRACE_DIRECTORY.
 */
const char *trace_default_directory(void);

/**
 * trace_core_size - how long a record is without features
 * @event_id: enum kmemtrace_event_id; of one that is not known, what all have
 *
 * Return: bytes.
 */
unsigned int trace_core_size(uint8_t event_id);

/**
 * trace_close - end reading
 * @trace: from trace_open(), or NULL
 */
void trace_close(struct trace *trace);

#endif /* _KMEMTRACE_TRACE_H */
