/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A binary heap of pointers, with the first element at the top.
 *
 * All functions are inline: with a constant @before the compiler also inlines the
 * comparison, which matters because merging calls it for every record.
 */
#ifndef _CODETAG_HEAP_H
#define _CODETAG_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/cdefs.h>

/**
 * typedef heap_before_fn - order of the elements
 * @a: an element
 * @b: another element
 *
 * Return: true if @a comes before @b.
 */
typedef bool heap_before_fn(const void *a, const void *b);

/**
 * struct heap - the heap
 * @items: array of elements, provided by the user
 * @nr: number of elements
 */
struct heap {
	void **items;
	size_t nr;
};

/**
 * heap_down - move an element down to its place
 * @heap: the heap; only the element at @at may be out of order
 * @at: position of the element
 * @before: order of the elements
 */
static __always_inline void heap_down(struct heap *heap, size_t at, heap_before_fn *before)
{
	void **items = heap->items, *item;
	size_t child;

	if (at >= heap->nr)
		return;
	item = items[at];
	for (;;) {
		child = 2 * at + 1;
		if (child >= heap->nr)
			break;
		if (child + 1 < heap->nr && before(items[child + 1], items[child]))
			child++;
		if (!before(items[child], item))
			break;
		items[at] = items[child];
		at = child;
	}
	items[at] = item;
}

/**
 * heap_make - put elements in order
 * @heap: the heap, whose elements may be in any order
 * @before: order of the elements
 */
static __always_inline void heap_make(struct heap *heap, heap_before_fn *before)
{
	size_t i;

	for (i = heap->nr / 2; i-- > 0; )
		heap_down(heap, i, before);
}

/**
 * heap_pop - remove the first element
 * @heap: the heap, not empty
 * @before: order of the elements
 *
 * Return: the element.
 */
static __always_inline void *heap_pop(struct heap *heap, heap_before_fn *before)
{
	void *first = heap->items[0];

	heap->items[0] = heap->items[--heap->nr];
	heap_down(heap, 0, before);
	return first;
}

#endif /* _CODETAG_HEAP_H */
