// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readings of /proc/allocinfo, and the tags that grew between them.
 */
#include "faultwalk.h"
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../../../include/uapi/linux/alloc_tag.h"

#define INFO		"/proc/allocinfo"
#define DROP		"/proc/sys/vm/drop_caches"

static struct tag {
	bool used;
	bool chance;		/* its calls change by chance, so it is never a leak */
	unsigned int cleared;	/* how often it was a suspect for nothing */
	long most;		/* calls in any reading */
	struct allocinfo_tag id;
	long calls[NR_READINGS];
	long bytes[NR_READINGS];
} *tags;

#define NR_TAGS		(1U << 14)
#define PATIENCE	3	/* a tag that was cleared so often must exceed its maximum */

/*
 * Chance decides how many slabs hold a few objects, and when areas of vmalloc() are unmapped
 * whose pages have been freed.  Loading a module may split large pages of the direct map, which
 * nobody joins again.  KASAN keeps the shadow of areas of vmalloc(), and the kernel their page
 * tables, whose addresses rise until lazy areas are purged.  The stack of one more task is
 * four calls, and stacks are kept for the next tasks; a lost task shows at alloc_task_struct_node().
 */
static bool is_chance(const struct allocinfo_tag *id)
{
	return !strncmp(id->function, "alloc_slab_page", 15) ||
	       !strcmp(id->function, "memcg_alloc_slab_cgroups") ||
	       !strcmp(id->function, "preload_this_cpu_lock") ||
	       !strcmp(id->function, "alloc_vmap_area") ||
	       !strcmp(id->function, "__pte_alloc_kernel") ||
	       !strcmp(id->function, "adjust_va_to_fit_type") ||
	       !strcmp(id->function, "split_large_page") ||
	       !strcmp(id->function, "alloc_thread_stack_node") ||
	       !strcmp(id->function, "___alloc_pages_bulk");
}

static uint32_t hash_text(uint32_t hash, const char *p)
{
	for (; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 16777619;
	return hash;
}

static bool same_id(const struct allocinfo_tag *a, const struct allocinfo_tag *b)
{
	return a->lineno == b->lineno && !strcmp(a->function, b->function) &&
	       !strcmp(a->filename, b->filename) && !strcmp(a->modname, b->modname);
}

static struct tag *find_tag(const struct allocinfo_tag *id)
{
	uint32_t hash = hash_text(hash_text(2166136261 ^ (uint32_t)id->lineno, id->filename),
				  id->function);
	struct tag *t;

	for (uint32_t i = 0; i < NR_TAGS; i++) {
		t = &tags[(hash + i) % NR_TAGS];
		if (!t->used) {
			t->used = true;
			t->id = *id;
			t->chance = is_chance(id);
			return t;
		}
		if (same_id(&t->id, id))
			return t;
	}
	die("too many lines in " INFO);
}

static void add_record(enum reading r, const struct allocinfo_tag_data *d)
{
	struct tag *t = find_tag(&d->tag);

	t->bytes[r] += d->counter.bytes;
	t->calls[r] += d->counter.calls;
}

/* The records without memory are left out: they are most of all. */
static void read_info(enum reading r)
{
	static int fd = -1;
	struct allocinfo_get_at at = {
		.filter = { .mask = ALLOCINFO_FILTER_MASK_MIN_SIZE, .min_size = 1 },
	};

	if (fd < 0)
		fd = open(INFO, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, ALLOCINFO_IOC_GET_AT, &at))
		die("%s: %s", INFO, strerror(errno));
	do
		add_record(r, &at.data);
	while (!ioctl(fd, ALLOCINFO_IOC_GET_NEXT, &at.data));
	if (errno != ENOENT)
		die("%s: %s", INFO, strerror(errno));
}

static void grace_period(void)
{
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
}

/* Frees caches, and by a shrinker the objects that kfree_rcu() holds back. */
void drop_caches(void)
{
	write_text(DROP, "3");
}

void settle(unsigned int ms)
{
	grace_period();
	drop_caches();
	drop_caches();
	grace_period();
	grace_period();
	pause_ms(ms);
}

void take_reading(enum reading r, unsigned int ms)
{
	settle(ms);
	for (unsigned int i = 0; i < NR_TAGS; i++)
		tags[i].calls[r] = tags[i].bytes[r] = 0;
	read_info(r);
	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (tags[i].calls[r] > tags[i].most && r == BEFORE)
			tags[i].most = tags[i].calls[r];
}

/* The reading becomes the one that the next points are compared with. */
void keep_reading(enum reading r)
{
	for (unsigned int i = 0; i < NR_TAGS; i++) {
		tags[i].calls[BEFORE] = tags[i].calls[r];
		tags[i].bytes[BEFORE] = tags[i].bytes[r];
		if (tags[i].calls[r] > tags[i].most)
			tags[i].most = tags[i].calls[r];
	}
}

/* Has the tag more calls than before the fault? */
static bool is_suspect(const struct tag *t)
{
	long limit = t->cleared < PATIENCE ? t->calls[BEFORE] : t->most;

	return t->used && !t->chance && t->calls[AFTER_ONE] > limit;
}

bool any_suspect(void)
{
	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (is_suspect(&tags[i]))
			return true;
	return false;
}

/* Did a suspect grow again by one more fault? The others are cleared. */
bool suspect_again(void)
{
	bool again = false;

	for (unsigned int i = 0; i < NR_TAGS; i++) {
		struct tag *t = &tags[i];

		if (!is_suspect(t))
			continue;
		if (t->calls[AFTER_MORE] > t->calls[AFTER_ONE])
			again = true;
		else
			t->cleared++;
	}
	return again;
}

static bool grew(const struct tag *t, enum reading from, enum reading to)
{
	return t->calls[to] - t->calls[from] >= MORE;
}

bool any_grew(enum reading to)
{
	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (tags[i].used && !tags[i].chance && grew(&tags[i], AFTER_ONE, to))
			return true;
	return false;
}

static bool is_leak(const struct tag *t)
{
	return t->used && !t->chance && grew(t, AFTER_ONE, AFTER_MORE) &&
	       grew(t, AFTER_ONE, RESTED) && grew(t, RESTED, AFTER_AGAIN);
}

long bytes_more(void)
{
	long n = 0;

	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (tags[i].used && !tags[i].chance)
			n += tags[i].bytes[AFTER_MORE] - tags[i].bytes[AFTER_ONE];
	return n;
}

/* Append the tag to the finding, truncated to the room that is left. */
static void name_leak(struct finding *f, const struct tag *t)
{
	size_t len = strlen(f->leak);

	snprintf(f->leak + len, sizeof(f->leak) - len, "%s%s:%llu%s%s%s:func:%s+%ld/%d=%ldB",
		 len ? "," : "", t->id.filename, (unsigned long long)t->id.lineno,
		 *t->id.modname ? ":[" : "", t->id.modname, *t->id.modname ? "]" : "",
		 t->id.function, t->calls[AFTER_AGAIN] - t->calls[RESTED], MORE,
		 t->bytes[AFTER_AGAIN] - t->bytes[RESTED]);
}

void name_leaks(struct finding *f)
{
	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (is_leak(&tags[i]))
			name_leak(f, &tags[i]);
}

/* Treat the present leaks as chance from now on: they grow without a fault. */
void forget_leaks(void)
{
	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (is_leak(&tags[i]))
			tags[i].chance = true;
}

void set_up_readings(void)
{
	tags = big(NR_TAGS * sizeof(*tags));
	/* do not log that caches are dropped */
	write_text(DROP, "4");
}
