/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the figures of a running machine come from: /proc/allocinfo with its sysctl, and
 * /proc/allocinfo.nodes.
 */
#ifndef _ALLOCINFO_SOURCE_H
#define _ALLOCINFO_SOURCE_H

#include <stdbool.h>

#include "nodes.h"
#include "table.h"

/**
 * enum profiling - state of memory allocation profiling on a machine
 * @PROFILING_ON: the kernel counts
 * @PROFILING_OFF: the kernel does not count at present
 * @PROFILING_NEVER: the kernel was booted with sysctl.vm.mem_profiling=never
 * @PROFILING_ABSENT: the kernel was built without CONFIG_MEM_ALLOC_PROFILING
 * @PROFILING_DENIED: the user may not read /proc/allocinfo
 * @PROFILING_NO_NODES: the kernel has no /proc/allocinfo.nodes
 * @PROFILING_NODES_DENIED: the user may not read /proc/allocinfo.nodes
 * @PROFILING_FAILED: the file could not be read, for any other reason
 */
enum profiling {
	PROFILING_ON,
	PROFILING_OFF,
	PROFILING_NEVER,
	PROFILING_ABSENT,
	PROFILING_DENIED,
	PROFILING_NO_NODES,
	PROFILING_NODES_DENIED,
	PROFILING_FAILED,
};

/* The number of files that source_hold() opens. */
#define SOURCE_HELD	4

/**
 * struct source - the files of a machine in procfs
 * @proc: where procfs is mounted; a container has that of its host elsewhere
 * @fd: its file allocinfo, or -1
 * @name: the file that was read last
 * @err: a negative errno if it could not be read
 * @to: receives complaints about damaged lines; NULL for standard error
 * @hold: source_hold() was called
 * @held: what source_hold() opened: descriptors, or negative errnos
 */
struct source {
	const char *proc;
	int fd;
	const char *name;
	int err;
	const struct complainer *to;
	bool hold;
	int held[SOURCE_HELD];
};

enum profiling source_open(struct source *source, const char *proc);
void source_hold(struct source *source);
enum profiling source_read(struct source *source, struct table *table);
enum profiling source_read_nodes(struct source *source, struct table *table,
				 struct nodes *nodes);
void source_close(struct source *source);
int source_file(const struct source *source, const char *name, char *text, int size);
const char *profiling_advice(enum profiling state);
void source_explain(const struct source *source, enum profiling state);

#endif /* _ALLOCINFO_SOURCE_H */
