// SPDX-License-Identifier: GPL-2.0-only
/*
 * For applications of allocation tags: allocations with known stacks, and lines that
 * can fail. Commands, see ctag_cmd.h:
 *
 *	hold N		allocate N more objects, alternating between two ways
 *	drop		free all of them
 *	burst N		allocate N more objects with interrupts off
 *	areas N		allocate N more per-CPU areas
 *	bulk N		allocate N more pages in bulk
 *	hammer N	on each CPU, N times: allocate an object and a page, hold them
 *			for a while, and sometimes an area and pages in bulk
 *	points N	evaluate two lines that can fail, N times each
 *	deep N		allocate an object in each of N ways, 16 calls deep
 *	nofail N	allocate an object and an area that may not fail, and free them,
 *			N times
 *
 * The table has "NAME NUMBER": held objects, faults of the lines since "points", and
 * failed allocations of "hammer" and "nofail".
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/dynamic_fault.h>
#include <linux/gfp.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ctag_cmd.h"

struct object {
	struct object *next;
	char rest[56];
};

static struct object *held;
static unsigned long nr_held;
static unsigned long nr_first, nr_second;
static atomic_long_t nr_failed;

/* The line that allocates */
static noinline struct object *make_object(void)
{
	return kmalloc(sizeof(struct object), GFP_KERNEL);
}

static noinline struct object *make_atomic(void)
{
	return kmalloc(sizeof(struct object), GFP_ATOMIC);
}

/* The ways; the barrier prevents tail calls. */
static noinline struct object *way_a(void)
{
	struct object *o = make_object();

	barrier();
	return o;
}

static noinline struct object *way_b(void)
{
	struct object *o = make_object();

	barrier();
	return o;
}

static int hold(unsigned long nr)
{
	struct object *o;

	for (; nr; nr--) {
		o = nr_held % 2 ? way_b() : way_a();
		if (!o)
			return -ENOMEM;
		o->next = held;
		held = o;
		nr_held++;
		if (!(nr_held % 1024))
			cond_resched();
	}
	return 0;
}

#define DEPTH		16

/* Two calls, so that each bit of @path selects a return address. */
static noinline struct object *descend(unsigned long path, unsigned int depth)
{
	struct object *o;

	if (!depth)
		return make_object();
	if (path & BIT(depth - 1)) {
		o = descend(path, depth - 1);
		asm volatile("# one way" : "+r" (o));
	} else {
		o = descend(path, depth - 1);
		asm volatile("# the other" : "+r" (o));
	}
	return o;
}

static int deep(unsigned long nr)
{
	struct object *o;

	for (; nr; nr--) {
		o = descend(nr, DEPTH);
		if (!o)
			return -ENOMEM;
		o->next = held;
		held = o;
		nr_held++;
		cond_resched();
	}
	return 0;
}

static int burst(unsigned long nr)
{
	unsigned long flags;
	struct object *o;

	local_irq_save(flags);
	for (; nr; nr--) {
		o = make_atomic();
		if (!o)
			break;
		o->next = held;
		held = o;
		nr_held++;
	}
	local_irq_restore(flags);
	return nr ? -ENOMEM : 0;
}

struct area {
	unsigned long rest[8];
};

static struct area __percpu *areas[1000];
static unsigned long nr_areas;

static noinline struct area __percpu *make_area(void)
{
	return alloc_percpu_gfp(struct area, GFP_KERNEL | __GFP_NOWARN);
}

static int hold_areas(unsigned long nr)
{
	for (; nr && nr_areas < ARRAY_SIZE(areas); nr--) {
		areas[nr_areas] = make_area();
		if (!areas[nr_areas])
			return -ENOMEM;
		nr_areas++;
	}
	return nr ? -ENOSPC : 0;
}

static LIST_HEAD(bulk_pages);

static noinline unsigned long make_pages(unsigned long nr, struct list_head *list)
{
	return alloc_pages_bulk_list(GFP_KERNEL, nr, list);
}

static int hold_bulk(unsigned long nr)
{
	unsigned long got;

	for (; nr; nr -= min(nr, got)) {
		got = make_pages(nr, &bulk_pages);
		if (!got)
			return -ENOMEM;
	}
	return 0;
}

static void free_bulk(struct list_head *list)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, list, lru) {
		list_del(&page->lru);
		__free_page(page);
	}
}

