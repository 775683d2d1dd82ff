/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is live at a moment of a trace: objects by address, and blocks of pages
 * by range.
 *
 * Objects (kmalloc and caches) are freed by the address they were allocated at,
 * and there are many: a hash table of entries of 32 bytes. Blocks of pages can be
 * freed in parts and found from any address in them: an ordered set of ranges
 * that never overlap. An object and a block at the same address are both live,
 * the one within the other.
 */
#ifndef _CODETAG_LIVE_H
#define _CODETAG_LIVE_H

#include <stdbool.h>
#include <stdint.h>

/* of the fields below, where kernel-doc wants the numbers themselves */
#define LIVE_SITE_BITS	18
#define LIVE_CPU_BITS	13
#define LIVE_EPOCH_BITS	30

/**
 * struct object - an entry of the table of objects
 * @ptr: address, 0 in an unused entry
 * @born: when it was allocated, on the clock of the model
 * @requested: bytes, see object_bytes()
 * @allocated: bytes, see object_bytes()
 * @site: number of the call site
 * @cpu: that allocated it
 * @epoch: losses of records before it was allocated, or freed
 * @live: not freed; a freed one stays as a mark until its place is needed
 * @huge: @requested is a number in the list of those too large for 32 bits
 */
struct object {
	uint64_t ptr;
	uint64_t born;
	uint32_t requested;
	uint32_t allocated;
	uint64_t site	: 18;
	uint64_t cpu	: 13;
	uint64_t epoch	: 30;
	uint64_t live	: 1;
	uint64_t huge	: 1;
};

/**
 * struct bytes - a size as asked for and as it is
 * @requested: asked for
 * @allocated: taken
 */
struct bytes {
	uint64_t requested;
	uint64_t allocated;
};

/**
 * struct block - pages that are live together
 * @start: address of the first byte
 * @last: address of the last byte
 * @born: when they were allocated, on the clock of the model
 * @requested: bytes; allocated are those from @start to @last
 * @site: number of the call site
 * @cpu: that allocated them
 * @epoch: losses of records before
 */
struct block {
	uint64_t start;
	uint64_t last;
	uint64_t born;
	uint64_t requested;
	uint64_t site	: 18;
	uint64_t cpu	: 13;
	uint64_t epoch	: 30;
};

struct objects;
struct blocks;

struct objects *objects_new(void);
void objects_free(struct objects *objects);
void objects_prefetch(const struct objects *objects, uint64_t ptr);
struct object *objects_find(const struct objects *objects, uint64_t ptr);
struct object *objects_get(struct objects *objects, uint64_t ptr);
void object_born(struct objects *objects, struct object *object,
		 struct bytes bytes);
struct bytes object_freed(struct objects *objects, struct object *object);
struct bytes object_bytes(const struct objects *objects,
			  const struct object *object);
void objects_each(const struct objects *objects,
		  void (*fn)(const struct object *object, void *data),
		  void *data);

struct blocks *blocks_new(void);
void blocks_free(struct blocks *blocks);
void blocks_add(struct blocks *blocks, const struct block *block);
struct block *blocks_find(struct blocks *blocks, uint64_t start,
			  uint64_t last);
bool blocks_cut(struct blocks *blocks, uint64_t start, uint64_t last,
		struct block *part);
void blocks_each(const struct blocks *blocks,
		 void (*fn)(const struct block *block, void *data),
		 void *data);

static inline uint64_t block_size(const struct block *block)
{
	uint64_t size = block->last - block->start + 1;

	return size ? size : UINT64_MAX;
}

#endif /* _CODETAG_LIVE_H */
