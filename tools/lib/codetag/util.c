// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory and the index, see util.h.
 *
 * The index holds the hash beside the number, so that it can grow without asking
 * for the elements, and mostly need not look at an element that is not the one.
 * No more than half of it is in use.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "status.h"
#include "util.h"

uint64_t hash_seed;

#define INDEX_MIN	64u

struct index_slot {
	uint32_t hash;
	uint32_t next_nr;	/* number + 1, 0 in an empty slot */
};

static void *or_exit(void *memory)
{
	if (!memory) {
		fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
		exit(EXIT_CANNOT);
	}
	return memory;
}

/**
 * need_memory - zeroed memory, or the end of the program
 * @nr: elements
 * @size: of an element in bytes
 *
 * Return: the memory, to be given back with free().
 */
void *need_memory(size_t nr, size_t size)
{
	return or_exit(calloc(nr ? nr : 1, size));
}

/**
 * need_more - memory of another size, or the end of the program
 * @old: from need_memory(), or NULL
 * @nr: elements
 * @size: of an element in bytes
 *
 * Return: the memory with what was in @old; what is new is not zeroed.
 */
void *need_more(void *old, size_t nr, size_t size)
{
	return or_exit(reallocarray(old, nr ? nr : 1, size));
}

/**
 * need_string - a copy, or the end of the program
 * @text: what to copy
 *
 * Return: the copy, to be given back with free().
 */
char *need_string(const char *text)
{
	return or_exit(strdup(text));
}

static void index_put(struct index *index, uint32_t hash, uint32_t next_nr)
{
	uint32_t i = hash & (index->size - 1);

	while (index->slots[i].next_nr)
		i = (i + 1) & (index->size - 1);
	index->slots[i] = (struct index_slot){ hash, next_nr };
}

static void index_grow(struct index *index)
{
	struct index old = *index;
	uint32_t i;

	index->size = old.size ? old.size * 2 : INDEX_MIN;
	index->slots = need_memory(index->size, sizeof(*index->slots));
	for (i = 0; i < old.size; i++) {
		if (old.slots[i].next_nr)
			index_put(index, old.slots[i].hash,
				  old.slots[i].next_nr);
	}
	free(old.slots);
}

/**
 * index_find - the number of an element
 * @index: where to look
 * @hash: of the key
 * @same: tells whether it is the one
 * @table: for @same
 * @key: for @same
 *
 * Return: the number given to index_add(), or INDEX_NONE.
 */
uint32_t index_find(const struct index *index, uint64_t hash,
		    index_same_fn *same, const void *table, const void *key)
{
	const struct index_slot *slot;
	uint32_t i = hash;

	if (!index->size)
		return INDEX_NONE;
	for (;; i++) {
		slot = &index->slots[i & (index->size - 1)];
		if (!slot->next_nr)
			return INDEX_NONE;
		if (slot->hash == (uint32_t)hash &&
		    same(table, slot->next_nr - 1, key))
			return slot->next_nr - 1;
	}
}

/**
 * index_add - add an element that is not there yet
 * @index: to be found there
 * @hash: of its key
 * @nr: its number, less than 2^31
 */
void index_add(struct index *index, uint64_t hash, uint32_t nr)
{
	if (index->used >= index->size / 2)
		index_grow(index);
	index->used++;
	index_put(index, hash, nr + 1);
}

/**
 * index_free - give back the memory
 * @index: is empty afterwards
 */
void index_free(struct index *index)
{
	free(index->slots);
	*index = (struct index){ 0 };
}

/**
 * path_beside - a file in the directory of another one
 * @path: of that one; NULL, or without a slash: it is in the current directory
 * @name: of the file
 *
 * Return: its path, to be freed.
 */
char *path_beside(const char *path, const char *name)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	size_t folder = slash ? slash + 1 - path : 0;
	char *beside = need_memory(folder + strlen(name) + 1, 1);

	if (folder)
		memcpy(beside, path, folder);
	strcpy(beside + folder, name);
	return beside;
}
