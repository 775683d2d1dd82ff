// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code tags: find, number and walk all static records of a type.
 *
 * A user declares static records, each with a struct codetag as its first
 * member, in an ELF section of their own. The linker places them side by side,
 * in vmlinux and in every module. A type stands for one such section. This file
 * finds its records, numbers them, walks them, and keeps those that are still
 * in use after their module is unloaded.
 *
 * The records of the kernel form a range, and so do those of each module. The
 * ids of ranges only rise, and the list of ranges is in the order of the ids. A
 * position is an id and a place in that range, so it names the same tag for as
 * long as that tag exists. A walk may drop the lock and continue later from its
 * position. If its range is gone by then, the walk continues with the next
 * range: it skips no tag that still exists and repeats none.
 *
 * A type may have its tags numbered, so that a reference to a tag fits in 16
 * bits. The indices of a range are contiguous. If there is no room for all tags
 * of a module, all of them get index 0; the user decides what that means.
 *
 * When a module is unloaded its tags go away, and another module can get their
 * indices. A tag that is still in use is replaced by a copy that owns its
 * strings. The range keeps its indices until none of its copies is in use. That
 * is checked when the next module is loaded or unloaded.
 *
 * Locking: codetag_types_lock protects the list of types, type->lock protects
 * the ranges of a type. They are taken in this order, in process context. Only
 * codetag_trylock() may be called in other contexts. No lock here protects the
 * contents of records: users protect their own data.
 */
#define pr_fmt(fmt) "codetag: " fmt

#include <linux/bitmap.h>
#include <linux/bug.h>
#include <linux/codetag.h>
#include <linux/module.h>
#include <linux/moduleloader.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/string.h>

/* A position has the id of the range in its high bits and the place below. */
#define CODETAG_POS_SHIFT	24
#define CODETAG_RANGE_MAX	BIT(CODETAG_POS_SHIFT)

/* A walk steps by tag_size and reads the start of each record as a codetag. */
static_assert(sizeof(struct codetag) == 2 * sizeof(void *) + 8);

static DEFINE_MUTEX(codetag_types_lock);
static LIST_HEAD(codetag_types);

/* Ranges and indices */

static void codetag_number(struct codetag_type *type,
			   struct codetag_range *range)
{
	unsigned int i;

	for (i = 0; i < range->nr_index; i++)
		codetag_of_range(type, range, i)->index =
			range->first_index + i;
}

/*
 * Give a range contiguous indices. The kernel's range takes as many as there
 * are: its tags are the same at every boot, so the same ones get an index each
 * time. A module gets an index for each of its tags, or none.
 */
static void codetag_assign_index(struct codetag_type *type,
				 struct codetag_range *range)
{
	unsigned int want = range->nr;
	unsigned long first;

	if (!type->index_map || !want)
		return;
	if (!range->modname)
		want = min_t(unsigned int, want, type->max_index -
			     bitmap_weight(type->index_map,
					   type->max_index + 1));

	first = bitmap_find_next_zero_area(type->index_map,
					   type->max_index + 1, 1, want, 0);
	if (first + want > type->max_index + 1)
		return;

	bitmap_set(type->index_map, first, want);
	range->first_index = first;
	range->nr_index = want;
	codetag_number(type, range);
}

static void codetag_add_range(struct codetag_type *type,
			      struct codetag_range *range)
{
	lockdep_assert_held_write(&type->lock);

	range->id = type->next_id++;
	list_add_tail(&range->node, &type->ranges);
	codetag_assign_index(type, range);
	type->generation++;
}

static void __maybe_unused codetag_del_range(struct codetag_type *type,
					     struct codetag_range *range)
{
	lockdep_assert_held_write(&type->lock);

	if (range->nr_index)
		bitmap_clear(type->index_map, range->first_index,
			     range->nr_index);
	list_del(&range->node);
	type->generation++;
}

/**
 * codetag_register_type - register a type of code tags
 * @type: the type, with its public members set; never freed
 * @kernel: memory for the range of the kernel; never freed
 * @start: first record in vmlinux
 * @stop: end of the records in vmlinux
 *
 * Numbers the kernel's tags. Allocates nothing, so that it can run before the
 * allocators are up. Types must be registered before the first module is
 * loaded.
 *
 * Context: early boot, where it does not sleep, or process context.
 */
void codetag_register_type(struct codetag_type *type,
			   struct codetag_range *kernel,
			   void *start, void *stop)
{
	INIT_LIST_HEAD(&type->ranges);
	init_rwsem(&type->lock);
	type->next_id = 0;
	type->max_index = min_t(unsigned int, type->max_index,
				CODETAG_INDEX_MAX);

	kernel->tags = start;
	kernel->nr = (stop - start) / type->tag_size;
	WARN_ON((stop - start) % type->tag_size ||
		kernel->nr >= CODETAG_RANGE_MAX);

	mutex_lock(&codetag_types_lock);
	down_write(&type->lock);
	codetag_add_range(type, kernel);
	up_write(&type->lock);
	list_add_tail(&type->node, &codetag_types);
	mutex_unlock(&codetag_types_lock);
}

