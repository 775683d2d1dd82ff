/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading a trace of kmemtraced: a directory with the file "header" and a file cpu<n>.out
 * for each CPU, in any byte order and word size. Documentation/mm/kmemtrace.rst describes
 * the format.
 *
 * A trace may be damaged or crafted. Damage is reported with its file and offset through
 * a callback, and everything that can be read is read.
 */
#ifndef _KMEMTRACE_TRACE_H
#define _KMEMTRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/kmemtrace.h>

#include "complaints.h"

/* default directory of a trace if the current directory has none */
#define TRACE_DIRECTORY	"kmemtrace-trace"
/* all CPU numbers are below this */
#define TRACE_MAX_CPUS	65536u

/**
 * struct trace_tag - a line of code in the table of tags
 * @where: "mm/foo.c:12", followed by " [module]" if it is in a module
 * @function: name of the function
 */
struct trace_tag {
	char *where;
	char *function;
};

/**
 * struct trace_symbol - a symbol of the kernel
 * @addr: address
 * @name: name, followed by " [module]" if it is in a module
 */
struct trace_symbol {
	uint64_t addr;
	char *name;
};

/**
 * struct trace_header - contents of the file "header"
 * @abi_version: version of the ABI of the records, 0 without a header
 * @big_endian: byte order of the records
 * @word_bits: 32 or 64
 * @page_size: in bytes
 * @complete: kmemtraced ended regularly and wrote everything it had read
 * @lost_known: @lost_events and @lost_bytes are known
 * @lost_events: events that the kernel could not write, on all CPUs
 * @lost_bytes: bytes of the lost events
 * @whole: the trace covers the whole recording
 * @written_known: @written is known
 * @written: bytes that were written to the files of all CPUs
 * @earlier_events: events lost before the trace that records in the trace may report
 * @untold_known: @untold_events is known
 * @untold_events: number of @lost_events that no record reports
 * @begins_known: @begins is known
 * @begins: how often recording was switched on after the first record
 * @machine: architecture, as printed by uname -m
 * @release: release of the kernel, as printed by uname -r
 * @strings: the strings of @tags and @symbols; the first one is empty
 * @tags: tags by index; an entry without @where is unused
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
 * struct trace_record - a record in the byte order of this machine
 * @event_id: enum kmemtrace_event_id, or an event of a later ABI
 * @type_id: enum kmemtrace_type_id, or a type of a later ABI
 * @cpu: CPU whose file contains the record
 * @sequence: sequence number extended to 64 bits, never less than that of the previous
 *	record in the same file
 * @offset: offset of the record in the file
 * @call_site: return address
 * @ptr: address of the memory, 0 for none
 * @bytes_req: allocation: requested bytes
 * @bytes_alloc: allocation: allocated bytes
 * @gfp_flags: allocation: flags
 * @target_cpu: allocation: requested CPU
 * @lost_events: KMEMTRACE_EVENT_LOST: number of lost events
 * @lost_bytes: KMEMTRACE_EVENT_LOST: bytes of the lost events
 * @features: BIT(id) for each of the following features that the record has
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
 * @dir: directory of the trace
 * @complain: receives complaints until trace_close()
 * @data: passed to @complain
 *
 * Return: the trace, or NULL after a complaint about a missing or unusable header.
 */
struct trace *trace_open(const char *dir, complain_fn *complain,
			 void *data);

/**
 * trace_open_file - open one file of a trace by itself
 * @path: path of a file cpu<n>.out, with the header in the same directory
 * @complain: receives complaints until trace_close()
 * @data: passed to @complain
 *
 * Without a header the byte order is guessed from the first record.
 *
 * Return: the trace, or NULL after a complaint.
 */
struct trace *trace_open_file(const char *path, complain_fn *complain,
			      void *data);

/**
 * trace_header - get the header of a trace
 * @trace: from trace_open()
 *
 * Return: the header, valid until trace_close().
 */
const struct trace_header *trace_header(const struct trace *trace);

/**
 * trace_next - read the next record of all CPUs, in the order of the events
 * @trace: from trace_open()
 * @record: result
 *
 * Return: false after the last record.
 */
bool trace_next(struct trace *trace, struct trace_record *record);

/**
 * trace_symbol - find the symbol that an address belongs to
 * @header: from trace_header()
 * @addr: the address
 * @offset: set to the distance from the symbol, unless NULL
 *
 * Return: the symbol, or NULL.
 */
const struct trace_symbol *trace_symbol(const struct trace_header *header,
					uint64_t addr, uint64_t *offset);

/**
 * trace_is_cpu_file - check whether a file contains the records of a CPU
 * @name: name of the file, without a directory
 * @cpu: set to the CPU, below TRACE_MAX_CPUS
 *
 * Return: true for "cpu<n>.out" with the number as kmemtraced writes it.
 */
bool trace_is_cpu_file(const char *name, unsigned int *cpu);

/**
 * trace_default_directory - get the directory of the trace if the user gives none
 *
 * Return: the current directory if it has a header, else TRACE_DIRECTORY.
 */
const char *trace_default_directory(void);

/**
 * trace_core_size - get the size of a record without its features
 * @event_id: enum kmemtrace_event_id; for an unknown event, the size common to all
 *
 * Return: bytes.
 */
unsigned int trace_core_size(uint8_t event_id);

/**
 * trace_close - close a trace
 * @trace: from trace_open(), or NULL
 */
void trace_close(struct trace *trace);

#endif /* _KMEMTRACE_TRACE_H */
