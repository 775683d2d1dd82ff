// SPDX-License-Identifier: GPL-2.0-only
/*
 * Caches of every layout that a slab can have, with patterns in their objects.
 *
 * The references of objects are in the slab. Objects and the list of free objects
 * must not overwrite references, which would show in /proc/allocinfo. References
 * must not overwrite objects or that list, which would show in the patterns, or in
 * an object that is allocated twice.
 *
 * /sys/kernel/debug/ctag_cover_slab/cmd accepts one of
 *
 *	alloc	allocate objects one by one, enough to fill several slabs per cache
 *	half	free every second object
 *	bulk	allocate these again by kmem_cache_alloc_bulk()
 *	check	check the patterns, and that the references are in their room
 *	free	free all objects in bulk
 *	shortage	make a bulk allocation fail halfway; the caller first makes the allocation
 *		of slabs fail
 *	race	on all CPUs at once, allocate and free further objects and empty slabs
 *	destroy	destroy the caches, too
 *
 * and "table" has two lines per cache, for single and for bulk allocations:
 *
 *	NAME LAYOUT LINE FUNCTION CALLS BYTES SMALL PATH
 *
 * with LAYOUT the place of the list of free objects: "on", "off" or "object" with SLAB,
 * "slub" with SLUB; "+map" is added if references are in the map of pages. SMALL is the
 * number of objects in slabs of a smaller order than usual. PATH is "fast" if the formula
 * finds the references of the cache, and "slow" if a function does.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/kfence.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

/* Only the allocators and this test may know the layout of a slab. */
#include <../mm/slab.h>

#include "ctag_cmd.h"

#define MANY	(192 << 10)	/* bytes of a cache, unless NR_MIN or NR_MAX applies */
#define NR_MIN	40
#define NR_MAX	4000
#define BULK	16
#define RACERS	64	/* objects of a CPU in a race */
#define ROUNDS	96	/* of a race */
#define EMPTIED	8	/* rounds, after which empty slabs are freed */

struct object {
	u64 *p;
	bool bulk;
};

/**
 * struct layout - a cache and its objects
 * @name: of the cache
 * @size: of an object
 * @flags: of the cache
 * @ctor: has a constructor: the list of free objects cannot be in an object
 * @one: allocates one object
 * @bulk: allocates several
 * @line: line of both calls
 * @one_func: name of the function @one
 * @bulk_func: name of the function @bulk
 * @cache: the cache
 * @nr: number of objects when all are allocated
 * @objects: all objects; p is NULL if one is not allocated
 */
struct layout {
	const char *name;
	unsigned int size;
	slab_flags_t flags;
	bool ctor;
	void *(*one)(struct layout *l);
	int (*bulk)(struct layout *l, int nr, void **p);
	unsigned int line;
	const char *one_func;
	const char *bulk_func;

	struct kmem_cache *cache;
	unsigned int nr;
	struct object *objects;
};

#define MAKE(_name)							\
static void *one_##_name(struct layout *l)				\
{									\
	l->line = __LINE__;						\
	l->one_func = __func__;						\
	return kmem_cache_alloc(l->cache, GFP_KERNEL);			\
}									\
static int bulk_##_name(struct layout *l, int nr, void **p)		\
{									\
	l->bulk_func = __func__;					\
	return kmem_cache_alloc_bulk(l->cache, GFP_KERNEL, nr, p);	\
}

MAKE(s8)
MAKE(s24_rcu)
MAKE(s32)
MAKE(s64)
MAKE(s192_aligned)
MAKE(s256)
MAKE(s680)
MAKE(s680_ctor)
MAKE(s816_rcu)
MAKE(s1024_ctor)
MAKE(s2040)
MAKE(s2048)
MAKE(s4088)
MAKE(s4096)
MAKE(s4096_rcu)
MAKE(s5000)
MAKE(s5000_ctor)
MAKE(s8192_ctor)
MAKE(s9000)

