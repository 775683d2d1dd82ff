/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of lib/alloc_tag.c for the report (lib/allocinfo.c), the
 * consumers in lib/ and the checker (mm/alloc_tag_debug.c) only.
 */
#ifndef LIB_ALLOC_TAG_H
#define LIB_ALLOC_TAG_H

#include <linux/alloc_tag_ref.h>
#include <linux/bits.h>

/* In codetag.flags: other tags have the same index and so the same counter. */
#define ALLOC_TAG_SHARED	BIT(0)
/* The other bits are for consumers. */

/* Registered only if alloc_tag_available; otherwise it must not be locked. */
extern struct codetag_type alloc_tag_type;

/* Stands for all call sites without an index; it is in no range of the type. */
extern struct alloc_tag alloc_tag_catch_all;

void alloc_tag_drop_parts(unsigned long index);
void alloc_tag_read(const struct codetag *ct, s64 *bytes, long *calls);
void alloc_tag_register_unload(void (*unload)(struct codetag_type *type,
					      struct codetag_range *range));

#endif /* LIB_ALLOC_TAG_H */
