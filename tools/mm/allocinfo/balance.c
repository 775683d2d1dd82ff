// SPDX-License-Identifier: GPL-2.0-only
/*
 * The balance of /proc/allocinfo and /proc/meminfo, see balance.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "balance.h"
#include "number.h"
#include "rows.h"
#include "util.h"

/* Data */

/* Large machines have long files: zoneinfo has ten lines for each CPU and zone. */
#define TEXT_SIZE	(4u << 20)

/**
 * struct part_rule - call sites of a part
 * @part: the part
 * @file: source file; a star in it stands for any characters
 * @func: function, as @file; NULL for all
 *
 * The first rule that matches counts. The names are those of Linux 6.1 with our patches,
 * of mainline 6.12 and of mainline 7.3. A page table is allocated in a function of the
 * architecture, or in the function that populates a level.
 */
static const struct part_rule {
	enum balance_part part;
	const char *file;
	const char *func;
} rules[] = {
	{ PART_SLABS,	"mm/slub.c",		"alloc_slab_page" },
	{ PART_SLABS,	"mm/slab.c",		"kmem_getpages" },
	{ PART_PERCPU,	"mm/percpu-vm.c",	"pcpu_alloc_pages" },
	{ PART_PERCPU,	"mm/percpu-km.c",	"pcpu_create_chunk" },
	{ PART_STACKS,	"kernel/fork.c",	"alloc_thread_stack_node*" },
	{ PART_STACKS,	"kernel/fork.c",	"__alloc_thread_stack_node*" },
	{ PART_TABLES,	"arch/*",		"pte_alloc_one*" },
	{ PART_TABLES,	"arch/*",		"pgd_alloc*" },
	{ PART_TABLES,	"arch/*",		"_pgd_alloc*" },
	{ PART_TABLES,	"arch/*",		"__pgd_alloc*" },
	{ PART_TABLES,	"mm/memory.c",		"__p4d_alloc" },
	{ PART_TABLES,	"mm/memory.c",		"__pud_alloc" },
	{ PART_TABLES,	"mm/memory.c",		"__pmd_alloc" },
	{ PART_TABLES,	"mm/memory.c",		"__pte_alloc*" },
	{ PART_TABLES,	"mm/pgtable-generic.c",	"p*_alloc*" },
	{ PART_HUGE,	"mm/hugetlb.c",		"alloc_*" },
	{ PART_USER,	"mm/filemap.c",		NULL },
	{ PART_USER,	"mm/readahead.c",	NULL },
	{ PART_USER,	"mm/memory.c",		NULL },
	{ PART_USER,	"mm/shmem.c",		"shmem_alloc_*folio" },
	{ PART_USER,	"mm/mempolicy.c",	NULL },
	{ PART_USER,	"mm/swap_state.c",	NULL },
	{ PART_USER,	"mm/huge_memory.c",	NULL },
	{ PART_USER,	"mm/khugepaged.c",	NULL },
	{ PART_USER,	"mm/migrate.c",		NULL },
	{ PART_USER,	"mm/ksm.c",		NULL },
	{ PART_USER,	"mm/userfaultfd.c",	NULL },
	{ PART_USER,	"mm/secretmem.c",	NULL },
};

/* The lines of /proc/meminfo that add up to a part. */
static const struct {
	enum balance_part part;
	const char *name;
} lines[] = {
	{ PART_USER,	"Cached" },	/* with shared memory */
	{ PART_USER,	"Buffers" },
	{ PART_USER,	"AnonPages" },	/* with mapped pages of SwapCached */
	{ PART_STACKS,	"KernelStack" },
	{ PART_TABLES,	"PageTables" },
	{ PART_PERCPU,	"Percpu" },
	{ PART_HUGE,	"Hugetlb" },
};

static const char * const part_names[NR_PARTS] = {
	[PART_SLABS] = "slabs",
	[PART_USER] = "user",
	[PART_STACKS] = "stacks",
	[PART_TABLES] = "tables",
	[PART_PERCPU] = "per-CPU",
	[PART_HUGE] = "huge",
};

/* Internals: text */

