// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls helpers that allocate for their callers, each on a line of its own.
 *
 * /sys/kernel/debug/ctag_cover_util/cmd accepts "fill" (LIVE objects of every site) and
 * "drop" (none). Then .../table has the memory that should be live, a line per site:
 *
 *	FUNCTION LINE CALLS PAGES [NUMBER CACHE]...
 *
 * The size of an object is slab_size of the cache in sysfs.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bitmap.h>
#include <linux/cpumask.h>
#include <linux/dma-fence-chain.h>
#include <linux/fs.h>
#include <linux/generic-radix-tree.h>
#include <linux/gfp.h>
#include <linux/kfifo.h>
#include <linux/list_lru.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/pagemap.h>
#include <linux/parser.h>
#include <linux/posix_acl.h>
#include <linux/ptr_ring.h>
#include <linux/slab.h>
#include <linux/spi/spi.h>
#include <linux/string.h>
#include <linux/string_helpers.h>
#include <linux/textsearch.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/pgalloc.h>

#include "ctag_cmd.h"

#define LIVE		9
#define PARTS		2	/* kinds of objects that a call allocates */
#define GFP		GFP_KERNEL
#define ENTRIES		(3 * PAGE_SIZE / sizeof(u64))
#define ACL_ENTRIES	10
#define BULK		5
#define RANGE		16
#define RANGE_TRIES	20

union thing {
	void *p;
	unsigned long addr;
	struct kfifo fifo;
	struct ptr_ring ring;
	struct list_lru lru;
	struct list_head list;
	cpumask_var_t mask;
	GENRADIX(u64) radix;
};

/**
 * struct site - a line that calls a helper
 * @func: its function
 * @make: makes a thing, returns non-zero on failure
 * @drop: frees it
 * @pages: number of its blocks of one page each
 * @order: if not 0, it has one block of that order instead
 * @part: number and size of its kmalloc() objects
 * @line: line of the call
 * @live: number of live things
 */
struct site {
	const char *func;
	int (*make)(struct site *s, union thing *t);
	void (*drop)(union thing *t);
	unsigned int pages;
	unsigned int order;
	struct {
		unsigned int nr;
		size_t size;
	} part[PARTS];

	unsigned int line;
	unsigned int live;
	union thing thing[LIVE];
};

/* A line that returns a pointer, and the function that frees it */
#define POINTER(_name, _call, _free)					\
static int __maybe_unused						\
make_##_name(struct site *s, union thing *t)				\
{									\
	s->line = __LINE__;						\
	t->p = (void *)(_call);						\
	return IS_ERR_OR_NULL(t->p);					\
}									\
									\
static void __maybe_unused drop_##_name(union thing *t)			\
{									\
	_free(t->p);							\
}

/* A line that initialises a structure */
#define STRUCTURE(_name, _init, _exit)					\
static int __maybe_unused						\
make_##_name(struct site *s, union thing *t)				\
{									\
	s->line = __LINE__;						\
	return _init;							\
}									\
									\
static void __maybe_unused drop_##_name(union thing *t)			\
{									\
	_exit;								\
}

/* Not constant, so that kstrdup_const() copies it. */
static char text[18] = "three small words";
static const substring_t part = { .from = text, .to = text + 11 };
static const struct posix_acl acl = { .a_count = 0 };

/* During a fill: the text in the memory of the writer, and an open file */
#define FILE_NAME	"/proc/allocinfo"
static char __user *user;
static struct file *named;

/* A line that takes the arguments of a variadic function */
#define FORMAT(_name, _call)						\
static const char *_name(struct site *s, const char *fmt, ...)		\
{									\
	const char *p;							\
	va_list ap;							\
									\
	va_start(ap, fmt);						\
	s->line = __LINE__;						\
	p = (_call);							\
	va_end(ap);							\
	return p;							\
}

FORMAT(format, kvasprintf(GFP, fmt, ap))
FORMAT(format_const, kvasprintf_const(GFP, fmt, ap))