/* Walking */

/**
 * codetag_lock - keep the set of tags of a type as it is
 * @type: the type
 *
 * Modules can neither be loaded nor unloaded until codetag_unlock().
 *
 * Context: process context, may sleep.
 */
void codetag_lock(struct codetag_type *type)
{
	down_read(&type->lock);
}

/**
 * codetag_trylock - codetag_lock() for callers that cannot sleep
 * @type: the type
 *
 * Context: any but NMI.
 *
 * Return: true if the type is locked now.
 */
bool codetag_trylock(struct codetag_type *type)
{
	return down_read_trylock(&type->lock);
}

/**
 * codetag_unlock - release the lock of codetag_lock() or codetag_trylock()
 * @type: the type
 */
void codetag_unlock(struct codetag_type *type)
{
	up_read(&type->lock);
}

static bool codetag_enter_range(struct codetag_iterator *iter,
				struct codetag_range *range, unsigned int i)
{
	list_for_each_entry_from(range, &iter->type->ranges, node) {
		if (i < range->nr) {
			iter->range = range;
			iter->ct = codetag_of_range(iter->type, range, i);
			return true;
		}
		i = 0;
	}

	iter->ct = NULL;
	return false;
}

/**
 * codetag_first - begin a walk over all tags of a type
 * @iter: the walk
 * @type: the type, locked by codetag_lock()
 *
 * Return: true if iter->ct is a tag, false if the type has none.
 */
bool codetag_first(struct codetag_iterator *iter, struct codetag_type *type)
{
	return codetag_seek(iter, type, 0);
}

/**
 * codetag_skip - advance a walk by several tags
 * @iter: a walk that is at a tag
 * @nr: number of tags; the walk stops at the first tag of the next range even
 *	if @nr is larger
 *
 * The time does not depend on @nr.
 *
 * Return: true if iter->ct is a tag, false at the end.
 */
bool codetag_skip(struct codetag_iterator *iter, unsigned int nr)
{
	unsigned int i;

	lockdep_assert_held(&iter->type->lock);

	i = ((void *)iter->ct - iter->range->tags) / iter->type->tag_size;
	return codetag_enter_range(iter, iter->range, i + nr);
}

/**
 * codetag_next - advance a walk to the next tag
 * @iter: a walk that is at a tag
 *
 * Return: true if iter->ct is a tag, false at the end.
 */
bool codetag_next(struct codetag_iterator *iter)
{
	struct codetag_range *range = iter->range;
	void *next = (void *)iter->ct + iter->type->tag_size;

	lockdep_assert_held(&iter->type->lock);

	if (next < range->tags + range->nr * iter->type->tag_size) {
		iter->ct = next;
		return true;
	}
	return codetag_enter_range(iter, list_next_entry(range, node), 0);
}

/* Find the first remaining tag whose original place was @place or higher. */
static unsigned int codetag_find_place(const struct codetag_range *range,
				       unsigned int place)
{
	unsigned int i;

	if (!range->place)
		return place;
	for (i = 0; i < range->nr && range->place[i] < place; i++)
		;
	return i;
}

/**
 * codetag_seek - begin or continue a walk at a position
 * @iter: the walk
 * @type: the type, locked by codetag_lock()
 * @pos: a position from codetag_pos(), even from before the lock was last
 *	released; 0 for the beginning
 *
 * If the tag at @pos is gone, the walk is at the next one that exists. The time
 * is proportional to the number of modules, plus the number of remaining tags
 * if the module of @pos is gone.
 *
 * Return: true if iter->ct is a tag, false at the end.
 */
bool codetag_seek(struct codetag_iterator *iter, struct codetag_type *type,
		  u64 pos)
{
	unsigned int place = pos & (CODETAG_RANGE_MAX - 1);
	u64 id = pos >> CODETAG_POS_SHIFT;
	struct codetag_range *range;

	lockdep_assert_held(&type->lock);

	iter->type = type;
	iter->ct = NULL;
	list_for_each_entry(range, &type->ranges, node) {
		if (range->id == id)
			return codetag_enter_range(iter, range,
						   codetag_find_place(range, place));
		if (range->id > id)
			return codetag_enter_range(iter, range, 0);
	}
	return false;
}

/**
 * codetag_pos - get the position of a walk
 * @iter: a walk that is at a tag
 *
 * Return: the position, which stays valid after the lock is released.
 */
