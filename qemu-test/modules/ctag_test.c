// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocates known numbers of known sizes on lines of its own.
 *
 * Every site of the table below is one call of one allocation function, on one
 * line, in a function of its own. The module knows its live objects and their
 * cost; a test compares that with /proc/allocinfo, to the byte.
 *
 * /sys/kernel/debug/ctag_test/cmd accepts, in process context,
 *
 *	alloc SITE N [CONTEXT [CPU]]	allocate N more objects
 *	free SITE N [CONTEXT [CPU]]	free N objects, the youngest first; with
 *					"all" at most as many as a site has
 *	keep SITE			pass all objects to ctag_keep
 *	churn ROUNDS			allocate and free everywhere, on all CPUs at
 *					once; no more objects are live afterwards
 *
 * with SITE a name or "all", CONTEXT one of task (the writer, in its cgroup),
 * process (a kworker), softirq, hardirq. A task runs on its current CPU. Sites
 * that cannot run in a context are left out of "all" and refused by name. The
 * number of the largest objects is limited to a few. The wrappers of mm/util.c
 * have a test of their own and are also left out of "all".
 *
 * /sys/kernel/debug/ctag_test/table has a line per site:
 *
 *	NAME LINE FUNCTION CALLS NUMBER UNIT exact|atleast
 *
 * with UNIT "bytes", or the name of a slab cache: then multiply NUMBER by its
 * slab_size in sysfs. "atleast" means that the site also has bookkeeping of
 * unknown size.
 *
 * The parameter "fail" makes init fail after it has allocated: 1 frees first,
 * 2 leaves the objects to ctag_keep.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/gfp.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "ctag_cmd.h"
#include "ctag_keep.h"

#define LIVE_MAX	512	/* objects of a site */
#define WIDTH_MAX	4	/* pointers of an object */
#define BULK		4
#define ODD_SIZE	200	/* no kmalloc size */
#define ODD_NAME	"ctag_odd"

static int fail;
module_param(fail, int, 0400);
MODULE_PARM_DESC(fail, "init fails: 1 cleanly, 2 with its memory still live");

static struct kmem_cache *odd_cache;

/**
 * struct site - a line that allocates
 * @name: for commands
 * @make: allocates one object into p[0 .. width - 1]; NULL in p[0] on failure
 * @how: the function that frees one pointer
 * @arg: for @how, as in struct ctag_object
 * @width: pointers of an object
 * @calls: calls that an object adds to the line
 * @size: argument of kmalloc(); else 0
 * @pages: pages of an object, where @size is 0
 * @process: cannot run in interrupts
 * @atleast: costs more than the requested memory
 * @most: limit on the number of objects, because they are large
 * @wrapper: a helper of mm/util.c, which is left out of "all"
 * @memcg: charged to the memory cgroup as well, so in a kmalloc-cg cache
 * @line: line of the call
 * @before: line of an allocation that the call replaces and frees, or 0
 * @func: function of the call
 * @live: number of live objects
 * @slot: their pointers, @width each
 */
struct site {
	const char *name;
	void (*make)(struct site *s, void **p, gfp_t gfp);
	enum ctag_how how;
	size_t arg;
	unsigned int width;
	unsigned int calls;
	size_t size;
	unsigned int pages;
	bool process;
	bool atleast;
	unsigned int most;
	bool wrapper;
	bool memcg;

	unsigned int line;
	unsigned int before;
	const char *func;
	unsigned int live;
	void **slot;
};

/* The sites: each allocation function, each on a line of its own. */

#define HERE(_s) do {							\
	(_s)->line = __LINE__;						\
	(_s)->func = __func__;						\
} while (0)

#define MAKE(_name, _call)						\
static void make_##_name(struct site *s, void **p, gfp_t gfp)		\
{									\
	HERE(s);							\
	p[0] = (void *)(_call);						\
}

static struct page *page_at(unsigned long address)
{
	return address ? virt_to_page((void *)address) : NULL;
}

