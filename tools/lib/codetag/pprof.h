/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing a profile for `go tool pprof`.
 *
 * The caller adds samples, and to each sample its frames, the innermost first:
 *
 *	struct pprof *pprof = pprof_new(types, 2, "inuse_space");
 *
 *	pprof_sample(pprof, values);
 *	pprof_label(pprof, "module", "xfs");
 *	pprof_frame(pprof, &frame);
 *	pprof_frame(pprof, &caller);
 *	ok = pprof_write(pprof, file);
 *
 * A program that uses this links $(PPROF_OBJ) and $(PPROF_LIBS), see tools.mk.
 */
#ifndef _CODETAG_PPROF_H
#define _CODETAG_PPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The largest number of values of a sample. */
#define PPROF_VALUES	4

/**
 * struct pprof_type - a kind of value
 * @name: for example "inuse_space"
 * @unit: for example "bytes"
 */
struct pprof_type {
	const char *name;
	const char *unit;
};

/**
 * struct pprof_frame - a frame of a stack
 * @function: name of the function
 * @file: name of the source file, or what pprof shall print in its place; may be empty
 * @address: address in the code, 0 if unknown
 * @line: line in @file, 0 if unknown
 */
struct pprof_frame {
	const char *function;
	const char *file;
	uint64_t address;
	uint32_t line;
};

struct pprof;

struct pprof *pprof_new(const struct pprof_type *types, size_t nr, const char *by_default);
void pprof_comment(struct pprof *pprof, const char *text);
void pprof_time(struct pprof *pprof, uint64_t time, uint64_t duration);
void pprof_sample(struct pprof *pprof, const uint64_t *values);
void pprof_label(struct pprof *pprof, const char *key, const char *text);
void pprof_frame(struct pprof *pprof, const struct pprof_frame *frame);
bool pprof_write(struct pprof *pprof, FILE *out);

#endif /* _CODETAG_PPROF_H */