static void free_strings(void *p)
{
	kfree_strarray(p, 3);
}

static void free_table(void *p)
{
	free_page((unsigned long)p);
}

static void free_folio(void *p)
{
	folio_put(p);
}

POINTER(kasprintf, kasprintf(GFP, "%s %d", text, 12345), kfree)
POINTER(kasprintf_strarray, kasprintf_strarray(GFP, "line", 3), free_strings)
POINTER(kvasprintf, format(s, "%d%d", 1234567, 7654321), kfree)
POINTER(kvasprintf_const, format_const(s, "%s", text), kfree)
POINTER(kstrdup_quotable, kstrdup_quotable("a \"quoted\" word", GFP), kfree)
POINTER(kstrdup_const, kstrdup_const(text, GFP), kfree)
POINTER(match_strdup, match_strdup(&part), kfree)
POINTER(argv_split, argv_split(GFP, text, NULL), argv_free)
POINTER(bitmap_alloc, bitmap_alloc(1000, GFP), bitmap_free)
POINTER(bitmap_zalloc, bitmap_zalloc(65, GFP), bitmap_free)
POINTER(bitmap_alloc_node, bitmap_alloc_node(3000, GFP, numa_mem_id()), bitmap_free)
POINTER(bitmap_zalloc_node, bitmap_zalloc_node(1, GFP, numa_mem_id()), bitmap_free)
POINTER(posix_acl_alloc, posix_acl_alloc(ACL_ENTRIES, GFP), kfree)
POINTER(posix_acl_from_mode, posix_acl_from_mode(0750, GFP), kfree)
POINTER(posix_acl_clone, posix_acl_clone(&acl, GFP), kfree)
POINTER(alloc_ts_config, alloc_ts_config(64, GFP), kfree)
POINTER(dma_fence_chain, dma_fence_chain_alloc(), kfree)
POINTER(spi_message, spi_message_alloc(3, GFP), kfree)
POINTER(page_cache, __page_cache_alloc(GFP), __free_page)
POINTER(filemap_folio, filemap_alloc_folio(GFP, 2), free_folio)
POINTER(page_table, __pte_alloc_one_kernel(NULL), free_table)
POINTER(vmalloc_user, vmalloc_user(16 * PAGE_SIZE), vfree)
POINTER(vmalloc_32, vmalloc_32(16 * PAGE_SIZE), vfree)
POINTER(__vmalloc, __vmalloc(16 * PAGE_SIZE, GFP), vfree)
POINTER(vmalloc_node, vmalloc_node(16 * PAGE_SIZE, numa_mem_id()), vfree)
POINTER(vzalloc_node, vzalloc_node(16 * PAGE_SIZE, numa_mem_id()), vfree)
POINTER(vcalloc, vcalloc(16, PAGE_SIZE), vfree)
POINTER(vmalloc_array, vmalloc_array(16, PAGE_SIZE), vfree)
POINTER(vmalloc_32_user, vmalloc_32_user(16 * PAGE_SIZE), vfree)
POINTER(vmalloc_huge, vmalloc_huge(PMD_SIZE, GFP), vfree)
POINTER(kvzalloc, kvzalloc(700, GFP), kvfree)
POINTER(kvcalloc, kvcalloc(7, 50, GFP), kvfree)
POINTER(kvmalloc_array, kvmalloc_array(3, 1000, GFP), kvfree)
POINTER(kvmalloc_node, kvmalloc_node(300, GFP, numa_mem_id()), kvfree)
POINTER(kvzalloc_node, kvzalloc_node(60, GFP, numa_mem_id()), kvfree)
POINTER(memdup_user, memdup_user(user, sizeof(text)), kfree)
POINTER(memdup_user_nul, memdup_user_nul(user, sizeof(text) - 2), kfree)
POINTER(vmemdup_user, vmemdup_user(user, 11), kvfree)
POINTER(strndup_user, strndup_user(user, PAGE_SIZE), kfree)
POINTER(quotable_file, kstrdup_quotable_file(named, GFP), kfree)

