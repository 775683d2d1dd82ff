/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does /proc/allocinfo add up with /proc/meminfo?
 *
 * MemTotal is the memory that the page allocator manages. Each page of it is free, or on
 * a free list of a CPU, or allocated. The table has an allocated page on the line of its
 * call site. It also has the objects inside of slabs and of per-CPU chunks, so their
 * memory is in the table twice:
 *
 *	MemTotal = free + lists + sites + none
 *	sites    = table - objects
 *
 * "none" is the memory that is on no line. It is what the equation leaves, so it also
 * contains every error of the other terms. balance_make() compares figures of
 * /proc/meminfo with those of call sites to explain it.
 *
 * How exact is it?
 *
 *  - /proc/slabinfo has the objects in slabs. It counts all objects of the slabs that a
 *    CPU works with as used, so some free objects count as objects. Without the file,
 *    slabs count as full.
 *  - No file has the per-CPU objects. Per-CPU chunks count as full. The first chunk was
 *    reserved at boot: its objects are in the table, but its pages are not in MemTotal.
 *  - The files are read one after the other, and the machine does not stop for that.
 *
 * @margin is the sum of what the first two can make wrong.
 */
#ifndef _ALLOCINFO_BALANCE_H
#define _ALLOCINFO_BALANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "source.h"
#include "table.h"

/**
 * enum balance_part - memory that both files show
 * @PART_SLABS: pages of slabs
 * @PART_USER: page cache, and memory of processes
 * @PART_STACKS: stacks of tasks in the kernel
 * @PART_TABLES: page tables of processes
 * @PART_PERCPU: pages of per-CPU chunks
 * @PART_HUGE: pages of hugetlbfs
 */
enum balance_part {
	PART_SLABS,
	PART_USER,
	PART_STACKS,
	PART_TABLES,
	PART_PERCPU,
	PART_HUGE,
	NR_PARTS,
};

#define BALANCE_UNKNOWN	INT64_MIN

/**
 * struct balance_text - the files that a balance is made from
 * @meminfo: text of /proc/meminfo
 * @slabinfo: text of /proc/slabinfo, or NULL
 * @zoneinfo: text of /proc/zoneinfo, or NULL
 * @page_size: size of a page in bytes
 */
struct balance_text {
	const char *meminfo;
	const char *slabinfo;
	const char *zoneinfo;
	int64_t page_size;
};

/**
 * struct part_sum - a part, seen from both sides
 * @sites: bytes that the call sites of the part hold
 * @kernel: bytes that the kernel reports elsewhere, or BALANCE_UNKNOWN
 */
struct part_sum {
	int64_t sites;
	int64_t kernel;
};

/**
 * struct balance - where the memory of a machine is, in bytes
 * @total: MemTotal
 * @free: MemFree
 * @lists: free pages on lists of CPUs, which are not in MemFree; BALANCE_UNKNOWN without
 *	/proc/zoneinfo, and 0 in the equation then
 * @table: sum over all lines of the table
 * @objects: bytes of it that are objects inside of pages that other lines have
 * @slab_objects: part of @objects that is in slabs
 * @sites: bytes of pages that are on a line
 * @none: bytes that are on no line; below 0 if the figures contradict each other
 * @margin: @none can be wrong by this much
 * @reserved: bytes of memory that the page allocator never had, such as the kernel image
 *	and the page map: not in MemTotal; BALANCE_UNKNOWN without /proc/zoneinfo
 * @parts: parts of @sites, and what the kernel says about them
 * @have_slabinfo: @slab_objects is from /proc/slabinfo
 */
struct balance {
	int64_t total;
	int64_t free;
	int64_t lists;
	int64_t table;
	int64_t objects;
	int64_t slab_objects;
	int64_t sites;
	int64_t none;
	int64_t margin;
	int64_t reserved;
	struct part_sum parts[NR_PARTS];
	bool have_slabinfo;
};

bool balance_make(struct balance *balance, const struct table *table,
		  const struct balance_text *text);
bool balance_read(struct balance *balance, const struct table *table,
		  const struct source *source);
int64_t balance_missing(const struct balance *balance, enum balance_part part);
int64_t balance_unexplained(const struct balance *balance);
enum balance_part balance_part_of(const struct site *site);
bool balance_holds_objects(const struct site *site);
bool balance_holds_counters(const struct site *site);
const char *balance_part_name(enum balance_part part);
int64_t meminfo_bytes(const char *meminfo, const char *name);

#endif /* _ALLOCINFO_BALANCE_H */
