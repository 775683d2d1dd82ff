/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of call sites: from the code tag if the record has one, else from the debug
 * information of a vmlinux, else from the copy of kallsyms in the trace.
 */
#ifndef _KMEMTRACE_REPORT_SYMBOLS_H
#define _KMEMTRACE_REPORT_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace.h"

/**
 * struct place - name of a call site; the strings are printable ASCII
 * @function: function, NULL if unknown
 * @file: source file, NULL if unknown
 * @module: kernel module, NULL for the kernel itself
 * @line: in @file
 * @offset: of the call site in @function
 * @has_offset: @offset is known
 */
struct place {
	char *function;
	char *file;
	char *module;
	unsigned int line;
	uint64_t offset;
	bool has_offset;
};

struct symbolizer;

struct symbolizer *symbolizer_new(const struct trace_header *header,
				  const char *vmlinux, const struct complainer *to);
void symbolizer_free(struct symbolizer *symbolizer);
void symbolizer_place(struct symbolizer *symbolizer, uint64_t call_site, uint16_t tag,
		      struct place *place);
void place_free(struct place *place);

#endif /* _KMEMTRACE_REPORT_SYMBOLS_H */