u64 codetag_pos(const struct codetag_iterator *iter)
{
	const struct codetag_range *range = iter->range;
	unsigned int i;

	i = ((void *)iter->ct - range->tags) / iter->type->tag_size;
	if (range->place)
		i = range->place[i];
	return ((u64)range->id << CODETAG_POS_SHIFT) + i;
}

/**
 * codetag_generation - get the number of changes to the set of tags
 * @type: the type, locked by codetag_lock()
 *
 * Return: a number that rises with every load and unload of a module, even if
 * the module has no tags.
 */
u64 codetag_generation(const struct codetag_type *type)
{
	return type->generation;
}

/**
 * codetag_from_index - find a tag by its index
 * @type: the type, locked by codetag_lock()
 * @index: the index
 *
 * Return: the tag, or NULL if no tag has that index.
 */
struct codetag *codetag_from_index(struct codetag_type *type,
				   unsigned int index)
{
	struct codetag_iterator iter;
	struct codetag_range *range;

	lockdep_assert_held(&type->lock);

	list_for_each_entry(range, &type->ranges, node) {
		if (index < range->first_index ||
		    index - range->first_index >= range->nr_index)
			continue;
		if (range->nr_index <= range->nr)
			return codetag_of_range(type, range,
						index - range->first_index);

		/* An unload left only some of the tags in this range. */
		iter.type = type;
		if (!codetag_enter_range(&iter, range, 0))
			return NULL;
		do {
			if (iter.ct->index == index)
				return iter.ct;
		} while (codetag_next(&iter) && iter.range == range);
		return NULL;
	}
	return NULL;
}

/**
 * codetag_kbuild_modname - get the name of the module that a tag was built for
 * @ct: a tag made by CODETAG_INIT or CODETAG_INIT_FOR(), not a copy that
 *	outlived its module
 *
 * Context: any.
 * Return: KBUILD_MODNAME of the code; for built-in code this is the name that
 * the code would have as a module.
 */
const char *codetag_kbuild_modname(const struct codetag *ct)
{
	return ct->filename + strlen(ct->filename) + 1;
}

/**
 * codetag_modname - get the name of the module that a walk is in
 * @iter: a walk that is at a tag
 *
 * Return: the name of the module, even after its unload; for built-in code, the
 * name that codetag_kbuild_modname() returns.
 */
const char *codetag_modname(const struct codetag_iterator *iter)
{
	return iter->range->modname ?: codetag_kbuild_modname(iter->ct);
}

/**
 * codetag_to_text - format a tag as text
 * @out: buffer for the text
 * @ct: the tag
 * @modname: name of its module, NULL for the kernel
 *
 * The format is ``file:line [module] func:name``, for the kernel without
 * ``[module]``.
 */
void codetag_to_text(struct seq_buf *out, const struct codetag *ct,
		     const char *modname)
{
	/* A single call in each case: most of the cost of a report is here. */
	if (modname)
		seq_buf_printf(out, "%s:%u [%s] func:%s", ct->filename,
			       ct->lineno, modname, ct->function);
	else
		seq_buf_printf(out, "%s:%u func:%s", ct->filename, ct->lineno,
			       ct->function);
}

/* Modules */

#ifdef CONFIG_MODULES

static bool codetag_in_use(struct codetag_type *type, const struct codetag *ct)
{
	return type->in_use && type->in_use(type, ct);
}

static bool codetag_range_in_use(struct codetag_type *type,
				 struct codetag_range *range)
{
	unsigned int i;

	for (i = 0; i < range->nr; i++)
		if (codetag_in_use(type, codetag_of_range(type, range, i)))
			return true;
	return false;
}

static void codetag_free_range(struct codetag_range *range)
{
	if (!range->mod)
		kvfree(range->tags);
	kfree(range->modname);
	kfree(range);
}

/* Free the ranges of unloaded modules whose last copies are out of use now. */
static void codetag_reap(struct codetag_type *type)
{
	struct codetag_range *range, *next;

	lockdep_assert_held_write(&type->lock);

	list_for_each_entry_safe(range, next, &type->ranges, node) {
		if (!range->modname || range->mod ||
		    codetag_range_in_use(type, range))
			continue;
		codetag_del_range(type, range);
		codetag_free_range(range);
	}
}

/*
 * Replace the tags of a range by a copy of those in use. One allocation holds
 * the records, their original places and their strings. It must not fail,
 * because the unload of a module cannot fail any more at this point.
 */
