/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code tags: static records that name places in the source. The linker collects
 * the records of a type in one section, where its user finds them at run time.
 * See lib/codetag.c.
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
 * @index_map: bitmap of @max_index + 1 bits. A set bit is an index that is
 *	reserved or in use. NULL for a type whose tags have no indices.
 * @max_index: the largest index that a tag may get
 * @module_load: called before a module's first instruction runs, when its tags
 *	have their indices; an error fails the load of the module. Optional.
 * @module_unload: called before the tags of a module go away or are replaced
 *	by copies. Optional.
 * @in_use: returns whether something still refers to the tag. Called when a
 *	module is unloaded: a tag in use is kept, with copies of its strings,
 *	until it is out of use. Must not change from false to true after its
 *	module is gone. Optional: without it no tag outlives its module.
 *
 * The other members are private to lib/codetag.c. All callbacks run in process
 * context with the type's lock held for writing; they may sleep.
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
 * @tags: the records
 * @nr: number of records
 * @first_index: index of the first tag, 0 if the range has no indices
 * @nr_index: number of indices that the range holds. Larger than @nr after an
 *	unload that kept only some of the tags; smaller than @nr for the kernel
 *	if it has more tags than there are indices.
 * @modname: name of the module, NULL for the kernel
 * @mod: the module, NULL for the kernel and after the module is unloaded
 * @id: rises with every load and is never reused, so that a position names the
 *	same tag after other modules were loaded or unloaded
 * @place: after an unload, the place that each remaining tag had in the
 *	original range; NULL while the range is the original one
 * @node: in the list of the type, in the order of @id
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
 * @ct: the current tag, NULL at the end
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
 * codetag_of_range - get the record at a place in a range
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
