// SPDX-License-Identifier: GPL-2.0-only
/*
 * Readings of /proc/allocinfo, and the tags that grew between them.
 */
#include "faultwalk.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INFO		"/proc/allocinfo"
#define DROP		"/proc/sys/vm/drop_caches"

static struct tag {
	char *name;
	bool chance;		/* its calls change by chance, so it is never a leak */
	long calls[NR_READINGS];
	long bytes[NR_READINGS];
} *tags;

#define NR_TAGS		(1U << 15)

static struct text info;

static struct tag *find_tag(const char *name, size_t len)
{
	uint32_t hash = 2166136261;
	struct tag *t;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619;
	for (uint32_t i = 0; i < NR_TAGS; i++) {
		t = &tags[(hash + i) % NR_TAGS];
		if (!t->name)
			break;
		if (!strncmp(t->name, name, len) && !t->name[len])
			return t;
		t = NULL;
	}
	if (!t)
		die("too many lines in " INFO);
	t->name = strndup(name, len);
	/* chance decides how many slabs hold a few objects */
	t->chance = strstr(t->name, "func:alloc_slab_page") ||
		    strstr(t->name, "func:memcg_alloc_slab_cgroups");
	return t;
}

/* "  BYTES  CALLS FILE:LINE [MODULE] func:FUNC accurate:no " */
static void add_line(enum reading r, const char *line)
{
	char *p;
	long bytes = strtol(line, &p, 10);
	long calls;
	size_t len;
	struct tag *t;

	if (p == line)
		return;		/* the heading */
	calls = strtol(p, &p, 10);
	p += strspn(p, " ");
	len = strcspn(p, "\n");
	while (len && p[len - 1] == ' ')
		len--;
	t = find_tag(p, len);
	t->bytes[r] += bytes;
	t->calls[r] += calls;
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
	read_text(&info, INFO);
	for (unsigned int i = 0; i < NR_TAGS; i++)
		tags[i].calls[r] = tags[i].bytes[r] = 0;
	for (const char *p = info.p; p; p = next_line(p))
		add_line(r, p);
}

static bool grew(const struct tag *t, enum reading from, enum reading to)
{
	return t->calls[to] - t->calls[from] >= MORE;
}

bool any_grew(enum reading to)
{
	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (tags[i].name && !tags[i].chance && grew(&tags[i], AFTER_ONE, to))
			return true;
	return false;
}

static bool is_leak(const struct tag *t)
{
	return t->name && !t->chance && grew(t, AFTER_ONE, AFTER_MORE) &&
	       grew(t, AFTER_ONE, RESTED) && grew(t, RESTED, AFTER_AGAIN);
}

long bytes_more(void)
{
	long n = 0;

	for (unsigned int i = 0; i < NR_TAGS; i++)
		if (tags[i].name && !tags[i].chance)
			n += tags[i].bytes[AFTER_MORE] - tags[i].bytes[AFTER_ONE];
	return n;
}

/* Append the tag to the finding, truncated to the room that is left. */
static void name_leak(struct finding *f, const struct tag *t)
{
	size_t len = strlen(f->leak);

	snprintf(f->leak + len, sizeof(f->leak) - len, "%s%s+%ld/%d", len ? "," : "", t->name,
		 t->calls[AFTER_AGAIN] - t->calls[RESTED], MORE);
	for (char *p = f->leak + len; *p; p++)
		if (*p == ' ')
			*p = ':';
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
