/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading the file "header" of a trace. Only trace-open.c uses this; the programs use
 * trace.h.
 */
#ifndef _KMEMTRACE_TRACE_HEADER_H
#define _KMEMTRACE_TRACE_HEADER_H

#include "complaints.h"
#include "trace.h"

/**
 * struct header_file - the header while a trace is opened
 * @name: path of the file; header_free() frees it
 * @header: result
 * @byte_order_known: the header contains the byte order
 * @cpus: CPUs that have a file in the trace
 * @nr_cpus: number of @cpus
 */
struct header_file {
	char *name;
	struct trace_header *header;
	bool byte_order_known;
	uint32_t *cpus;
	size_t nr_cpus;
};

bool header_read(struct header_file *file, bool needed, const struct complainer *to);
void header_free(struct header_file *file);

#endif /* _KMEMTRACE_TRACE_HEADER_H */
