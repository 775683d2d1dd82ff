// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live memory, see live.h.
 *
 * Objects: there are 256 tables with open addressing, chosen by the upper bits of the
 * hash, so that a table that grows needs little memory beside the old one. Entries are
 * never removed: the entry of a freed object stays as a mark, which distinguishes a
 * second free from the free of an unknown object. When a table is seven eighths full of
 * objects and marks, it grows by half if most entries are live; otherwise only its marks
 * are dropped. So a live object costs 37 to 64 bytes, and marks cost nothing.
 *
 * Blocks: leaves contain up to LEAF_BLOCKS blocks in order. Each leaf covers a range of
 * addresses and contains the blocks that begin there; together the leaves cover all
 * addresses. The leaves are in a tree of the C library, in which overlapping ranges
 * compare as equal: a search for the range of one address finds its leaf. Blocks do not
 * overlap, so only the last block that begins at or before an address can contain it.
 */
#include <assert.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "live.h"
#include "util.h"

/* Data */

#define SHARD_BITS	8
#define SHARDS		BIT(SHARD_BITS)
#define SHARD_FIRST	64u
/* A smaller table always grows. */
#define SHARD_SMALL	1024u

static_assert(sizeof(struct object) == 32, "the table of objects is compact");

struct shard {
	struct object *slots;
	uint32_t size;
	uint32_t used;		/* live objects and marks */
	uint32_t live;
};

/* sizes above 32 bits, which only a damaged or crafted trace contains */
struct huge {
	struct bytes *list;
	uint32_t *unused;
	uint32_t nr;
	uint32_t nr_unused;
	uint32_t room;
};

struct objects {
	struct shard shards[SHARDS];
	struct huge huge;
};

#define LEAF_BLOCKS	64u
#define LEAF_FEW	16u
#define LEAF_MERGED	48u

/* first in struct leaf: the tree compares these */
struct range {
	uint64_t first;
	uint64_t last;
};

struct leaf {
	struct range range;
	struct leaf *prev;
	struct leaf *next;
	unsigned int nr;
	struct block blocks[LEAF_BLOCKS];
};

struct blocks {
	void *tree;
	struct leaf *first;
	struct leaf *recent;	/* where the last search ended */
};

/* Internals: objects */

static struct shard *shard_of(const struct objects *objects, uint64_t hash)
{
	return (struct shard *)&objects->shards[hash >> (64 - SHARD_BITS)];
}

/* Map @hash to a table of any size without a division. */
static uint32_t slot_of(const struct shard *shard, uint64_t hash)
{
	return (uint64_t)(uint32_t)hash * shard->size >> 32;
}

static struct object *shard_slot(const struct shard *shard, uint64_t hash,
				 uint64_t ptr)
{
	uint32_t i = slot_of(shard, hash);

	while (shard->slots[i].ptr && shard->slots[i].ptr != ptr)
		i = i + 1 < shard->size ? i + 1 : 0;
	return &shard->slots[i];
}

static void shard_rebuild(struct shard *shard)
{
	struct shard old = *shard;
	bool grow = old.size < SHARD_SMALL ||
		    old.live > old.size - old.size / 4;
	const struct object *o;

	if (grow)
		shard->size += shard->size / 2;
	shard->slots = need_memory(shard->size, sizeof(*shard->slots));
	shard->used = 0;
	for (o = old.slots; o < old.slots + old.size; o++) {
		if (!o->ptr || (!grow && !o->live))
			continue;
		*shard_slot(shard, hash_u64(o->ptr), o->ptr) = *o;
		shard->used++;
	}
	free(old.slots);
}

static uint32_t huge_add(struct huge *huge, struct bytes bytes)
{
	uint32_t nr = huge->nr;

	if (huge->nr_unused) {
		nr = huge->unused[--huge->nr_unused];
	} else {
		if (huge->nr == huge->room) {
			huge->room = huge->room ? huge->room * 2 : 16;
			huge->list = need_more(huge->list, huge->room,
					       sizeof(*huge->list));
			huge->unused = need_more(huge->unused, huge->room,
						 sizeof(*huge->unused));
		}
		huge->nr++;
	}
	huge->list[nr] = bytes;
	return nr;
}

/* Interface: objects */

