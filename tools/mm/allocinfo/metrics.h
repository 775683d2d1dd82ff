/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The memory of a host as metrics for Prometheus: allocinfo export writes them to a file,
 * allocinfod serves them. Documentation/tools/allocinfo-fleet.rst explains each metric.
 *
 * A function is a row: all its call sites, without their lines, which change with each
 * build. METRICS_TOP functions have rows of their own, the members. All others together are
 * the row "other". The call sites that allocate the pages of slabs and of per-CPU chunks
 * are in no row: those pages hold objects, and the objects are in the rows of their own call
 * sites. So each balance has
 *
 *	sum of linux_alloc_site_bytes + slab_free = sites
 *	total = free + sites + unaccounted
 *
 * in linux_alloc_memory_bytes, to the byte.
 *
 * Members do not change whenever two functions swap their ranks, because each change ends
 * two time series and begins two others:
 *
 *  - A member that is among the first METRICS_KEEP functions by bytes stays.
 *  - If there is room, the first functions by bytes enter.
 *  - Otherwise, a function that is among the first METRICS_ENTER takes the place of the
 *    member that holds least. That member is not among the first METRICS_TOP.
 */
#ifndef _ALLOCINFO_METRICS_H
#define _ALLOCINFO_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "balance.h"
#include "source.h"
#include "table.h"

#define METRICS_ENTER	30u
#define METRICS_TOP	40u
#define METRICS_KEEP	60u

/* No output has more series than this. */
#define METRICS_SERIES_MAX	100u

struct metrics;

/**
 * struct metrics_values - what is known about a host at a time
 * @state: state of profiling; PROFILING_DENIED is exported as "failed"
 * @table: the call sites, after table_clean(); NULL unless @state is PROFILING_ON or
 *	PROFILING_OFF
 * @balance: the balance of @table; NULL if unknown, as when balance_read() returned false
 * @read_seconds: time that reading and parsing @table took
 */
struct metrics_values {
	enum profiling state;
	const struct table *table;
	const struct balance *balance;
	double read_seconds;
};

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);
bool metrics_members(struct metrics *metrics, const char *text, size_t size);
void metrics_write(struct metrics *metrics, const struct metrics_values *values, FILE *out);

#endif /* _ALLOCINFO_METRICS_H */
