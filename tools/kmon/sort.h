/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sort records by time in limited memory. Records with the same time keep their order.
 */
#ifndef _KMON_SORT_H
#define _KMON_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SORT_MEMORY_MIN	(256u * 1024)
#define SORT_MEMORY	(64u * 1024 * 1024)
#define SORT_MEMORY_MAX	(2048u * 1024 * 1024)

struct sorter;

/**
 * typedef sorted_fn - receives a record
 * @raw: the record
 * @data: from the caller of sorter_each()
 */
typedef void sorted_fn(const uint8_t *raw, void *data);

struct sorter *sorter_new(size_t memory);
bool sorter_add(struct sorter *sorter, const uint8_t *raw, size_t size);
bool sorter_each(struct sorter *sorter, sorted_fn *fn, void *data);
void sorter_free(struct sorter *sorter);

#endif /* _KMON_SORT_H */