MAKE(kmalloc_8, kmalloc(8, gfp))
MAKE(kmalloc_100, kmalloc(100, gfp))
MAKE(kmalloc_1024, kmalloc(1024, gfp))
MAKE(kmalloc_5000, kmalloc(5000, gfp))
MAKE(kmalloc_16384, kmalloc(16384, gfp))
MAKE(kmalloc_var, kmalloc(s->size, gfp))
MAKE(kzalloc, kzalloc(24, gfp))
MAKE(kcalloc, kcalloc(7, 50, gfp))
MAKE(kmalloc_array, kmalloc_array(3, 1000, gfp))
MAKE(kmalloc_node, kmalloc_node(300, gfp, numa_mem_id()))
MAKE(kzalloc_node, kzalloc_node(60, gfp, numa_mem_id()))
MAKE(kmalloc_account, kmalloc(250, gfp | __GFP_ACCOUNT))
MAKE(page_account, alloc_pages(gfp | __GFP_ACCOUNT, 1))
MAKE(cache_alloc, kmem_cache_alloc(odd_cache, gfp))
MAKE(cache_zalloc, kmem_cache_zalloc(odd_cache, gfp))
MAKE(cache_node, kmem_cache_alloc_node(odd_cache, gfp, numa_mem_id()))
MAKE(kmemdup, kmemdup(KBUILD_MODNAME, sizeof(KBUILD_MODNAME), gfp))
MAKE(kstrdup, kstrdup("a string of thirty-three letters.", gfp))
MAKE(kstrndup, kstrndup("a string that is cut short", 8, gfp))
MAKE(kmemdup_nul, kmemdup_nul("four", 4, gfp))
MAKE(kvmalloc_small, kvmalloc(700, gfp))
MAKE(kvmalloc_big, kvmalloc(48 * PAGE_SIZE, gfp))
#ifndef CONFIG_ARM64_64K_PAGES
/* with pages of 64 KiB, that is half a gigabyte */
MAKE(kvmalloc_huge, kvmalloc(KMALLOC_MAX_SIZE + PAGE_SIZE, gfp))
#endif
MAKE(vmalloc, vmalloc(3 * PAGE_SIZE))
MAKE(vzalloc, vzalloc(2 * PAGE_SIZE))
MAKE(alloc_page, alloc_page(gfp))
MAKE(alloc_pages_1, alloc_pages(gfp, 1))
MAKE(alloc_pages_3, alloc_pages(gfp | __GFP_COMP, 3))
MAKE(alloc_pages_node, alloc_pages_node(numa_mem_id(), gfp, 0))
MAKE(get_free_pages, page_at(__get_free_pages(gfp, 1)))
MAKE(get_zeroed_page, page_at(get_zeroed_page(gfp)))
MAKE(pages_exact, alloc_pages_exact(3 * PAGE_SIZE, gfp))
MAKE(folio_alloc, folio_alloc(gfp, 2))

static void make_krealloc(struct site *s, void **p, gfp_t gfp)
{
	void *small, *big;

	s->before = __LINE__ + 1;
	small = kmalloc(100, gfp);
	HERE(s); big = krealloc(small, 1024, gfp);
	if (!big)
		kfree(small);
	p[0] = big;
}

static void make_cache_bulk(struct site *s, void **p, gfp_t gfp)
{
	HERE(s); if (!kmem_cache_alloc_bulk(odd_cache, gfp, BULK, p))
		p[0] = NULL;
}

static void make_pages_bulk(struct site *s, void **p, gfp_t gfp)
{
	struct page **pages = (struct page **)p;
	unsigned long got, i;

	memset(p, 0, BULK * sizeof(*p));
	HERE(s); got = alloc_pages_bulk_array(gfp, BULK, pages);
	if (got == BULK)
		return;
	for (i = 0; i < got; i++)
		__free_page(pages[i]);
	p[0] = NULL;
}

/* r07: each part of a split block is accounted once */
static void make_split(struct site *s, void **p, gfp_t gfp)
{
	struct page *page;
	int i;

	p[0] = NULL;
	HERE(s); page = alloc_pages(gfp, 2);
	if (!page)
		return;
	split_page(page, 2);
	for (i = 0; i < 4; i++)
		p[i] = page + i;
}

/* r11: all pages of a block except the first are freed while there is a reference */
static void make_extra_ref(struct site *s, void **p, gfp_t gfp)
{
	struct page *page;

	HERE(s); page = alloc_pages(gfp, 2);
	if (page) {
		get_page(page);
		__free_pages(page, 2);
	}
	p[0] = page;
}

#define SITE_KMALLOC(_name, _size)					\
	{ .name = #_name, .make = make_##_name, .how = CTAG_KFREE,	\
	  .width = 1, .calls = 1, .size = (_size) }

#define SITE_WRAPPER(_name, _size)					\
	{ .name = #_name, .make = make_##_name, .how = CTAG_KFREE,	\
	  .width = 1, .calls = 1, .size = (_size), .wrapper = true }

#define SITE_CACHE(_name, _width)					\
	{ .name = #_name, .make = make_##_name, .how = CTAG_CACHE,	\
	  .width = (_width), .calls = (_width),				\
	  .process = (_width) > 1 }

