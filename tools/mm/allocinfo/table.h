/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call sites of /proc/allocinfo, read from the file, from a copy of it or from its
 * records.
 *
 * The format is that of Documentation/ABI/testing/procfs-allocinfo, which is also
 * mainline's, version 1.0 (Linux 6.10) and 2.0. A line is
 *
 *	bytes calls file:line [module] func:function accurate:no key:value ...
 *
 * in which only the first three words are always there.
 */
#ifndef _ALLOCINFO_TABLE_H
#define _ALLOCINFO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/alloc_tag.h>

#include "complaints.h"

/* Versions above this major number may mean something else by a column. */
#define TABLE_MAJOR	2u

/**
 * struct site - a call site and what it holds
 * @bytes: bytes that are allocated and not freed; below 0 only if the kernel miscounted
 * @calls: allocations that are not freed; below 0 as @bytes
 * @file: source file
 * @module: module, empty for built-in code
 * @func: function, empty if the line has none
 * @line: line in @file
 * @accurate: the counter belongs to this call site alone
 */
struct site {
	int64_t bytes;
	int64_t calls;
	const char *file;
	const char *module;
	const char *func;
	uint32_t line;
	bool accurate;
};

/**
 * struct table - the call sites at one time, in the order of the kernel
 * @sites: the call sites; their strings are in @text
 * @nr: number of @sites
 * @room: number of @sites that fit
 * @text: text of the file, cut into strings by table_parse()
 * @size: length of @text in bytes, without the NUL behind it
 * @text_room: size of the allocation of @text
 * @major: major version of the format
 * @minor: minor version of the format
 * @damaged: lines that could not be read
 *
 * All zero at first. A table can be read again, which reuses its memory.
 */
struct table {
	struct site *sites;
	size_t nr;
	size_t room;
	char *text;
	size_t size;
	size_t text_room;
	unsigned int major;
	unsigned int minor;
	uint64_t damaged;
};

/**
 * struct table_format - a text whose lines end as those of /proc/allocinfo do
 * @file: its name, for complaints
 * @heading: its first line, up to the version
 * @major: the newest major version that is known
 * @take: takes the numbers at the beginning of the line of the call site @nr, and sets
 *	those of @site; returns false if they are damaged
 * @data: passed to @take
 */
struct table_format {
	const char *file;
	const char *heading;
	unsigned int major;
	bool (*take)(char **line, struct site *site, size_t nr, void *data);
	void *data;
};

int table_read(struct table *table, int fd);
int table_read_records(struct table *table, int fd, const struct allocinfo_filter *filter);
void table_set_text(struct table *table, const char *text, size_t size);
bool table_parse(struct table *table, const char *name, const struct complainer *to);
void table_clean(struct table *table);
bool table_parse_as(struct table *table, const struct table_format *format, const char *name,
		    const struct complainer *to);
bool table_take_count(char **p, int64_t *count);
void table_free(struct table *table);

int site_compare(const struct site *a, const struct site *b);
uint64_t site_hash(const struct site *site);

#endif /* _ALLOCINFO_TABLE_H */
