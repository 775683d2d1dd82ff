/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that is live at a moment of a trace: objects by address, and blocks of pages by
 * range.
 *
 * Objects (of kmalloc() and caches) are freed by the address of their allocation, and
 * there are many of them: they are in a hash table with entries of 32 bytes. Blocks of
 * pages can be freed in parts and can be found by any address in them: they are in an
 * ordered set of ranges that never overlap. If an object and a block have the same
 * address, both are live, and the object is in the block.
 */
#ifndef _CODETAG_LIVE_H
#define _CODETAG_LIVE_H

#include <stdbool.h>
#include <stdint.h>

/* widths of the bit-fields below, where kernel-doc needs plain numbers */
#define LIVE_SITE_BITS	18
#define LIVE_CPU_BITS	13
#define LIVE_EPOCH_BITS	30

/**
 * struct object - an entry of the table of objects
 * @ptr: address, 0 in an unused entry
 * @born: time of the allocation
 * @requested: requested bytes, see object_bytes()
 * @allocated: allocated bytes, see object_bytes()
 * @site: number of the call site
 * @cpu: CPU of the allocation
 * @epoch: number of losses before the last allocation or free
 * @live: not freed. The entry of a freed object stays as a mark until its place is needed.
 * @huge: @requested is an index into the list of sizes that exceed 32 bits
 *
 * Only @ptr, @live and the sizes belong to this library, the rest to its users.
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
 * struct bytes - the two sizes of an allocation
 * @requested: requested bytes
 * @allocated: allocated bytes
 */
struct bytes {
	uint64_t requested;
	uint64_t allocated;
};

/**
 * struct block - a block of pages, or the live part of one
 * @start: address of the first byte
 * @last: address of the last byte
 * @born: time of the allocation
 * @requested: requested bytes; the allocated ones are those from @start to @last
 * @site: number of the call site
 * @cpu: CPU of the allocation
 * @epoch: number of losses before the allocation
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