#define SITE_PAGES(_name, _order, _width, _pages)			\
	{ .name = #_name, .make = make_##_name, .how = CTAG_PAGES,	\
	  .arg = (_order), .width = (_width), .calls = (_width),	\
	  .pages = (_pages) }

#define SITE_KVMALLOC(_name, _pages, _most)				\
	{ .name = #_name, .make = make_##_name, .how = CTAG_KVFREE,	\
	  .width = 1, .calls = 1, .pages = (_pages), .process = true,	\
	  .atleast = true, .most = (_most) }

static struct site sites[] = {
	SITE_KMALLOC(kmalloc_8, 8),
	SITE_KMALLOC(kmalloc_100, 100),
	SITE_KMALLOC(kmalloc_1024, 1024),
	SITE_KMALLOC(kmalloc_5000, 5000),
	SITE_KMALLOC(kmalloc_16384, 16384),
	SITE_KMALLOC(kmalloc_var, 77),
	SITE_KMALLOC(kzalloc, 24),
	SITE_KMALLOC(kcalloc, 7 * 50),
	SITE_KMALLOC(kmalloc_array, 3 * 1000),
	SITE_KMALLOC(kmalloc_node, 300),
	SITE_KMALLOC(kzalloc_node, 60),
	SITE_KMALLOC(krealloc, 1024),
	{ .name = "kmalloc_account", .make = make_kmalloc_account,
	  .how = CTAG_KFREE, .width = 1, .calls = 1, .size = 250,
	  .memcg = true },
	SITE_WRAPPER(kmemdup, sizeof(KBUILD_MODNAME)),
	SITE_WRAPPER(kmemdup_nul, 5),
	SITE_WRAPPER(kstrdup, 34),
	SITE_WRAPPER(kstrndup, 9),
	SITE_CACHE(cache_alloc, 1),
	SITE_CACHE(cache_zalloc, 1),
	SITE_CACHE(cache_node, 1),
	SITE_CACHE(cache_bulk, BULK),
	{ .name = "kvmalloc_small", .make = make_kvmalloc_small,
	  .how = CTAG_KVFREE, .width = 1, .calls = 1, .size = 700,
	  .process = true },
	SITE_KVMALLOC(kvmalloc_big, 48, 0),
#ifndef CONFIG_ARM64_64K_PAGES
	SITE_KVMALLOC(kvmalloc_huge, KMALLOC_MAX_SIZE / PAGE_SIZE + 1, 2),
#endif
	SITE_KVMALLOC(vmalloc, 3, 0),
	SITE_KVMALLOC(vzalloc, 2, 0),
	SITE_PAGES(alloc_page, 0, 1, 1),
	SITE_PAGES(page_account, 1, 1, 2),
	SITE_PAGES(alloc_pages_1, 1, 1, 2),
	SITE_PAGES(alloc_pages_3, 3, 1, 8),
	SITE_PAGES(alloc_pages_node, 0, 1, 1),
	SITE_PAGES(get_free_pages, 1, 1, 2),
	SITE_PAGES(get_zeroed_page, 0, 1, 1),
	SITE_PAGES(pages_bulk, 0, BULK, BULK),
	SITE_PAGES(split, 0, 4, 4),
	SITE_PAGES(extra_ref, 0, 1, 1),
	{ .name = "pages_exact", .make = make_pages_exact, .how = CTAG_EXACT,
	  .arg = 3 * PAGE_SIZE, .width = 1, .calls = 3, .pages = 3 },
	{ .name = "folio_alloc", .make = make_folio_alloc, .how = CTAG_FOLIO,
	  .width = 1, .calls = 1, .pages = 4 },
};

/*
 * The cost of the live objects of a site: a number of bytes, or of objects of a
 * cache. Only sysfs has the size of an object with its red zones and other metadata.
 */
static void show_cost(struct seq_file *m, const struct site *s)
{
	size_t size = s->size;

	if (s->how == CTAG_CACHE) {
		seq_printf(m, "%u %s", s->live * s->width, ODD_NAME);
	} else if (!size) {
		seq_printf(m, "%lu bytes", s->live * s->pages * PAGE_SIZE);
	} else if (size > KMALLOC_MAX_CACHE_SIZE) {
		seq_printf(m, "%lu bytes",
			   s->live * (PAGE_SIZE << get_order(size)));
	} else {
		size = kmalloc_size_roundup(size);
		seq_printf(m, "%u kmalloc-%s%zu%s", s->live,
			   s->memcg ? "cg-" : "",
			   size % SZ_1K ? size : size / SZ_1K,
			   size % SZ_1K ? "" : "k");
	}
}