#define LAYOUT(_name, _size, _flags, _ctor)				\
	{ .name = "cover_" #_name, .size = (_size),			\
	  .flags = (_flags), .ctor = (_ctor),				\
	  .one = one_##_name, .bulk = bulk_##_name }

static struct layout layouts[] = {
	LAYOUT(s8, 8, 0, false),
	LAYOUT(s24_rcu, 24, SLAB_TYPESAFE_BY_RCU, false),
	LAYOUT(s32, 32, 0, false),
	LAYOUT(s64, 64, 0, false),
	LAYOUT(s192_aligned, 192, SLAB_HWCACHE_ALIGN, false),
	LAYOUT(s256, 256, 0, false),
	LAYOUT(s680, 680, SLAB_RECLAIM_ACCOUNT, false),
	/* references leave no room for the list of free objects on the slab */
	LAYOUT(s680_ctor, 680, 0, true),
	LAYOUT(s816_rcu, 816, SLAB_TYPESAFE_BY_RCU, false),
	LAYOUT(s1024_ctor, 1024, SLAB_HWCACHE_ALIGN, true),
	LAYOUT(s2040, 2040, 0, false),
	LAYOUT(s2048, 2048, SLAB_ACCOUNT, false),
	LAYOUT(s4088, 4088, 0, false),
	LAYOUT(s4096, 4096, 0, false),
	LAYOUT(s4096_rcu, 4096, SLAB_TYPESAFE_BY_RCU, false),
	LAYOUT(s5000, 5000, 0, false),
	LAYOUT(s5000_ctor, 5000, 0, true),
	LAYOUT(s8192_ctor, 8192, 0, true),
	LAYOUT(s9000, 9000, 0, false),
};

/* A constructor also prevents merging of the cache. */
static void constructor(void *object)
{
}

/* Patterns: no two words of any two objects are the same. */

static u64 pattern(const struct layout *l, unsigned int i, unsigned int word)
{
	u64 seed = (l - layouts) * NR_MAX + i + 1;

	return seed * 0x9e3779b97f4a7c15ULL + word;
}

static void fill(struct layout *l, unsigned int i)
{
	unsigned int word;

	for (word = 0; word < l->size / sizeof(u64); word++)
		l->objects[i].p[word] = pattern(l, i, word);
}

static bool filled(struct layout *l, unsigned int i)
{
	unsigned int word;

	for (word = 0; word < l->size / sizeof(u64); word++)
		if (l->objects[i].p[word] != pattern(l, i, word))
			return false;
	return true;
}

/* Places: where a slab has its references, and what else is there. */

#ifdef CONFIG_SLAB

/* private to mm/slab.c */
#define CFLGS_OBJFREELIST_SLAB	((slab_flags_t __force)0x40000000U)
#define CFLGS_OFF_SLAB		((slab_flags_t __force)0x80000000U)

static const char *freelist_place(const struct kmem_cache *s)
{
	if (s->flags & CFLGS_OBJFREELIST_SLAB)
		return "object";
	return s->flags & CFLGS_OFF_SLAB ? "off" : "on";
}

static const void *first_object(const struct slab *slab)
{
	return slab->s_mem;
}

/* The last possible end of the padding after the references */
static const void *slab_end(const struct kmem_cache *s, const struct slab *slab)
{
	const void *end = slab_address(slab) + (PAGE_SIZE << s->gfporder);

	if (s->flags & (CFLGS_OBJFREELIST_SLAB | CFLGS_OFF_SLAB))
		return end;
	return end - s->freelist_size;
}

static bool is_small(const struct kmem_cache *s, const void *object)
{
	return false;
}

static bool is_fast(const struct kmem_cache *s)
{
	return false;
}

#else

static const char *freelist_place(const struct kmem_cache *s)
{
	return "slub";
}

static const void *first_object(const struct slab *slab)
{
	return slab_address(slab);
}

static const void *slab_end(const struct kmem_cache *s, const struct slab *slab)
{
	return slab_address(slab) + slab_size(slab);
}

/* The lower half of s->oo is the number of objects in a slab of the usual order. */
static bool is_small(const struct kmem_cache *s, const void *object)
{
	return !is_kfence_address(object) &&
	       virt_to_slab(object)->objects < (s->oo.x & U16_MAX);
}

static bool is_fast(const struct kmem_cache *s)
{
	return READ_ONCE(s->tag_mask);
}

#endif

static bool in_map(const struct kmem_cache *s)
{
	return s->size >= PAGE_SIZE;
}

static bool in_place(const struct kmem_cache *s, const void *object)
{
	const struct slab *slab = virt_to_slab(object);
	unsigned int nr = objs_per_slab(s, slab);
	const void *refs, *end;

	if (is_kfence_address(object))
		return true;
	refs = first_object(slab) + nr * s->size;
	if (object < first_object(slab) || object + s->object_size > refs)
		return false;
	end = refs;
	if (!in_map(s))
		end += nr * sizeof(struct alloc_tag_ref);
	return end <= slab_end(s, slab);
}

static int check(struct layout *l)
{
	unsigned int i, bad = 0, out = 0;

	for (i = 0; i < l->nr; i++) {
		if (!l->objects[i].p)
			continue;
		bad += !filled(l, i);
		out += !in_place(l->cache, l->objects[i].p);
	}
	if (bad || out)
		pr_err("%s: %u patterns overwritten, %u not in place\n",
		       l->name, bad, out);
	return bad || out ? -EILSEQ : 0;
}

/* Allocating and freeing */

static int alloc(struct layout *l)
{
	unsigned int i;

	for (i = 0; i < l->nr; i++) {
		if (l->objects[i].p)
			return -EBUSY;
		l->objects[i].p = l->one(l);
		if (!l->objects[i].p)
			return -ENOMEM;
		l->objects[i].bulk = false;
		fill(l, i);
	}
	return 0;
}

static int half(struct layout *l)
{
	unsigned int i;

	for (i = 0; i < l->nr; i += 2) {
		if (l->objects[i].p)
			kmem_cache_free(l->cache, l->objects[i].p);
		l->objects[i].p = NULL;
	}
	return 0;
}

static int bulk(struct layout *l)
{
	void *p[BULK];
	unsigned int i, have = 0;

	for (i = 0; i < l->nr; i++) {
		if (l->objects[i].p)
			continue;
		if (!have)
			have = l->bulk(l, BULK, p);
		if (!have)
			return -ENOMEM;
		l->objects[i].p = p[--have];
		l->objects[i].bulk = true;
		fill(l, i);
	}
	if (have)
		kmem_cache_free_bulk(l->cache, have, p);
	return 0;
}

static int free_all(struct layout *l)
{
	void *p[BULK];
	unsigned int i, have = 0;

	for (i = 0; i < l->nr; i++) {
		if (l->objects[i].p)
			p[have++] = l->objects[i].p;
		l->objects[i].p = NULL;
		if (have == BULK || (have && i + 1 == l->nr)) {
			kmem_cache_free_bulk(l->cache, have, p);
			have = 0;
		}
	}
	return 0;
}

/*
 * Allocate all objects that are free, and free eight of them again. Then a bulk
 * allocation of sixteen gets eight objects and fails. Each allocated object
 * points to the one that was allocated before it.
 */
static int shortage(struct layout *l)
{
	void *p[BULK] = { }, *last = NULL, *next;
	unsigned int i, had = 0;
	int got = 0;

	for (i = 0; i < 2 * NR_MAX; i++) {
		next = l->one(l);
		if (!next)
			break;
		*(void **)next = last;
		last = next;
	}
	if (next) {
		pr_err("%s: slabs can still be allocated\n", l->name);
	} else {
		for (i = 0; i < BULK / 2 && last; i++) {
			next = *(void **)last;
			kmem_cache_free(l->cache, last);
			last = next;
		}
		got = l->bulk(l, BULK, p);
		while (!got && p[had])
			had++;
		if (!had)
			pr_err("%s: the bulk allocation returned %d, no object before it failed\n",
			       l->name, got);
	}
	kmem_cache_free_bulk(l->cache, got, p);
	for (; last; last = next) {
		next = *(void **)last;
		kmem_cache_free(l->cache, last);
	}
	return had ? 0 : -ENODATA;
}

struct race {
	struct work_struct work;
	struct layout *l;
	void *p[RACERS];
};

static void race_work(struct work_struct *work)
{
	struct race *r = container_of(work, struct race, work);
	unsigned int round, i;

	for (round = 0; round < ROUNDS; round++) {
		/* a fault can make an allocation fail: its pointer is NULL */
		for (i = 0; i < RACERS; i++)
			r->p[i] = r->l->one(r->l);
		for (i = 0; i < RACERS; i++)
			if (r->p[i])
				kmem_cache_free(r->l->cache, r->p[i]);
		if (round % EMPTIED == EMPTIED - 1)
			kmem_cache_shrink(r->l->cache);
		cond_resched();
	}
}

/* The caller keeps all CPUs online. */
static int race(struct layout *l)
{
	struct race *races = kcalloc(nr_cpu_ids, sizeof(*races), GFP_KERNEL);
	int cpu;

	if (!races)
		return -ENOMEM;
	for_each_online_cpu(cpu) {
		races[cpu].l = l;
		INIT_WORK(&races[cpu].work, race_work);
		schedule_work_on(cpu, &races[cpu].work);
	}
	for_each_online_cpu(cpu)
		flush_work(&races[cpu].work);
	kfree(races);
	return 0;
}

static int destroy(struct layout *l)
{
	if (l->cache && l->objects)
		free_all(l);
	kmem_cache_destroy(l->cache);
	vfree(l->objects);
	l->cache = NULL;
	l->objects = NULL;
	l->nr = 0;
	return 0;
}

static int create(struct layout *l)
{
	l->nr = clamp_t(unsigned int, MANY / l->size, NR_MIN, NR_MAX);
	l->objects = vzalloc(array_size(l->nr, sizeof(*l->objects)));
	l->cache = kmem_cache_create(l->name, l->size, 0, l->flags,
				     l->ctor ? constructor : NULL);
	return l->cache && l->objects ? 0 : -ENOMEM;
}

/* Files */

static const struct {
	const char *name;
	int (*function)(struct layout *l);
} commands[] = {
	{ "alloc", alloc },
	{ "half", half },
	{ "bulk", bulk },
	{ "check", check },
	{ "free", free_all },
	{ "shortage", shortage },
	{ "race", race },
	{ "destroy", destroy },
};

static int command(char *line)
{
	struct layout *l;
	int err = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(line, commands[i].name))
			break;
	if (i == ARRAY_SIZE(commands))
		return -EINVAL;
	for (l = layouts; l < layouts + ARRAY_SIZE(layouts); l++)
		err = commands[i].function(l) ?: err;
	return err;
}