/**
 * objects_new - an empty table of objects
 *
 * Return: the table, for objects_free().
 */
struct objects *objects_new(void)
{
	struct objects *objects = need_memory(1, sizeof(*objects));
	struct shard *shard;

	for (shard = objects->shards; shard < objects->shards + SHARDS; shard++) {
		shard->size = SHARD_FIRST;
		shard->slots = need_memory(shard->size, sizeof(*shard->slots));
	}
	return objects;
}

/**
 * objects_free - free a table of objects
 * @objects: from objects_new()
 */
void objects_free(struct objects *objects)
{
	unsigned int i;

	for (i = 0; i < SHARDS; i++)
		free(objects->shards[i].slots);
	free(objects->huge.list);
	free(objects->huge.unused);
	free(objects);
}

/**
 * objects_prefetch - fetch the entry of an address into the cache
 * @objects: the table
 * @ptr: the address
 */
void objects_prefetch(const struct objects *objects, uint64_t ptr)
{
	uint64_t hash = hash_u64(ptr);
	const struct shard *shard = shard_of(objects, hash);

	__builtin_prefetch(&shard->slots[slot_of(shard, hash)], 1);
}

/**
 * objects_find - find the entry of an address
 * @objects: the table
 * @ptr: the address, not 0
 *
 * Return: an entry, live or a mark, valid until objects_get(); or NULL.
 */
struct object *objects_find(const struct objects *objects, uint64_t ptr)
{
	uint64_t hash = hash_u64(ptr);
	struct object *object = shard_slot(shard_of(objects, hash), hash, ptr);

	return object->ptr ? object : NULL;
}

/**
 * objects_get - find the entry of an address, or add one
 * @objects: the table
 * @ptr: the address, not 0
 *
 * In a new entry only @ptr is set, and it is not live.
 *
 * Return: the entry, valid until the next objects_get().
 */
struct object *objects_get(struct objects *objects, uint64_t ptr)
{
	uint64_t hash = hash_u64(ptr);
	struct shard *shard = shard_of(objects, hash);
	struct object *object = shard_slot(shard, hash, ptr);

	if (object->ptr)
		return object;
	if (shard->used + 1 > shard->size - shard->size / 8) {
		shard_rebuild(shard);
		object = shard_slot(shard, hash, ptr);
	}
	object->ptr = ptr;
	shard->used++;
	return object;
}

/**
 * object_born - make an entry live
 * @objects: the table
 * @object: entry from objects_get(), not live
 * @bytes: size of the allocation
 */
void object_born(struct objects *objects, struct object *object,
		 struct bytes bytes)
{
	object->live = 1;
	object->huge = (bytes.requested | bytes.allocated) >> 32 != 0;
	if (object->huge) {
		object->requested = huge_add(&objects->huge, bytes);
	} else {
		object->requested = bytes.requested;
		object->allocated = bytes.allocated;
	}
	shard_of(objects, hash_u64(object->ptr))->live++;
}

/**
 * object_bytes - get the size of a live object
 * @objects: the table
 * @object: the object
 *
 * Return: its size.
 */
struct bytes object_bytes(const struct objects *objects,
			  const struct object *object)
{
	if (object->huge)
		return objects->huge.list[object->requested];
	return (struct bytes){ object->requested, object->allocated };
}

/**
 * object_freed - turn a live entry into a mark
 * @objects: the table
 * @object: live entry from objects_find() or objects_get()
 *
 * Return: its size.
 */
struct bytes object_freed(struct objects *objects, struct object *object)
{
	struct bytes bytes = object_bytes(objects, object);
	struct huge *huge = &objects->huge;

	if (object->huge)
		huge->unused[huge->nr_unused++] = object->requested;
	object->live = 0;
	object->huge = 0;
	shard_of(objects, hash_u64(object->ptr))->live--;
	return bytes;
}

/**
 * objects_each - visit all live objects
 * @objects: the table
 * @fn: called for each object, in no order
 * @data: passed to @fn
 */
void objects_each(const struct objects *objects,
		  void (*fn)(const struct object *object, void *data),
		  void *data)
{
	const struct shard *shard = objects->shards;
	uint32_t i;

	for (; shard < objects->shards + SHARDS; shard++) {
		for (i = 0; i < shard->size; i++) {
			if (shard->slots[i].live)
				fn(&shard->slots[i], data);
		}
	}
}

