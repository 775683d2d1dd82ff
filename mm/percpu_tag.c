// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation tags of per-CPU memory: where the reference of an area is.
 *
 * A chunk has a vector of references, one for each unit at which an area can
 * begin. The reference of an area is that of its first unit; the chunk's map of
 * boundaries shows where the area ends. A reference is released under
 * pcpu_lock, together with the changes to the maps. It is set just after that
 * lock is released, by the task that has allocated the area: nothing can free
 * the area before that.
 *
 * The bytes of an area are its size times the number of possible CPUs at the
 * time of pcpu_tag_init(). That number is kept, because some architectures drop
 * possible CPUs later: then fewer bytes would be taken off than were added.
 *
 * The command line determines whether there are references at all, but the
 * first chunk and the reserved chunk are set up before it is parsed. Both get
 * their references later, before anything is allocated from them.
 */
#define pr_fmt(fmt) "percpu_tag: " fmt

#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/memblock.h>
#include <linux/printk.h>

#include "percpu_tag.h"

unsigned int pcpu_tag_cpus __ro_after_init;

static size_t vector_size(struct pcpu_chunk *chunk)
{
	return pcpu_chunk_map_bits(chunk) * sizeof(*chunk->tags);
}

/**
 * pcpu_tag_init_chunk - allocate the references of a new chunk
 * @chunk: the chunk
 * @gfp: flags of the allocation
 *
 * Return: 0 on success, or if chunks have no references here; else -ENOMEM.
 */
int pcpu_tag_init_chunk(struct pcpu_chunk *chunk, gfp_t gfp)
{
	if (!alloc_tag_available)
		return 0;
	chunk->tags = pcpu_mem_zalloc(vector_size(chunk), gfp);
	return chunk->tags ? 0 : -ENOMEM;
}

/**
 * pcpu_tag_exit_chunk - free the references of a chunk
 * @chunk: the chunk; no area of it is allocated
 */
void pcpu_tag_exit_chunk(struct pcpu_chunk *chunk)
{
	pcpu_mem_free(chunk->tags);
}

#if defined(CONFIG_MEM_ALLOC_PROFILING_DEBUG) || defined(CONFIG_ALLOC_TAG_NODES)

static void visit_chunk(struct pcpu_chunk *chunk, pcpu_tag_visit_fn *visit, void *data)
{
	unsigned long i, end, bits = pcpu_chunk_map_bits(chunk);

	for (i = 0; chunk->tags && i < bits; i++) {
		if (!chunk->tags[i].index)
			continue;
		end = find_next_bit(chunk->bound_map, bits, i + 1);
		visit(data, chunk->tags[i].index,
		      (end - i) * PCPU_MIN_ALLOC_SIZE * pcpu_tag_cpus);
	}
}

/* The chunk at place @nr of a slot, counted from 0, or NULL behind the last one. */
static struct pcpu_chunk *chunk_of_slot(int slot, unsigned int nr)
{
	struct pcpu_chunk *chunk;

	list_for_each_entry(chunk, &pcpu_chunk_lists[slot], list)
		if (!nr--)
			return chunk;
	return NULL;
}

/**
 * pcpu_tag_for_each - visit all references of per-CPU memory
 * @visit: called for each area
 * @data: passed to @visit
 *
 * Takes no lock.
 *
 * Context: inside of stop_machine().
 */
void pcpu_tag_for_each(pcpu_tag_visit_fn *visit, void *data)
{
	struct pcpu_chunk *chunk;
	int slot;

	if (pcpu_reserved_chunk)
		visit_chunk(pcpu_reserved_chunk, visit, data);
	for (slot = 0; slot < pcpu_nr_slots; slot++)
		list_for_each_entry(chunk, &pcpu_chunk_lists[slot], list)
			visit_chunk(chunk, visit, data);
}

/**
 * pcpu_tag_walk - visit the references of per-CPU memory of a running system
 * @visit: called for each area, under pcpu_lock and with interrupts off
 * @data: passed to @visit
 *
 * Holds the lock for a chunk at a time. A chunk whose amount of free memory
 * changes meanwhile may be visited twice or not at all, and so may another chunk
 * of its slot.
 *
 * Context: process context, may sleep.
 */
void pcpu_tag_walk(pcpu_tag_visit_fn *visit, void *data)
{
	struct pcpu_chunk *chunk;
	unsigned int nr;
	int slot;

	if (pcpu_reserved_chunk) {
		spin_lock_irq(&pcpu_lock);
		visit_chunk(pcpu_reserved_chunk, visit, data);
		spin_unlock_irq(&pcpu_lock);
	}
	for (slot = 0; slot < pcpu_nr_slots; slot++) {
		nr = 0;
		do {
			spin_lock_irq(&pcpu_lock);
			chunk = chunk_of_slot(slot, nr++);
			if (chunk)
				visit_chunk(chunk, visit, data);
			spin_unlock_irq(&pcpu_lock);
			cond_resched();
		} while (chunk);
	}
}

#endif

static void __init init_boot_chunk(struct pcpu_chunk *chunk)
{
	if (!chunk)
		return;
	chunk->tags = memblock_alloc(vector_size(chunk), SMP_CACHE_BYTES);
	if (!chunk->tags)
		pr_err("no memory for references, a boot-time chunk is not accounted\n");
}

/**
 * pcpu_tag_init - allocate the references of the boot-time chunks
 *
 * Call this after alloc_tag_early_init(), while memblock is the allocator.
 */
void __init pcpu_tag_init(void)
{
	if (!alloc_tag_available)
		return;
	pcpu_tag_cpus = num_possible_cpus();
	init_boot_chunk(pcpu_first_chunk);
	init_boot_chunk(pcpu_reserved_chunk);
}