STRUCTURE(kfifo, kfifo_alloc(&t->fifo, 200, GFP), kfifo_free(&t->fifo))
STRUCTURE(ptr_ring, ptr_ring_init(&t->ring, 100, GFP), ptr_ring_cleanup(&t->ring, NULL))
STRUCTURE(list_lru, list_lru_init(&t->lru), list_lru_destroy(&t->lru))
STRUCTURE(cpumask, !zalloc_cpumask_var(&t->mask, GFP), free_cpumask_var(t->mask))

/* Three pages of entries, and one page that points to them */
static int make_genradix(struct site *s, union thing *t)
{
	genradix_init(&t->radix);
	s->line = __LINE__ + 1;
	return genradix_prealloc(&t->radix, ENTRIES - 1, GFP);
}

static void drop_genradix(union thing *t)
{
	genradix_free(&t->radix);
}

/* The first page of the first entry */
static int make_genradix_ptr(struct site *s, union thing *t)
{
	genradix_init(&t->radix);
	s->line = __LINE__ + 1;
	return !genradix_ptr_alloc(&t->radix, 7, GFP);
}

/* An array that grows moves from one line to the other. */
static int make_ring_resize(struct site *s, union thing *t)
{
	if (ptr_ring_init(&t->ring, 10, GFP))
		return -ENOMEM;
	s->line = __LINE__ + 1;
	return ptr_ring_resize(&t->ring, 300, GFP, NULL);
}

static int make_kvrealloc(struct site *s, union thing *t)
{
	void *small = kmalloc(100, GFP);

	s->line = __LINE__ + 1;
	t->p = kvrealloc(small, 100, 1000, GFP);
	if (!t->p)
		kfree(small);
	return !t->p;
}

static void drop_kvrealloc(union thing *t)
{
	kvfree(t->p);
}

static int make_krealloc_array(struct site *s, union thing *t)
{
	void *small = kmalloc(50, GFP);

	s->line = __LINE__ + 1;
	t->p = krealloc_array(small, 10, 60, GFP);
	if (!t->p)
		kfree(small);
	return !t->p;
}

/* The length is that of the writer's command line. */
static int make_quotable_cmdline(struct site *s, union thing *t)
{
	s->line = __LINE__ + 1;
	t->p = kstrdup_quotable_cmdline(current, GFP);
	if (!t->p)
		return -ENOMEM;
	s->part[0].size = strlen(t->p) + 1;
	return 0;
}

static void drop_bulk_list(union thing *t)
{
	struct page *page, *next;

	list_for_each_entry_safe(page, next, &t->list, lru)
		__free_page(page);
}

static int make_bulk_list(struct site *s, union thing *t)
{
	unsigned long got;

	INIT_LIST_HEAD(&t->list);
	s->line = __LINE__ + 1;
	got = alloc_pages_bulk_list(GFP, BULK, &t->list);
	if (got == BULK)
		return 0;
	drop_bulk_list(t);
	return -ENOMEM;
}

#ifdef CONFIG_CONTIG_ALLOC
/* The start of a pageblock that was free a moment ago; another task may use it by now */
static int make_contig_range(struct site *s, union thing *t)
{
	unsigned int tries = RANGE_TRIES;
	unsigned long pfn;
	struct page *page;
	int err;

	do {
		page = alloc_pages(GFP_HIGHUSER_MOVABLE, pageblock_order);
		if (!page)
			return -ENOMEM;
		pfn = page_to_pfn(page);
		__free_pages(page, pageblock_order);
		s->line = __LINE__ + 1;
		err = alloc_contig_range(pfn, pfn + RANGE, MIGRATE_MOVABLE, GFP);
	} while (err && --tries);
	t->addr = pfn;
	return err;
}

