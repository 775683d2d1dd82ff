/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code tags: static records that name a place in the source, collected by the
 * linker in one section a type and found again at run time. See lib/codetag.c.
 */
#ifndef _LINUX_CODETAG_H
#define _LINUX_CODETAG_H

#include <linux/build_bug.h>
#include <linux/codetag_types.h>
#include <linux/list.h>
#include <linux/rwsem.h>
#include <linux/types.h>

struct codetag_range;
struct codetag_type;
struct load_info;
struct module;
struct seq_buf;

/* The largest index a tag can have. */
#define CODETAG_INDEX_MAX	U16_MAX

/**
 * struct codetag_type - a kind of code tag
 * @section: name of the ELF section, a C identifier
 * @tag_size: size of a record; a multiple of the alignment of struct codetag
 * @index_map: bitmap of @max_index + 1 bits, when the type wants its tags
 *	numbered, clear but for indices that are not to be given out; else NULL
 * @max_index: the largest index to give out
 * @module_load: called before a module's first instruction runs, with its tags
 *	numbered; an error fails the load of the module. Optional.
 * @module_unload: called with the tags of a module before they go away, or are
 *	replaced by copies. Optional.
 * @in_use: says whether something refers to the tag still. Asked when its
 *	module goes away: a tag in use is kept, with copies of its strings, until
 *	it is not. Must not turn from false to true once the module is gone.
 *	Optional: without it no tag outlives its module.
 *
 * The rest is private to lib/codetag.c. All call-backs run in process context
 * with the type's lock held for writing; they may sleep.
 */
struct codetag_type {
	const char *section;
	size_t tag_size;
	unsigned long *index_map;
	unsigned int max_index;
	int (*module_load)(struct codetag_type *type,
			   struct codetag_range *range);
	void (*module_unload)(struct codetag_type *type,
			      struct codetag_range *range);
	bool (*in_use)(struct codetag_type *type, const struct codetag *ct);

	/* private: */
	struct list_head node;
	struct rw_semaphore lock;
	struct list_head ranges;
	u32 next_id;
	u64 generation;
};

/**
 * struct codetag_range - the tags of the kernel, or of one module
 * @tags: the records, @nr of them
 * @nr: how many
 * @first_index: index of the first, 0 when the range has no indices
 * @nr_index: how many indices the range holds; more than @nr for what is left
 *	of a module that is gone
 * @modname: name of the module, NULL for the kernel
 * @mod: the module, NULL for the kernel and for a module that is gone
 * @id: rises with every load and is never used again, so that a position in
 *	the iteration means the same whatever was loaded or unloaded meanwhile
 * @place: for what is left of a module that is gone: where the tags were in the
 *	range that it had; NULL where they are what they were
 * @node: in the list of its type, by @id
 */
struct codetag_range {
	void *tags;
	unsigned int nr;
	unsigned int first_index;
	unsigned int nr_index;
	const char *modname;
	struct module *mod;
	u32 id;
	const u32 *place;
	struct list_head node;
};

/**
 * struct codetag_iterator - a walk over all tags of a type
 * @type: the type, locked by the caller
 * @range: the range that @ct is in
 * @ct: the tag the walk stands on, NULL at the end
 */
struct codetag_iterator {
	struct codetag_type *type;
	struct codetag_range *range;
	struct codetag *ct;
};

#ifdef CONFIG_CODETAG
void codetag_register_type(struct codetag_type *type,
			   struct codetag_range *kernel,
			   void *start, void *stop);

void codetag_lock(struct codetag_type *type);
bool codetag_trylock(struct codetag_type *type);
void codetag_unlock(struct codetag_type *type);

bool codetag_first(struct codetag_iterator *iter, struct codetag_type *type);
bool codetag_next(struct codetag_iterator *iter);
bool codetag_skip(struct codetag_iterator *iter, unsigned int nr);
bool codetag_seek(struct codetag_iterator *iter, struct codetag_type *type,
		  u64 pos);
u64 codetag_pos(const struct codetag_iterator *iter);
u64 codetag_generation(const struct codetag_type *type);

struct codetag *codetag_from_index(struct codetag_type *type,
				   unsigned int index);
const char *codetag_kbuild_modname(const struct codetag *ct);
const char *codetag_modname(const struct codetag_iterator *iter);
void codetag_to_text(struct seq_buf *out, const struct codetag *ct,
		     const char *modname);

/**
 * codetag_of_range - the record at a place in a range
 * @type: the type
 * @range: one of its ranges
 * @i: from 0 to range->nr - 1
 */
static inline struct codetag *codetag_of_range(const struct codetag_type *type,
					       const struct codetag_range *range,
					       unsigned int i)
{
	return range->tags + i * type->tag_size;
}
#endif /* CONFIG_CODETAG */

#if defined(CONFIG_CODETAG) && defined(CONFIG_MODULES)
int codetag_load_module(struct module *mod, const struct load_info *info);
void codetag_unload_module(struct module *mod);
void codetag_unload_type(struct codetag_type *type, struct module *mod);
#else
static inline int codetag_load_module(struct module *mod,
				      const struct load_info *info)
{
	return 0;
}

static inline void codetag_unload_module(struct module *mod) { }
#endif

#endif /* _LINUX_CODETAG_H */
