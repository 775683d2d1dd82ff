/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small helpers of all tools: allocations that end the program when they fail, sums
 * that saturate, hashes, an index, and the message about wrong options.
 *
 * Sums saturate because a damaged trace may contain any number: a total at the maximum
 * is visibly too large, but a total that wrapped around would look plausible.
 */
#ifndef _CODETAG_UTIL_H
#define _CODETAG_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define BIT(nr)		(1u << (nr))
#define __printf(a, b)	__attribute__((format(printf, a, b)))

static inline uint64_t sat_add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static inline uint64_t sat_sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* The seed differs in each run, so a crafted trace cannot provoke collisions. */
extern uint64_t hash_seed;

void hash_seed_init(void);

/* Every bit of the result depends on every bit of @x. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= hash_seed;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

uint64_t hash_string(const char *text);

#define INDEX_NONE	UINT32_MAX

struct index_slot;

/**
 * struct index - finds the number of an element in a table that only grows
 * @slots: hash table with open addressing; an empty index is all zero
 * @size: number of @slots, a power of two
 * @used: number of elements
 */
struct index {
	struct index_slot *slots;
	uint32_t size;
	uint32_t used;
};

/**
 * typedef index_same_fn - compare an element with the key
 * @table: table that contains the element
 * @nr: number of the element
 * @key: the key
 *
 * Return: true if the element has this key.
 */
typedef bool index_same_fn(const void *table, uint32_t nr, const void *key);

uint32_t index_find(const struct index *index, uint64_t hash,
		    index_same_fn *same, const void *table, const void *key);
void index_add(struct index *index, uint64_t hash, uint32_t nr);
void index_free(struct index *index);

void *need_memory(size_t nr, size_t size);
void *need_more(void *old, size_t nr, size_t size);
bool try_grow(void *array, size_t nr, size_t *room, size_t size);
char *need_string(const char *text);
char *path_beside(const char *path, const char *name);

_Noreturn void usage_error(const char *what, const char *word);
_Noreturn void end_output(void);

#endif /* _CODETAG_UTIL_H */
