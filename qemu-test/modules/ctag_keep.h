/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that outlives the module that allocated it: see ctag_keep.c.
 */
#ifndef CTAG_KEEP_H
#define CTAG_KEEP_H

#include <linux/types.h>

/* How an object is freed, without code of the module that allocated it. */
enum ctag_how {
	CTAG_KFREE,
	CTAG_KVFREE,
	CTAG_CACHE,
	CTAG_PAGES,
	CTAG_EXACT,
	CTAG_FOLIO,
	CTAG_HOW_NR
};

/**
 * struct ctag_object - a piece of memory and the way to free it
 * @p: address, or struct page or folio for CTAG_PAGES and CTAG_FOLIO
 * @how: the function that frees it
 * @arg: order for CTAG_PAGES, bytes for CTAG_EXACT
 */
struct ctag_object {
	void *p;
	enum ctag_how how;
	size_t arg;
};

int ctag_keep_add(const struct ctag_object *o);

#endif /* CTAG_KEEP_H */