static void show(struct seq_file *m, const struct layout *l, bool bulk)
{
	const char *func = bulk ? l->bulk_func : l->one_func;
	unsigned int i, live = 0, small = 0;

	for (i = 0; i < l->nr; i++) {
		if (!l->objects[i].p || l->objects[i].bulk != bulk)
			continue;
		live++;
		small += is_small(l->cache, l->objects[i].p);
	}
	seq_printf(m, "%s %s%s %u %s %u %u %u %s\n", l->name,
		   freelist_place(l->cache), in_map(l->cache) ? "+map" : "",
		   l->line, func ?: "-", live, live * l->cache->size, small,
		   is_fast(l->cache) ? "fast" : "slow");
}

static void show_table(struct seq_file *m)
{
	struct layout *l;

	for (l = layouts; l < layouts + ARRAY_SIZE(layouts); l++) {
		if (!l->cache)
			continue;
		show(m, l, false);
		show(m, l, true);
	}
}
DEFINE_SHOW_ATTRIBUTE(table);

static void destroy_all(void)
{
	struct layout *l;

	for (l = layouts; l < layouts + ARRAY_SIZE(layouts); l++)
		destroy(l);
}

static int __init ctag_cover_slab_init(void)
{
	struct layout *l;
	int err;

	for (l = layouts; l < layouts + ARRAY_SIZE(layouts); l++) {
		err = create(l);
		if (err) {
			destroy_all();
			return err;
		}
	}
	cmd_init();
	return 0;
}

static void __exit ctag_cover_slab_exit(void)
{
	debugfs_remove(cmd_dir);
	destroy_all();
}

module_init(ctag_cover_slab_init);
module_exit(ctag_cover_slab_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Slabs of every layout, filled with patterns");