static void codetag_keep(struct codetag_type *type, struct codetag_range *range)
{
	unsigned int i, nr = 0, size = 0;
	struct codetag *ct, *copy;
	u32 *place;
	void *tags;
	char *text;

	/* The set of tags in use below is a subset of this one. */
	for (i = 0; i < range->nr; i++) {
		ct = codetag_of_range(type, range, i);
		if (!codetag_in_use(type, ct))
			continue;
		nr++;
		size += type->tag_size + sizeof(*place) +
			strlen(ct->filename) + strlen(ct->function) + 2;
	}

	tags = kvzalloc(size, GFP_KERNEL | __GFP_NOFAIL);
	place = tags + nr * type->tag_size;
	text = (char *)(place + nr);
	nr = 0;
	for (i = 0; i < range->nr; i++) {
		ct = codetag_of_range(type, range, i);
		if (!codetag_in_use(type, ct))
			continue;
		place[nr] = i;
		copy = tags + nr++ * type->tag_size;
		memcpy(copy, ct, type->tag_size);
		copy->filename = strcpy(text, ct->filename);
		text += strlen(text) + 1;
		copy->function = strcpy(text, ct->function);
		text += strlen(text) + 1;
	}

	range->tags = tags;
	range->place = place;
	range->nr = nr;
	range->mod = NULL;
}

/* A module without tags of this type was loaded. */
static void codetag_count_change(struct codetag_type *type)
{
	down_write(&type->lock);
	type->generation++;
	up_write(&type->lock);
}

static int codetag_load_range(struct codetag_type *type, struct module *mod,
			      void *tags, unsigned int nr)
{
	struct codetag_range *range;
	int err = 0;

	range = kzalloc(sizeof(*range), GFP_KERNEL);
	if (!range)
		return -ENOMEM;
	range->modname = kstrdup(mod->name, GFP_KERNEL);
	if (!range->modname) {
		kfree(range);
		return -ENOMEM;
	}
	range->mod = mod;
	range->tags = tags;
	range->nr = nr;

	down_write(&type->lock);
	codetag_reap(type);
	codetag_add_range(type, range);
	if (type->module_load)
		err = type->module_load(type, range);
	if (err)
		codetag_del_range(type, range);
	up_write(&type->lock);

	if (err)
		codetag_free_range(range);
	return err;
}

/**
 * codetag_unload_type - remove a module's tags of one type
 * @type: the type
 * @mod: the module
 *
 * For a user that must finish with the tags before codetag_unload_module(),
 * which then finds none of this type.
 *
 * Context: process context, may sleep.
 */
void codetag_unload_type(struct codetag_type *type, struct module *mod)
{
	struct codetag_range *range, *next;

	down_write(&type->lock);
	codetag_reap(type);
	list_for_each_entry_safe(range, next, &type->ranges, node) {
		if (range->mod != mod || !range->modname)
			continue;
		if (type->module_unload)
			type->module_unload(type, range);
		if (codetag_range_in_use(type, range)) {
			codetag_keep(type, range);
			continue;
		}
		codetag_del_range(type, range);
		codetag_free_range(range);
	}
	type->generation++;
	up_write(&type->lock);
}

/**
 * codetag_unload_module - remove all tags of a module
 * @mod: the module; none of its code runs any more
 *
 * Also undoes a codetag_load_module() that failed half-way. May be called for a
 * module without tags.
 *
 * Context: process context, may sleep.
 */
void codetag_unload_module(struct module *mod)
{
	struct codetag_type *type;

	mutex_lock(&codetag_types_lock);
	list_for_each_entry(type, &codetag_types, node)
		codetag_unload_type(type, mod);
	mutex_unlock(&codetag_types_lock);
}

/**
 * codetag_load_module - add the tags of a module
 * @mod: the module, in place and relocated; none of its code has run yet
 * @info: the loader's description of the module
 *
 * Context: process context, may sleep.
 * Return: 0 on success; -ENOEXEC if a section does not hold whole records;
 * -ENOMEM; or the error of a type's module_load(). After an error no tag of the
 * module is registered.
 */
int codetag_load_module(struct module *mod, const struct load_info *info)
{
	struct codetag_type *type;
	unsigned int size;
	void *tags;
	int err = 0;

	mutex_lock(&codetag_types_lock);
	list_for_each_entry(type, &codetag_types, node) {
		tags = module_section(info, type->section, &size);
		if (!tags || !size) {
			codetag_count_change(type);
			continue;
		}
		if (size % type->tag_size ||
		    size / type->tag_size >= CODETAG_RANGE_MAX) {
			pr_err("%s: section %s does not match this kernel\n",
			       mod->name, type->section);
			err = -ENOEXEC;
			break;
		}
		err = codetag_load_range(type, mod, tags, size / type->tag_size);
		if (err) {
			pr_err("%s: cannot register section %s: error %d\n",
			       mod->name, type->section, err);
			break;
		}
	}
	mutex_unlock(&codetag_types_lock);

	if (err)
		codetag_unload_module(mod);
	return err;
}

#endif /* CONFIG_MODULES */

#ifdef CONFIG_CODETAG_KUNIT_TEST
#include "codetag_kunit.c"
#endif