static void nofail(unsigned long nr)
{
	void *p, *q;

	for (; nr; nr--) {
		p = kmalloc(100, GFP_KERNEL | __GFP_NOFAIL);
		q = __vmalloc(3 * PAGE_SIZE, GFP_KERNEL | __GFP_NOFAIL);
		if (!p || !q)
			atomic_long_inc(&nr_failed);
		kfree(p);
		vfree(q);
	}
}

static void drop(void)
{
	struct object *o;

	while (held) {
		o = held;
		held = o->next;
		kfree(o);
		if (!(--nr_held % 1024))
			cond_resched();
	}
	while (nr_areas)
		free_percpu(areas[--nr_areas]);
	free_bulk(&bulk_pages);
}

#define HAMMER_HELD	16

static void hammer_rarely(void)
{
	struct area __percpu *area = make_area();
	LIST_HEAD(list);

	if (!area || !make_pages(8, &list))
		atomic_long_inc(&nr_failed);
	free_percpu(area);
	free_bulk(&list);
}

static DECLARE_COMPLETION(hammered);

static int hammer_thread(void *data)
{
	struct object *object[HAMMER_HELD] = { };
	struct page *page[HAMMER_HELD] = { };
	unsigned long i, at, nr = (unsigned long)data;

	for (i = 0; i < nr + HAMMER_HELD; i++) {
		at = i % HAMMER_HELD;
		kfree(object[at]);
		if (page[at])
			__free_page(page[at]);
		object[at] = i < nr ? make_object() : NULL;
		page[at] = i < nr ? alloc_page(GFP_KERNEL) : NULL;
		if (i < nr && (!object[at] || !page[at]))
			atomic_long_inc(&nr_failed);
		if (!at)
			hammer_rarely();
		cond_resched();
	}
	complete(&hammered);
	while (!kthread_should_stop())
		schedule_timeout_interruptible(1);
	return 0;
}

static int hammer(unsigned long nr)
{
	struct task_struct *task[8] = { };
	int cpu, err = 0;

	cpus_read_lock();
	for_each_online_cpu(cpu) {
		if (cpu >= ARRAY_SIZE(task))
			break;
		task[cpu] = kthread_create_on_cpu(hammer_thread, (void *)nr,
						  cpu, "ctag_uses/%u");
		if (IS_ERR(task[cpu])) {
			err = PTR_ERR(task[cpu]);
			task[cpu] = NULL;
			break;
		}
		wake_up_process(task[cpu]);
	}
	/* A thread that is stopped before it ran never runs, so let all of them end first. */
	for (cpu = 0; cpu < ARRAY_SIZE(task); cpu++)
		if (task[cpu])
			wait_for_completion(&hammered);
	for (cpu = 0; cpu < ARRAY_SIZE(task); cpu++)
		if (task[cpu])
			kthread_stop(task[cpu]);
	cpus_read_unlock();
	return err;
}

static void points(unsigned long nr)
{
	nr_first = 0;
	nr_second = 0;
	for (; nr; nr--) {
		nr_first += dynamic_fault("ctag");
		nr_second += dynamic_fault("other");
	}
}

static int command(char *line)
{
	char verb[16];
	unsigned long nr = 0;

	if (sscanf(line, "%15s %lu", verb, &nr) < 1)
		return -EINVAL;
	if (!strcmp(verb, "hold"))
		return hold(nr);
	if (!strcmp(verb, "burst"))
		return burst(nr);
	if (!strcmp(verb, "areas"))
		return hold_areas(nr);
	if (!strcmp(verb, "bulk"))
		return hold_bulk(nr);
	if (!strcmp(verb, "hammer"))
		return hammer(nr);
	if (!strcmp(verb, "deep"))
		return deep(nr);
	if (!strcmp(verb, "drop"))
		drop();
	else if (!strcmp(verb, "points"))
		points(nr);
	else if (!strcmp(verb, "nofail"))
		nofail(nr);
	else
		return -EINVAL;
	return 0;
}

static void show_table(struct seq_file *m)
{
	seq_printf(m, "held %lu\nctag %lu\nother %lu\nfailed %ld\n", nr_held,
		   nr_first, nr_second, atomic_long_read(&nr_failed));
}
DEFINE_SHOW_ATTRIBUTE(table);

static int __init ctag_uses_init(void)
{
	cmd_init();
	return 0;
}
module_init(ctag_uses_init);

static void __exit ctag_uses_exit(void)
{
	debugfs_remove(cmd_dir);
	drop();
}
module_exit(ctag_uses_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Known ways to a line that allocates, and lines that can fail");
