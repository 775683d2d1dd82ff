/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small things that the tools use: memory that is there or ends the program, sums
 * that stop at the end of 64 bits, and an index.
 *
 * Sums saturate because a trace may hold any number at all: a total that says
 * "as much as can be said" is a report, one that wrapped around is a lie.
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

/* Another in each run, so that no trace can be made for one. */
extern uint64_t hash_seed;

/* Every bit of @x has a say in every bit of the result. */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= hash_seed;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93u;
	return x ^ x >> 32;
}

#define INDEX_NONE	UINT32_MAX

struct index_slot;

/**
 * struct index - finds the number of an element of a table that only grows
 * @slots: open addressing; all zero is an empty index
 * @size: of @slots, a power of two
 * @used: elements
 */
struct index {
	struct index_slot *slots;
	uint32_t size;
	uint32_t used;
};

/**
 * typedef index_same_fn - is the element the one that is looked for
 * @table: of the elements
 * @nr: number of the element
 * @key: what is looked for
 */
typedef bool index_same_fn(const void *table, uint32_t nr, const void *key);

uint32_t index_find(const struct index *index, uint64_t hash,
		    index_same_fn *same, const void *table, const void *key);
void index_add(struct index *index, uint64_t hash, uint32_t nr);
void index_free(struct index *index);

void *need_memory(size_t nr, size_t size);
void *need_more(void *old, size_t nr, size_t size);
char *need_string(const char *text);
char *path_beside(const char *path, const char *name);

#endif /* _CODETAG_UTIL_H */
