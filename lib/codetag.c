// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code tags: one way to find all records of a kind.
 *
 * A user declares static records, each with a struct codetag as its first
 * member, in an ELF section of its own; the linker lays them side by side, in
 * vmlinux and in every module. A type stands for one such section. Here its
 * records are found, numbered and walked, and here they survive their module
 * where they have to.
 *
 * The records of the kernel, and those of each module, are a range. Ranges have
 * an id that only ever rises, and stay in the order of their ids: a position,
 * which is an id and a place in the range, names the same tag for as long as
 * there is such a tag. A walk that lets go of the lock, goes on later and finds
 * its range gone continues with the next one; it neither skips nor repeats.
 *
 * A type may have its tags numbered. The indices of a range follow each other,
 * so that a reference to a tag fits in 16 bits. A range for which no room is
 * left has index 0 in all its tags; what that means is up to the user.
 *
 * When a module goes, so do its tags, and then its indices can be given to
 * another. A tag that is in use still is replaced by a copy that owns its
 * strings; the range keeps its indices until the last of the copies is out of
 * use, which is noticed when the next module comes or goes.
 *
 * Locking: codetag_types_lock protects the list of types, type->lock the ranges
 * of a type, taken in this order. Both are for process context. Records are
 * never locked: what changes in them is the user's own.
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

/* A position: the id of the range above, the place in the range below. */
#define CODETAG_POS_SHIFT	24
#define CODETAG_RANGE_MAX	BIT(CODETAG_POS_SHIFT)

/* The users' records are read as struct codetag, the type's size apart. */
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
 * Gives a range indices that follow each other. The kernel's range takes what
 * there is, since its tags are the same at every boot; a module gets all or
 * nothing.
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
 * codetag_register_type - make a kind of code tag known
 * @type: the type, with its public members set; must stay for good
 * @kernel: room for the kernel's own range; must stay for good
 * @start: first record in vmlinux
 * @stop: end of the records in vmlinux
 *
 * Numbers the kernel's tags. Allocates nothing, so that it can run before the
 * allocators do. Types have to be registered before the first module is loaded.
 *
 * Context: boot, or process context. May sleep, though not at boot.
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
 * codetag_lock - keep the tags of a type from coming and going
 * @type: the type
 *
 * Context: process context. Holds up the loading and unloading of modules
 * until codetag_unlock().
 */
void codetag_lock(struct codetag_type *type)
{
	down_read(&type->lock);
}

/**
 * codetag_trylock - codetag_lock() for who cannot wait
 * @type: the type
 *
 * Context: any but NMI.
 *
 * Return: whether it is locked.
 */
bool codetag_trylock(struct codetag_type *type)
{
	return down_read_trylock(&type->lock);
}

/**
 * codetag_unlock - let modules come and go again
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
 * Return: whether there is a tag, which is in iter->ct then.
 */
bool codetag_first(struct codetag_iterator *iter, struct codetag_type *type)
{
	return codetag_seek(iter, type, 0);
}

/**
 * codetag_skip - go on by several tags
 * @iter: a walk that stands on a tag
 * @nr: by how many; the walk goes no further than to the first tag of the next
 *	range
 *
 * Takes the same time whatever @nr is.
 *
 * Return: whether there is a tag, which is in iter->ct then.
 */
bool codetag_skip(struct codetag_iterator *iter, unsigned int nr)
{
	unsigned int i;

	lockdep_assert_held(&iter->type->lock);

	i = ((void *)iter->ct - iter->range->tags) / iter->type->tag_size;
	return codetag_enter_range(iter, iter->range, i + nr);
}

/**
 * codetag_next - go on to the next tag
 * @iter: a walk that stands on a tag
 *
 * Return: whether there is another one, which is in iter->ct then.
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

/* The first tag of a range that was at a place, or behind it, at first. */
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
 * codetag_seek - begin a walk at a position, or go on from it
 * @iter: the walk
 * @type: the type, locked by codetag_lock()
 * @pos: what codetag_pos() returned, now or before the lock was let go; 0 for
 *	the beginning
 *
 * Takes time in proportion to the number of modules, and to the tags that are
 * left if @pos is in a module that is gone.
 *
 * Return: whether there is a tag at @pos or behind it.
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
 * codetag_pos - where a walk stands
 * @iter: a walk that stands on a tag
 *
 * Return: a position that holds good after the lock was let go.
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
 * codetag_generation - number of changes to the set of tags so far
 * @type: the type, locked by codetag_lock()
 *
 * Return: a number that is larger after every load or unload of a module,
 * whether it has tags or not.
 */
u64 codetag_generation(const struct codetag_type *type)
{
	return type->generation;
}

/**
 * codetag_from_index - find a tag by its number
 * @type: the type, locked by codetag_lock()
 * @index: the number
 *
 * Return: the tag, or NULL when no tag has that number.
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

		/* What is left of a module that is gone. */
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
 * codetag_kbuild_modname - name of the module that the code of a tag belongs to
 * @ct: a tag made by CODETAG_INIT or CODETAG_INIT_FOR(), not a copy that outlived
 *	its module
 *
 * Context: any.
 * Return: KBUILD_MODNAME of the code; for built-in code this is the name that the
 * module would have.
 */
const char *codetag_kbuild_modname(const struct codetag *ct)
{
	return ct->filename + strlen(ct->filename) + 1;
}

/**
 * codetag_modname - name of the module that a walk stands in
 * @iter: a walk that stands on a tag
 *
 * Return: the name, as codetag_kbuild_modname() returns it, also where the module
 * is gone.
 */
const char *codetag_modname(const struct codetag_iterator *iter)
{
	return iter->range->modname ?: codetag_kbuild_modname(iter->ct);
}

/**
 * codetag_to_text - write a tag as people read it
 * @out: where to
 * @ct: the tag
 * @modname: name of its module, NULL for the kernel
 *
 * The form is ``file:line [module] func:name``, the module only where there is
 * one.
 */
void codetag_to_text(struct seq_buf *out, const struct codetag *ct,
		     const char *modname)
{
	/* One call each: this is most of what a line of a long report costs. */
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

/* Drops what was left of modules that are gone and is out of use by now. */
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
 * A copy of the tags in use, in one piece: the records, where each of them was,
 * their strings. A module cannot be kept from going, so neither can this fail.
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

/* A module that has no tags of this type came or went. */
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
 * codetag_unload_type - forget the tags that a module has of one type
 * @type: the type
 * @mod: the module
 *
 * For a user that must be done with them before codetag_unload_module(), which
 * finds none of this type then.
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
 * codetag_unload_module - forget the tags of a module
 * @mod: the module, whose code runs no more
 *
 * Also undoes a codetag_load_module() that went only part of the way, and does
 * nothing for a module that has no tags.
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
 * codetag_load_module - take up the tags of a module
 * @mod: the module, in place and relocated, none of whose code has run
 * @info: the loader's description of it
 *
 * Context: process context, may sleep.
 * Return: 0, -ENOEXEC when a section does not hold whole records, -ENOMEM, or
 * what the user of a type returned; no tag of the module is known then.
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
			pr_err("%s: section %s is not of this kernel's making\n",
			       mod->name, type->section);
			err = -ENOEXEC;
			break;
		}
		err = codetag_load_range(type, mod, tags, size / type->tag_size);
		if (err) {
			pr_err("%s: cannot take up section %s: error %d\n",
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
