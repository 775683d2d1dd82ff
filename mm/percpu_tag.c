// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation tags of per-CPU memory: where the reference of an area is.
 *
 * A chunk has a vector of references, one for each unit that an area can begin
 * at. An area has the one of its first unit; where it ends is in the chunk's
 * map of boundaries. A reference is released under pcpu_lock, together with the
 * maps. It is set just after the lock, by the allocation that has the area: until
 * then the area is accounted to nobody, and nobody can free it.
 *
 * An area counts with its size times the CPUs there were room for when the first
 * chunk was made. Some architectures drop possible CPUs after that, which must
 * not make what is taken off less than what was added.
 *
 * The first chunk and the reserved one are older than the command line, which
 * says whether there are to be references at all; theirs are made up for before
 * anything is allocated from them.
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
 * pcpu_tag_init_chunk - make the references of a new chunk
 * @chunk: the chunk
 * @gfp: how to allocate them
 *
 * Return: 0, also where there are to be none; -ENOMEM.
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
 * @chunk: the chunk, empty
 */
void pcpu_tag_exit_chunk(struct pcpu_chunk *chunk)
{
	pcpu_mem_free(chunk->tags);
}

#ifdef CONFIG_MEM_ALLOC_PROFILING_DEBUG

static void visit_chunk(struct pcpu_chunk *chunk,
			void (*visit)(void *data, u16 index, size_t bytes),
			void *data)
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

/**
 * pcpu_tag_for_each - visit all references of per-CPU memory
 * @visit: called with @data, the index, and the bytes accounted to it
 * @data: for @visit
 *
 * Context: with the machine stopped; takes no lock.
 */
void pcpu_tag_for_each(void (*visit)(void *data, u16 index, size_t bytes),
		       void *data)
{
	struct pcpu_chunk *chunk;
	int slot;

	if (pcpu_reserved_chunk)
		visit_chunk(pcpu_reserved_chunk, visit, data);
	for (slot = 0; slot < pcpu_nr_slots; slot++)
		list_for_each_entry(chunk, &pcpu_chunk_lists[slot], list)
			visit_chunk(chunk, visit, data);
}

#endif /* CONFIG_MEM_ALLOC_PROFILING_DEBUG */

static void __init init_boot_chunk(struct pcpu_chunk *chunk)
{
	if (!chunk)
		return;
	chunk->tags = memblock_alloc(vector_size(chunk), SMP_CACHE_BYTES);
	if (!chunk->tags)
		pr_err("no memory, what is in the first chunk is accounted to nobody\n");
}

/**
 * pcpu_tag_init - make the references of the chunks there are from boot on
 *
 * To be called after alloc_tag_early_init() and as long as there is memblock.
 */
void __init pcpu_tag_init(void)
{
	if (!alloc_tag_available)
		return;
	pcpu_tag_cpus = num_possible_cpus();
	init_boot_chunk(pcpu_first_chunk);
	init_boot_chunk(pcpu_reserved_chunk);
}