/* Returns the next line, or NULL. */
static const char *next_line(const char *at)
{
	const char *end = strchr(at, '\n');

	return end && end[1] ? end + 1 : NULL;
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

/* A number that follows blanks; saturates, because a damaged file may have any number. */
static bool take(const char **at, int64_t *number)
{
	uint64_t value;

	if (!number_take(skip_blanks(*at), &value, at))
		return false;
	*number = min_u64(value, INT64_MAX);
	return true;
}

static int64_t times(int64_t a, int64_t b)
{
	int64_t product;

	return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* The values of the lines "NAME VALUE" of zoneinfo, added up. */
static int64_t sum_of_lines(const char *text, const char *name)
{
	size_t len = strlen(name);
	int64_t sum = 0, value;
	const char *at;

	for (; text; text = next_line(text)) {
		at = skip_blanks(text);
		if (strncmp(at, name, len))
			continue;
		at += len;
		if (take(&at, &value))
			sum = add_counts(sum, value);
	}
	return sum;
}

/**
 * meminfo_bytes - read a figure of /proc/meminfo
 * @meminfo: the text
 * @name: name of the line, without the colon
 *
 * Return: the bytes, or BALANCE_UNKNOWN if there is no such line.
 */
int64_t meminfo_bytes(const char *meminfo, const char *name)
{
	size_t len = strlen(name);
	int64_t kib;

	for (; meminfo; meminfo = next_line(meminfo)) {
		if (strncmp(meminfo, name, len) || meminfo[len] != ':')
			continue;
		meminfo += len + 1;
		return take(&meminfo, &kib) ? times(kib, 1024) : BALANCE_UNKNOWN;
	}
	return BALANCE_UNKNOWN;
}

/*
 * A line of slabinfo: name, active objects, objects, size, objects per slab, pages per
 * slab, " : tunables", three numbers, " : slabdata", active slabs, slabs, ...
 */
static bool add_cache(const char *line, int64_t *objects, int64_t *pages)
{
	int64_t active, all, size, per_slab, slab_pages, active_slabs, slabs;
	const char *at = line + strcspn(line, "\n "), *data;

	if (*line == '#' || !take(&at, &active) || !take(&at, &all) || !take(&at, &size) ||
	    !take(&at, &per_slab) || !take(&at, &slab_pages))
		return false;
	data = strstr(at, ": slabdata");
	if (!data || data - at > (ptrdiff_t)strcspn(at, "\n"))
		return false;
	at = data + strlen(": slabdata");
	if (!take(&at, &active_slabs) || !take(&at, &slabs))
		return false;
	*objects = add_counts(*objects, times(active, size));
	*pages = add_counts(*pages, times(slabs, slab_pages));
	return true;
}

/* Adds up slabinfo; false if it has no caches, as with a kernel without it. */
static bool sum_slabs(const char *text, int64_t *objects, int64_t *pages)
{
	bool found = false;

	*objects = 0;
	*pages = 0;
	for (; text; text = next_line(text))
		found |= add_cache(text, objects, pages);
	return found;
}

/* Internals: call sites */

/* Kernels that were built in another directory have "../" or "./" before a name. */
static const char *kernel_path(const char *file)
{
	while (*file == '.') {
		if (!strncmp(file, "./", 2))
			file += 2;
		else if (!strncmp(file, "../", 3))
			file += 3;
		else
			break;
	}
	return file;
}

/* A star stands for any characters. */
static bool name_matches(const char *rule, const char *name)
{
	const char *star = strchr(rule, '*');
	size_t len = star ? (size_t)(star - rule) : 0;

	if (!star)
		return !strcmp(rule, name);
	if (strncmp(rule, name, len))
		return false;
	for (name += len; star[1]; name++) {
		if (name_matches(star + 1, name))
			return true;
		if (!*name)
			return false;
	}
	return true;
}

static bool rule_matches(const struct part_rule *rule, const char *file, const char *func)
{
	return *file == *rule->file && name_matches(rule->file, file) &&
	       (!rule->func || name_matches(rule->func, func));
}

static void sum_sites(struct balance *balance, const struct table *table)
{
	enum balance_part part;
	size_t i;

	for (i = 0; i < table->nr; i++) {
		const struct site *site = &table->sites[i];

		balance->table = add_counts(balance->table, site->bytes);
		if (!site->bytes)
			continue;
		part = balance_part_of(site);
		if (part < NR_PARTS)
			balance->parts[part].sites = add_counts(balance->parts[part].sites,
								site->bytes);
	}
}

/* Internals: the balance */

static void read_meminfo(struct balance *balance, const char *meminfo)
{
	int64_t *kernel, bytes;
	size_t i;

	for (i = 0; i < NR_PARTS; i++)
		balance->parts[i].kernel = BALANCE_UNKNOWN;
	for (i = 0; i < ARRAY_SIZE(lines); i++) {
		bytes = meminfo_bytes(meminfo, lines[i].name);
		kernel = &balance->parts[lines[i].part].kernel;
		if (bytes != BALANCE_UNKNOWN)
			*kernel = *kernel == BALANCE_UNKNOWN ? bytes : add_counts(*kernel, bytes);
	}
}

static void read_zoneinfo(struct balance *balance, const struct balance_text *text)
{
	balance->lists = BALANCE_UNKNOWN;
	balance->reserved = BALANCE_UNKNOWN;
	if (!text->zoneinfo)
		return;
	balance->lists = times(sum_of_lines(text->zoneinfo, "count:"), text->page_size);
	balance->reserved = times(sum_of_lines(text->zoneinfo, "present ") -
				  sum_of_lines(text->zoneinfo, "managed "), text->page_size);
}

/*
 * If profiling was off when some slabs were allocated, the table has neither their pages
 * nor, usually, the objects in them. The others are as full as slabs are on average.
 */
static void count_objects(struct balance *balance, const struct balance_text *text)
{
	int64_t held = balance->parts[PART_SLABS].sites, objects, pages;

	balance->slab_objects = held;
	balance->have_slabinfo = text->slabinfo && sum_slabs(text->slabinfo, &objects, &pages);
	if (!balance->have_slabinfo) {
		balance->margin = held;
		return;
	}
	pages = times(pages, text->page_size);
	balance->parts[PART_SLABS].kernel = pages;
	if (pages > held)
		objects = (double)objects * held / pages;
	if (objects < held)
		balance->slab_objects = objects;
}

/**
 * balance_part_of - find the part that the memory of a call site belongs to
 * @site: the call site, or one of the call sites of a function
 *
 * The result depends on the names of file, function and module only, so it is the same for
 * all call sites of a function. Only built-in code allocates what the parts consist of.
 *
 * Return: the part, or NR_PARTS if it belongs to none.
 */
enum balance_part balance_part_of(const struct site *site)
{
	const char *file = kernel_path(site->file);
	size_t i;

	if (site->module[0] || (*file != 'm' && *file != 'a' && *file != 'k'))
		return NR_PARTS;
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		if (rule_matches(&rules[i], file, site->func))
			return rules[i].part;
	return NR_PARTS;
}

/**
 * balance_holds_objects - are the objects in these pages on lines of their own?
 * @site: the call site, or one of the call sites of a function
 *
 * Return: true for the pages of slabs and of per-CPU chunks: each object in them is on the
 * line of its own call site, too.
 */
bool balance_holds_objects(const struct site *site)
{
	enum balance_part part = balance_part_of(site);

	return part == PART_SLABS || part == PART_PERCPU;
}

/**
 * balance_holds_counters - are these the per-CPU parts of the counters of profiling?
 * @site: the call site
 *
 * Return: true for the call site in lib/lazy-percpu-counter.c of the kernel, which allocates at
 * most one for each call site and does not free them.
 */
bool balance_holds_counters(const struct site *site)
{
	return !site->module[0] && !strcmp(site->func, "give_parts") &&
	       !strcmp(kernel_path(site->file), "lib/lazy-percpu-counter.c");
}

/**
 * balance_make - balance a table with the files of the same machine and time
 * @balance: result
 * @table: the table
 * @text: the other files
 *
 * Return: false if @text has no MemTotal or no MemFree; then only the sums over the table
 * are valid.
 */
bool balance_make(struct balance *balance, const struct table *table,
		  const struct balance_text *text)
{
	const struct part_sum *percpu = &balance->parts[PART_PERCPU];

	*balance = (struct balance) { 0 };
	sum_sites(balance, table);
	read_meminfo(balance, text->meminfo);
	read_zoneinfo(balance, text);
	count_objects(balance, text);
	balance->objects = add_counts(balance->slab_objects, percpu->sites);
	balance->margin += max_u64(percpu->sites, percpu->kernel > 0 ? percpu->kernel : 0);
	balance->sites = add_counts(balance->table, -balance->objects);
	balance->total = meminfo_bytes(text->meminfo, "MemTotal");
	balance->free = meminfo_bytes(text->meminfo, "MemFree");
	if (balance->total == BALANCE_UNKNOWN || balance->free == BALANCE_UNKNOWN)
		return false;
	balance->none = add_counts(balance->total - balance->free, -balance->sites);
	if (balance->lists != BALANCE_UNKNOWN)
		balance->none = add_counts(balance->none, -balance->lists);
	return true;
}

static char *read_text(const struct source *source, const char *name)
{
	char *text = need_memory(TEXT_SIZE, 1);

	if (source_file(source, name, text, TEXT_SIZE) > 0)
		return text;
	free(text);
	return NULL;
}

/* Size of a page of the machine that the files are from, which need not be this one. */
static long page_size_of(const char *meminfo, const char *zoneinfo)
{
	double total = meminfo_bytes(meminfo, "MemTotal");
	double pages = zoneinfo ? sum_of_lines(zoneinfo, "managed ") : 0;
	long size;

	for (size = 4096; size <= 65536; size *= 2) {
		if (pages > 0 && fabs(total / pages / size - 1) < 0.25)
			return size;
	}
	return sysconf(_SC_PAGESIZE);
}

/**
 * balance_read - balance a table with the files of the machine
 * @balance: result
 * @table: the table, just read
 * @source: the machine
 *
 * Return: as balance_make().
 */
bool balance_read(struct balance *balance, const struct table *table,
		  const struct source *source)
{
	char *zoneinfo = read_text(source, "zoneinfo");
	char *meminfo = read_text(source, "meminfo");
	char *slabinfo = read_text(source, "slabinfo");
	struct balance_text text = { meminfo ? meminfo : "", slabinfo, zoneinfo, 0 };
	bool good;

	text.page_size = page_size_of(text.meminfo, zoneinfo);
	good = balance_make(balance, table, &text);
	free(zoneinfo);
	free(meminfo);
	free(slabinfo);
	return good;
}

/**
 * balance_missing - memory of a part that is on no line
 * @balance: the balance
 * @part: the part
 *
 * Memory that was allocated before profiling was on, is on no line. Call sites may hold
 * more than the kernel reports for the part, as they also allocate memory of other kinds,
 * so the result is what is missing at least.
 *
 * Return: the bytes; 0 if nothing is missing or if it is unknown.
 */
int64_t balance_missing(const struct balance *balance, enum balance_part part)
{
	const struct part_sum *sum = &balance->parts[part];

	/* The first chunk is not in MemTotal, so Percpu says nothing about what is missing. */
	if (part == PART_PERCPU || sum->kernel == BALANCE_UNKNOWN || sum->kernel <= sum->sites)
		return 0;
	return sum->kernel - sum->sites;
}

/**
 * balance_unexplained - memory on no line that no part explains
 * @balance: the balance
 *
 * Return: the bytes; below 0 if the parts explain more than there is.
 */
int64_t balance_unexplained(const struct balance *balance)
{
	int64_t rest = balance->none;
	size_t i;

	for (i = 0; i < NR_PARTS; i++)
		rest = add_counts(rest, -balance_missing(balance, i));
	return rest;
}

/**
 * balance_part_name - name of a part
 * @part: the part
 *
 * Return: the name, in the plural, to be used in a sentence.
 */
const char *balance_part_name(enum balance_part part)
{
	return part_names[part];
}
