// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory, hashes, the index and messages, see util.h.
 *
 * Each slot of the index holds the hash beside the number of the element. So the index
 * grows without reading the elements, and a search rarely compares an element with
 * another key. At most half of the slots are in use.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "status.h"
#include "util.h"

uint64_t hash_seed;

#define INDEX_MIN	64u

struct index_slot {
	uint32_t hash;
	uint32_t next_nr;	/* number + 1, 0 in an empty slot */
};

/**
 * hash_seed_init - choose the seed of hash_u64()
 *
 * If the kernel has no random numbers yet, the seed is 0: then a crafted trace can make
 * the program slow, but nothing worse.
 */
void hash_seed_init(void)
{
	if (getrandom(&hash_seed, sizeof(hash_seed), GRND_NONBLOCK) < 0)
		hash_seed = 0;
}

/**
 * hash_string - hash a string
 * @text: the string
 *
 * Return: the hash, different in each run.
 */
uint64_t hash_string(const char *text)
{
	uint64_t hash = 0;

	for (; *text; text++)
		hash = hash_u64(hash ^ (unsigned char)*text);
	return hash;
}

static void *or_exit(void *memory)
{
	if (!memory) {
		fprintf(stderr, "%s: out of memory\n", program_invocation_short_name);
		exit(EXIT_CANNOT);
	}
	return memory;
}

/**
 * need_memory - allocate zeroed memory or exit
 * @nr: number of elements
 * @size: size of an element in bytes
 *
 * Return: the memory; the caller frees it with free().
 */
void *need_memory(size_t nr, size_t size)
{
	return or_exit(calloc(nr ? nr : 1, size));
}

/**
 * need_more - resize memory or exit
 * @old: memory from need_memory(), or NULL
 * @nr: new number of elements
 * @size: size of an element in bytes
 *
 * Return: memory with the contents of @old; the added part is not zeroed.
 */
void *need_more(void *old, size_t nr, size_t size)
{
	return or_exit(reallocarray(old, nr ? nr : 1, size));
}

/**
 * try_grow - make room for one more element of an array
 * @array: address of the pointer to the array
 * @nr: number of elements in use
 * @room: number of elements that fit
 * @size: size of an element in bytes
 *
 * Return: false if there is no memory; the array then stays as it is.
 */
bool try_grow(void *array, size_t nr, size_t *room, size_t size)
{
	void *p;
	size_t more;

	if (nr < *room)
		return true;
	more = *room ? 2 * *room : 64;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, more * size);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	*room = more;
	return true;
}

/**
 * need_string - copy a string or exit
 * @text: the string
 *
 * Return: the copy; the caller frees it with free().
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
 * index_find - find an element by its key
 * @index: the index
 * @hash: hash of the key
 * @same: compares an element with @key
 * @table: passed to @same
 * @key: passed to @same
 *
 * Return: the number that was passed to index_add(), or INDEX_NONE.
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
 * index_add - add an element that the index does not contain yet
 * @index: the index
 * @hash: hash of the key
 * @nr: number of the element, less than 2^31
 */
void index_add(struct index *index, uint64_t hash, uint32_t nr)
{
	if (index->used >= index->size / 2)
		index_grow(index);
	index->used++;
	index_put(index, hash, nr + 1);
}

/**
 * index_free - free the memory of an index
 * @index: the index; empty afterwards
 */
void index_free(struct index *index)
{
	free(index->slots);
	*index = (struct index){ 0 };
}

/**
 * path_beside - build the path of a file in the same directory as another file
 * @path: path of the other file; NULL stands for the current directory
 * @name: name of the file
 *
 * Return: the path; the caller frees it with free().
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

/**
 * usage_error - report wrong options and exit
 * @what: what is wrong
 * @word: the argument in question, or ""
 */
_Noreturn void usage_error(const char *what, const char *word)
{
	fprintf(stderr, "%s: %s%s%s; see --help\n", program_invocation_short_name, what,
		*word ? ": " : "", word);
	exit(EXIT_USAGE);
}

/**
 * end_output - exit after --help or --version
 *
 * Reports if the text could not be written, to a full disk for example.
 */
_Noreturn void end_output(void)
{
	if (!fflush(stdout) && !ferror(stdout))
		exit(EXIT_GOOD);
	fprintf(stderr, "%s: cannot write: %s\n", program_invocation_short_name,
		strerror(errno));
	exit(EXIT_OUTPUT);
}