/* Runs in one of the contexts in which the site may run. */
static void site_drop(const struct site *s, void **p)
{
	unsigned int i;

	for (i = 0; i < s->width; i++) {
		switch (s->how) {
		case CTAG_KFREE:
			kfree(p[i]);
			break;
		case CTAG_KVFREE:
			kvfree(p[i]);
			break;
		case CTAG_CACHE:
			kmem_cache_free(odd_cache, p[i]);
			break;
		case CTAG_PAGES:
			__free_pages(p[i], s->arg);
			break;
		case CTAG_EXACT:
			free_pages_exact(p[i], s->arg);
			break;
		case CTAG_FOLIO:
			folio_put(p[i]);
			break;
		default:
			WARN_ON_ONCE(1);
		}
	}
}

/* Jobs: an action on a site, in a context, on a CPU */

enum context { TASK, PROCESS, SOFTIRQ, HARDIRQ };

static const char * const context_names[] = {
	[TASK] = "task", [PROCESS] = "process",
	[SOFTIRQ] = "softirq", [HARDIRQ] = "hardirq",
};

struct job {
	struct site *site;
	bool free;
	unsigned int nr;
	enum context context;
	gfp_t gfp;
	int err;
	struct completion done;
	struct tasklet_struct tasklet;
	struct irq_work work;
};

/* The task that waits for the job holds cmd_lock. */
static void job_do(struct job *job)
{
	struct site *s = job->site;
	void **p;

	for (; job->nr; job->nr--) {
		if (job->free) {
			if (!s->live) {
				job->err = -ERANGE;
				return;
			}
			s->live--;
			site_drop(s, &s->slot[s->live * s->width]);
			continue;
		}
		if (s->most && s->live == s->most)
			return;
		if (s->live == LIVE_MAX) {
			job->err = -ENOSPC;
			return;
		}
		p = &s->slot[s->live * s->width];
		s->make(s, p, job->gfp);
		if (!p[0]) {
			job->err = -ENOMEM;
			return;
		}
		s->live++;
	}
}

static long job_process(void *arg)
{
	job_do(arg);
	return 0;
}

static void job_softirq(struct tasklet_struct *t)
{
	struct job *job = from_tasklet(job, t, tasklet);

	WARN_ON_ONCE(!in_serving_softirq());
	job_do(job);
	complete(&job->done);
}

/* Queue both on the CPU of the job, where they run a little later. */
static void job_raise(void *arg)
{
	struct job *job = arg;

	if (job->context == SOFTIRQ)
		tasklet_schedule(&job->tasklet);
	else
		irq_work_queue(&job->work);
}

static void job_hardirq(struct irq_work *work)
{
	struct job *job = container_of(work, struct job, work);

	WARN_ON_ONCE(!in_hardirq());
	job_do(job);
	complete(&job->done);
}

static int job_run(struct job *job, int cpu)
{
	int err;

	job->gfp = job->context <= PROCESS ? GFP_KERNEL : GFP_ATOMIC;
	job->err = 0;
	init_completion(&job->done);

	if (job->context == TASK) {
		job_do(job);
		return job->err;
	}
	if (job->context == PROCESS) {
		work_on_cpu(cpu, job_process, job);
		return job->err;
	}

	tasklet_setup(&job->tasklet, job_softirq);
	job->work = IRQ_WORK_INIT_HARD(job_hardirq);
	err = smp_call_function_single(cpu, job_raise, job, 1);
	if (err)
		return err;
	wait_for_completion(&job->done);
	if (job->context == HARDIRQ)
		irq_work_sync(&job->work);
	else
		tasklet_kill(&job->tasklet);
	return job->err;
}

/* Commands */

static int keep_site(struct site *s)
{
	struct ctag_object o = { .how = s->how, .arg = s->arg };
	unsigned int i;
	int err;

	while (s->live) {
		for (i = 0; i < s->width; i++) {
			o.p = s->slot[(s->live - 1) * s->width + i];
			err = ctag_keep_add(&o);
			if (err)
				return err;
		}
		s->live--;
	}
	return 0;
}

struct churn {
	struct work_struct work;
	unsigned int rounds;
};

static void churn_work(struct work_struct *work)
{
	struct churn *c = container_of(work, struct churn, work);
	void *p[WIDTH_MAX];
	unsigned int i, j;

	for (i = 0; i < c->rounds; i++) {
		for (j = 0; j < ARRAY_SIZE(sites); j++) {
			if (sites[j].wrapper || (sites[j].most && i % 64))
				continue;
			sites[j].make(&sites[j], p, GFP_KERNEL);
			if (p[0])
				site_drop(&sites[j], p);
		}
		cond_resched();
	}
}

