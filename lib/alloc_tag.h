/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What lib/alloc_tag.c shows to its neighbours in lib/, and to nobody else: to
 * the report, and to consumers that register.
 */
#ifndef LIB_ALLOC_TAG_H
#define LIB_ALLOC_TAG_H

#include <linux/alloc_tag.h>
#include <linux/bits.h>

/* In codetag.flags: the counter of the index is not this tag's alone. */
#define ALLOC_TAG_SHARED	BIT(0)
/* The other bits are for consumers. */

/* Not registered, so not to be locked, while alloc_tag_available is false. */
extern struct codetag_type alloc_tag_type;

/* Stands for all lines that got no index; in no range of the type. */
extern struct alloc_tag alloc_tag_catch_all;

void alloc_tag_drop_parts(unsigned long index);
void alloc_tag_read(const struct codetag *ct, s64 *bytes, long *calls);
void alloc_tag_register_unload(void (*unload)(struct codetag_type *type,
					      struct codetag_range *range));

#endif /* LIB_ALLOC_TAG_H */