/* Internals: blocks */

static int range_compare(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->last < y->first)
		return -1;
	return x->first > y->last;
}

static void tree_add(struct blocks *blocks, struct leaf *leaf)
{
	if (!tsearch(leaf, &blocks->tree, range_compare))
		need_memory(SIZE_MAX, SIZE_MAX);
}

static struct leaf *leaf_of(struct blocks *blocks, uint64_t addr)
{
	struct range range = { addr, addr };
	struct leaf *leaf = blocks->recent;

	if (range_compare(&range, leaf)) {
		leaf = *(struct leaf **)tfind(&range, &blocks->tree,
					      range_compare);
		blocks->recent = leaf;
	}
	return leaf;
}

/* Returns the number of blocks in the leaf that begin at or before @addr. */
static unsigned int leaf_upto(const struct leaf *leaf, uint64_t addr)
{
	unsigned int low = 0, high = leaf->nr, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (leaf->blocks[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static void leaf_move(struct leaf *to, struct leaf *from, unsigned int first)
{
	unsigned int nr = from->nr - first;

	memcpy(&to->blocks[to->nr], &from->blocks[first],
	       nr * sizeof(struct block));
	to->nr += nr;
	from->nr = first;
}

/*
 * Split a full leaf to make room for a block at position @i. Half of the blocks move to
 * the new leaf. If the new block goes to the end, as in a series of rising addresses, no
 * block moves. The range of the leaf is divided accordingly.
 */
static void leaf_split(struct blocks *blocks, struct leaf *leaf,
		       unsigned int i, uint64_t start)
{
	struct leaf *new = need_memory(1, sizeof(*new));

	if (i == leaf->nr) {
		new->range.first = start;
	} else {
		new->range.first = leaf->blocks[LEAF_BLOCKS / 2].start;
		leaf_move(new, leaf, LEAF_BLOCKS / 2);
	}
	new->range.last = leaf->range.last;
	leaf->range.last = new->range.first - 1;
	new->prev = leaf;
	new->next = leaf->next;
	if (new->next)
		new->next->prev = new;
	leaf->next = new;
	tree_add(blocks, new);
}

/* Move the blocks of @leaf, which is not the first one, to the leaf before it. */
static void leaf_merge(struct blocks *blocks, struct leaf *leaf)
{
	struct leaf *prev = leaf->prev;

	leaf_move(prev, leaf, 0);
	tdelete(leaf, &blocks->tree, range_compare);
	prev->range.last = leaf->range.last;
	prev->next = leaf->next;
	if (prev->next)
		prev->next->prev = prev;
	blocks->recent = prev;
	free(leaf);
}

static void leaf_remove(struct blocks *blocks, struct leaf *leaf,
			unsigned int i)
{
	leaf->nr--;
	memmove(&leaf->blocks[i], &leaf->blocks[i + 1],
		(leaf->nr - i) * sizeof(struct block));
	if (leaf->prev &&
	    (!leaf->nr || (leaf->nr < LEAF_FEW &&
			   leaf->prev->nr + leaf->nr <= LEAF_MERGED)))
		leaf_merge(blocks, leaf);
}

/*
 * Find the last block that begins at or before @addr. Only the first leaf can be empty.
 */
static struct leaf *leaf_before(struct blocks *blocks, uint64_t addr,
				unsigned int *i)
{
	struct leaf *leaf = leaf_of(blocks, addr);

	*i = leaf_upto(leaf, addr);
	if (!*i) {
		leaf = leaf->prev;
		*i = leaf ? leaf->nr : 0;
	}
	if (!*i)
		return NULL;
	--*i;
	return leaf;
}

/* Returns the share of @requested for @part of @size bytes, rounded down. */
static uint64_t share(uint64_t requested, uint64_t part, uint64_t size)
{
	uint64_t times = requested / size, rest = requested % size, sum;

	if (requested == size)
		return part;
	if (__builtin_mul_overflow(times, part, &sum))
		return UINT64_MAX;
	while (__builtin_mul_overflow(rest, part, &requested)) {
		part >>= 1;
		size >>= 1;
	}
	return sat_add(sum, requested / size);
}

/* Cut [@start, @last] out of @whole. The parts before and after it may be empty. */
static void block_divide(const struct block *whole, uint64_t start,
			 uint64_t last, struct block *before,
			 struct block *part, struct block *after)
{
	uint64_t size = block_size(whole), left = whole->requested;

	*before = *whole;
	*part = *whole;
	*after = *whole;
	part->start = start;
	part->last = last;
	after->start = last + 1;
	before->last = start - 1;
	before->requested = 0;
	after->requested = 0;
	if (start > whole->start)
		before->requested = min_u64(left, share(left, start - whole->start,
							size));
	if (last < whole->last)
		after->requested = min_u64(left - before->requested,
					   share(left, whole->last - last, size));
	part->requested = left - before->requested - after->requested;
}

/* Interface: blocks */

/**
 * blocks_new - an empty set of blocks
 *
 * Return: the set, for blocks_free().
 */
struct blocks *blocks_new(void)
{
	struct blocks *blocks = need_memory(1, sizeof(*blocks));

	blocks->first = need_memory(1, sizeof(*blocks->first));
	blocks->first->range.last = UINT64_MAX;
	blocks->recent = blocks->first;
	tree_add(blocks, blocks->first);
	return blocks;
}

/**
 * blocks_free - free a set of blocks
 * @blocks: from blocks_new()
 */
void blocks_free(struct blocks *blocks)
{
	tdestroy(blocks->tree, free);
	free(blocks);
}

/**
 * blocks_add - add a live block
 * @blocks: the set
 * @block: the block, which is copied; no block in the set may overlap it
 */
void blocks_add(struct blocks *blocks, const struct block *block)
{
	struct leaf *leaf = leaf_of(blocks, block->start);
	unsigned int i = leaf_upto(leaf, block->start);

	if (leaf->nr == LEAF_BLOCKS) {
		leaf_split(blocks, leaf, i, block->start);
		leaf = leaf_of(blocks, block->start);
		i = leaf_upto(leaf, block->start);
	}
	memmove(&leaf->blocks[i + 1], &leaf->blocks[i],
		(leaf->nr - i) * sizeof(*block));
	leaf->blocks[i] = *block;
	leaf->nr++;
}

/**
 * blocks_find - find the last live block that overlaps a range
 * @blocks: the set
 * @start: first address of the range
 * @last: last address of the range
 *
 * Return: the block, valid until the set is changed; or NULL.
 */
struct block *blocks_find(struct blocks *blocks, uint64_t start, uint64_t last)
{
	unsigned int i;
	struct leaf *leaf = leaf_before(blocks, last, &i);

	if (!leaf || leaf->blocks[i].last < start)
		return NULL;
	return &leaf->blocks[i];
}

/**
 * blocks_cut - remove the last live part of a range from the set
 * @blocks: the set
 * @start: first address of the range
 * @last: last address of the range
 * @part: set to the removed block, or to the removed part of it
 *
 * The parts of the block outside the range stay live.
 *
 * Return: false if nothing in the range is live.
 */
bool blocks_cut(struct blocks *blocks, uint64_t start, uint64_t last,
		struct block *part)
{
	struct block whole, before, after;
	unsigned int i;
	struct leaf *leaf = leaf_before(blocks, last, &i);

	if (!leaf || leaf->blocks[i].last < start)
		return false;
	whole = leaf->blocks[i];
	block_divide(&whole, max_u64(start, whole.start),
		     min_u64(last, whole.last), &before, part, &after);
	if (start > whole.start)
		leaf->blocks[i] = before;
	else
		leaf_remove(blocks, leaf, i);
	if (last < whole.last)
		blocks_add(blocks, &after);
	return true;
}

/**
 * blocks_each - visit all live blocks
 * @blocks: the set
 * @fn: called for each block, in the order of the addresses
 * @data: passed to @fn
 */
void blocks_each(const struct blocks *blocks,
		 void (*fn)(const struct block *block, void *data),
		 void *data)
{
	const struct leaf *leaf;
	unsigned int i;

	for (leaf = blocks->first; leaf; leaf = leaf->next) {
		for (i = 0; i < leaf->nr; i++)
			fn(&leaf->blocks[i], data);
	}
}