static int churn(unsigned int rounds)
{
	struct churn *c;
	int cpu;

	c = kcalloc(nr_cpu_ids, sizeof(*c), GFP_KERNEL);
	if (!c)
		return -ENOMEM;
	cpus_read_lock();
	for_each_online_cpu(cpu) {
		c[cpu].rounds = rounds;
		INIT_WORK(&c[cpu].work, churn_work);
		schedule_work_on(cpu, &c[cpu].work);
	}
	for_each_online_cpu(cpu)
		flush_work(&c[cpu].work);
	cpus_read_unlock();
	kfree(c);
	return 0;
}

static int site_command(struct site *s, const char *verb, unsigned int nr,
			enum context context, int cpu)
{
	struct job job = { .site = s, .nr = nr, .context = context };

	if (!strcmp(verb, "keep"))
		return keep_site(s);
	if (!strcmp(verb, "free"))
		job.free = true;
	else if (strcmp(verb, "alloc"))
		return -EINVAL;
	return job_run(&job, cpu);
}

static int sites_command(const char *verb, const char *name, unsigned int nr,
			 enum context context, int cpu)
{
	bool all = !strcmp(name, "all");
	bool found = false;
	struct site *s;
	int err;

	for (s = sites; s < sites + ARRAY_SIZE(sites); s++) {
		if (all ? s->wrapper : strcmp(name, s->name))
			continue;
		found = true;
		if (s->process && context > PROCESS) {
			if (all)
				continue;
			return -EINVAL;
		}
		if (all && s->how == CTAG_CACHE && !strcmp(verb, "keep"))
			continue;
		err = site_command(s, verb, nr, context, cpu);
		if (err && !(all && err == -ERANGE))
			return err;
	}
	return found ? 0 : -ENOENT;
}

static int command(char *line)
{
	char verb[16], name[32], where[16] = "process";
	unsigned int nr = 0;
	int cpu = 0, n, context;

	n = sscanf(line, "%15s %31s %u %15s %d", verb, name, &nr, where, &cpu);
	if (n < 2)
		return -EINVAL;
	if (!strcmp(verb, "churn"))
		return kstrtouint(name, 10, &nr) ? -EINVAL : churn(nr);
	context = match_string(context_names, ARRAY_SIZE(context_names), where);
	if (context < 0 || cpu < 0 || cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -EINVAL;
	return sites_command(verb, name, nr, context, cpu);
}

static void show_table(struct seq_file *m)
{
	struct site *s;

	for (s = sites; s < sites + ARRAY_SIZE(sites); s++) {
		if (!s->line)
			continue;
		seq_printf(m, "%s %u %s %u ", s->name, s->line, s->func,
			   s->live * s->calls);
		show_cost(m, s);
		seq_puts(m, s->atleast && s->live ? " atleast\n" : " exact\n");
		if (s->before)
			seq_printf(m, "%s_before %u %s 0 0 bytes exact\n",
				   s->name, s->before, s->func);
	}
}
DEFINE_SHOW_ATTRIBUTE(table);

/* Init */

static void drop_all(void)
{
	struct site *s;

	for (s = sites; s < sites + ARRAY_SIZE(sites); s++) {
		while (s->live) {
			s->live--;
			site_drop(s, &s->slot[s->live * s->width]);
		}
		vfree(s->slot);
	}
	kmem_cache_destroy(odd_cache);
}

static int set_up(void)
{
	struct site *s;

	odd_cache = kmem_cache_create(ODD_NAME, ODD_SIZE, 0, 0, NULL);
	if (!odd_cache)
		return -ENOMEM;
	for (s = sites; s < sites + ARRAY_SIZE(sites); s++) {
		s->slot = vzalloc(array3_size(LIVE_MAX, s->width,
					      sizeof(*s->slot)));
		if (!s->slot)
			return -ENOMEM;
	}
	return 0;
}

static int fail_init(void)
{
	int err = sites_command("alloc", "all", 10, PROCESS, 0);

	if (!err && fail == 2)
		err = sites_command("keep", "all", 0, PROCESS, 0);
	return err ?: -ENODEV;
}

static int __init ctag_test_init(void)
{
	int err = set_up();

	if (!err && fail)
		err = fail_init();
	if (err) {
		drop_all();
		return err;
	}
	cmd_init();
	return 0;
}

static void __exit ctag_test_exit(void)
{
	debugfs_remove(cmd_dir);
	drop_all();
}

module_init(ctag_test_init);
module_exit(ctag_test_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Allocations of known size on known lines");