static void drop_contig_range(union thing *t)
{
	free_contig_range(t->addr, RANGE);
}
#endif

#define SITE(_name, ...)						\
	{ .func = "make_" #_name, .make = make_##_name,			\
	  .drop = drop_##_name, __VA_ARGS__ }
#define ONE(_size)	.part = { { 1, (_size) } }

/* Page by page; vmalloc() charges its array of pages to itself. */
#define VMALLOC		.pages = 16

static struct site sites[] = {
	SITE(kasprintf, ONE(sizeof("three small words 12345"))),
	SITE(kasprintf_strarray, .part = { { 1, 4 * sizeof(void *) },
					   { 3, sizeof("line-0") } }),
	SITE(kstrdup_quotable, ONE(sizeof("a \\x22quoted\\x22 word"))),
	SITE(kstrdup_const, ONE(sizeof(text))),
	SITE(match_strdup, ONE(11 + 1)),
	SITE(argv_split, .part = { { 1, sizeof(text) },
				   { 1, (3 + 2) * sizeof(void *) } }),
	SITE(bitmap_alloc, ONE(1024 / 8)),
	SITE(bitmap_zalloc, ONE(128 / 8)),
	SITE(bitmap_alloc_node, ONE(3008 / 8)),
	SITE(bitmap_zalloc_node, ONE(64 / 8)),
	SITE(posix_acl_alloc, ONE(sizeof(acl) +
				  ACL_ENTRIES * sizeof(struct posix_acl_entry))),
	SITE(posix_acl_from_mode, ONE(sizeof(acl) +
				      3 * sizeof(struct posix_acl_entry))),
	SITE(posix_acl_clone, ONE(sizeof(acl))),
	SITE(alloc_ts_config, ONE(TS_PRIV_ALIGN(sizeof(struct ts_config)) + 64)),
	SITE(dma_fence_chain, ONE(sizeof(struct dma_fence_chain))),
	SITE(spi_message, ONE(sizeof(struct spi_message) +
			      3 * sizeof(struct spi_transfer))),
	SITE(page_cache, .pages = 1),
	SITE(filemap_folio, .pages = 1, .order = 2),
	SITE(page_table, .pages = 1),
	SITE(vmalloc_user, VMALLOC),
	SITE(vmalloc_32, VMALLOC),
	SITE(__vmalloc, VMALLOC),
	SITE(vmalloc_node, VMALLOC),
	SITE(vzalloc_node, VMALLOC),
	SITE(vcalloc, VMALLOC),
	SITE(vmalloc_array, VMALLOC),
	SITE(vmalloc_32_user, VMALLOC),
	/* single pages, because vmalloc() splits a block that it gets */
	SITE(vmalloc_huge, .pages = PMD_SIZE / PAGE_SIZE),
	SITE(kvzalloc, ONE(700)),
	SITE(kvcalloc, ONE(7 * 50)),
	SITE(kvmalloc_array, ONE(3 * 1000)),
	SITE(kvmalloc_node, ONE(300)),
	SITE(kvzalloc_node, ONE(60)),
	SITE(memdup_user, ONE(sizeof(text))),
	SITE(memdup_user_nul, ONE(sizeof(text) - 1)),
	SITE(vmemdup_user, ONE(11)),
	SITE(strndup_user, ONE(sizeof(text))),
	SITE(quotable_file, ONE(sizeof(FILE_NAME))),
	{ .func = "make_quotable_cmdline", .make = make_quotable_cmdline,
	  .drop = drop_kasprintf, ONE(1) },
	{ .func = "make_krealloc_array", .make = make_krealloc_array,
	  .drop = drop_kasprintf, ONE(10 * 60) },
	SITE(bulk_list, .pages = BULK),
#ifdef CONFIG_CONTIG_ALLOC
	SITE(contig_range, .pages = RANGE),
#endif
	SITE(kvrealloc, ONE(1000)),
	SITE(kfifo, ONE(256)),
	SITE(ptr_ring, ONE(100 * sizeof(void *))),
	{ .func = "make_ring_resize", .make = make_ring_resize,
	  .drop = drop_ptr_ring, ONE(300 * sizeof(void *)) },
	SITE(list_lru, ONE(0)),
#ifdef CONFIG_CPUMASK_OFFSTACK
	SITE(cpumask, ONE(0)),
#endif
	SITE(genradix, .pages = 4),
	{ .func = "make_genradix_ptr", .make = make_genradix_ptr,
	  .drop = drop_genradix, .pages = 1 },
	{ .func = "format", .make = make_kvasprintf,
	  .drop = drop_kvasprintf, ONE(sizeof("12345677654321")) },
	{ .func = "format_const", .make = make_kvasprintf_const,
	  .drop = drop_kvasprintf_const, ONE(sizeof(text)) },
};

/* Sizes that only the running kernel knows */
static void measure(void)
{
	struct site *s;

	for (s = sites; s < sites + ARRAY_SIZE(sites); s++) {
		if (s->make == make_list_lru)
			s->part[0].size = nr_node_ids * sizeof(struct list_lru_node);
		if (s->make == make_cpumask)
			s->part[0].size = cpumask_size();
	}
}

static int drop(void)
{
	struct site *s;

	for (s = sites; s < sites + ARRAY_SIZE(sites); s++)
		while (s->live)
			s->drop(&s->thing[--s->live]);
	return 0;
}

static int make_all(void)
{
	struct site *s;

	for (s = sites; s < sites + ARRAY_SIZE(sites); s++)
		for (; s->live < LIVE; s->live++)
			if (s->make(s, &s->thing[s->live])) {
				pr_err("%s failed\n", s->func);
				return -ENOMEM;
			}
	return 0;
}

static int fill(void)
{
	unsigned long addr;
	int err;

	addr = vm_mmap(NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
		       MAP_ANONYMOUS | MAP_PRIVATE, 0);
	if (IS_ERR_VALUE(addr))
		return addr;
	user = (char __user *)addr;
	named = filp_open(FILE_NAME, O_RDONLY, 0);
	if (IS_ERR(named)) {
		err = PTR_ERR(named);
	} else {
		err = copy_to_user(user, text, sizeof(text)) ? -EFAULT : make_all();
		filp_close(named, NULL);
	}
	vm_munmap(addr, PAGE_SIZE);
	return err;
}

static const struct cmd cmds[] = {
	{ "fill", fill },
	{ "drop", drop },
};

static int command(char *line)
{
	return cmd_run(cmds, ARRAY_SIZE(cmds), line);
}

static void show_site(struct seq_file *m, const struct site *s)
{
	unsigned int calls = s->pages, i;
	size_t size;

	for (i = 0; i < PARTS; i++)
		calls += s->part[i].nr;
	seq_printf(m, "%s %u %u %u", s->func, s->line, calls * s->live,
		   (s->pages << s->order) * s->live);
	for (i = 0; i < PARTS; i++) {
		if (!s->part[i].nr)
			continue;
		size = kmalloc_size_roundup(s->part[i].size);
		seq_printf(m, " %u kmalloc-%zu%s", s->part[i].nr * s->live,
			   size % SZ_1K ? size : size / SZ_1K,
			   size % SZ_1K ? "" : "k");
	}
	seq_putc(m, '\n');
}

static void show_table(struct seq_file *m)
{
	struct site *s;

	for (s = sites; s < sites + ARRAY_SIZE(sites); s++)
		if (s->line)
			show_site(m, s);
}
DEFINE_SHOW_ATTRIBUTE(table);

static int __init cover_util_init(void)
{
	measure();
	cmd_init();
	return 0;
}

static void __exit cover_util_exit(void)
{
	debugfs_remove(cmd_dir);
	drop();
}

module_init(cover_util_init);
module_exit(cover_util_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Calls of helpers that allocate for their callers");
