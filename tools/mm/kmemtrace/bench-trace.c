// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench-trace DIR EVENTS LIVE: a long trace to measure kmemtrace-report with.
 *
 * Two CPUs take turns of a few dozen events, with time stamps. Nine of ten events
 * are of objects: an address that was freed last is the next to be given out, as
 * slab allocators do, and one of some LIVE objects is freed at random. One of ten
 * is of pages. 4000 call sites, a few of which do most, each with its size. The
 * same arguments make the same trace. It is of this machine's byte order.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <linux/kmemtrace.h>

#define CPUS	2
#define SITES	4000u
#define TURN	48u
#define PAGE	4096u

#define TEXT	0xffffffff81000000u
#define MEMORY	0xffff888000000000u
#define PAGES	0xffff8f0000000000u

/* addresses by number: those that are live, then those that are not */
struct pool {
	uint32_t *slots;
	uint32_t live;
	uint32_t room;
	uint64_t base;
	uint32_t step;
	uint8_t type;
};

static struct state {
	FILE *files[CPUS];
	unsigned int cpu;
	uint32_t sequence;
	uint64_t time;
	uint64_t random;
} s = { .time = 1, .random = 88172645463325252u };

static uint64_t rnd(void)
{
	s.random ^= s.random << 13;
	s.random ^= s.random >> 7;
	s.random ^= s.random << 17;
	return s.random;
}

static void feature(uint8_t **to, uint8_t id, uint64_t value)
{
	struct kmemtrace_feature head = { sizeof(head) + sizeof(value), id };

	memcpy(*to, &head, sizeof(head));
	memcpy(*to + sizeof(head), &value, sizeof(value));
	*to += head.size;
}

/* @body: of an allocation, or NULL */
static void record(const struct pool *pool, uint32_t slot, uint32_t site,
		   struct kmemtrace_alloc *body)
{
	uint8_t buffer[128] = { 0 }, *to = buffer;
	struct kmemtrace_event *event = (void *)buffer;

	if (body)
		memcpy(buffer, body, sizeof(*body));
	to += body ? sizeof(*body) : sizeof(*event);
	feature(&to, KMEMTRACE_FEATURE_TIME, s.time);
	if (!body && pool->type == KMEMTRACE_TYPE_PAGES)
		feature(&to, KMEMTRACE_FEATURE_BYTES, PAGE);
	event->event_id = body ? KMEMTRACE_EVENT_ALLOC : KMEMTRACE_EVENT_FREE;
	event->type_id = pool->type;
	event->event_size = (to - buffer + KMEMTRACE_ALIGN - 1) &
			    ~(KMEMTRACE_ALIGN - 1);
	event->sequence_number = s.sequence++;
	event->call_site = TEXT + 64ull * site;
	event->ptr = pool->base + (uint64_t)slot * pool->step;
	fwrite(buffer, 1, event->event_size, s.files[s.cpu]);
}

static void happen(struct pool *pool)
{
	uint64_t r = rnd();
	uint32_t site = (r % SITES) * (r / SITES % SITES) / SITES, slot, i;
	struct kmemtrace_alloc body = { .target_cpu = -1 };

	if (pool->live < pool->room / 2 ||
	    (r >> 63 && pool->live < pool->room)) {
		slot = pool->slots[pool->live++];
		body.bytes_req = pool->type == KMEMTRACE_TYPE_PAGES ? PAGE :
				 8 + site % 248;
		body.bytes_alloc = (body.bytes_req + 31) & ~31u;
		record(pool, slot, site, &body);
	} else {
		i = (r >> 32) % pool->live--;
		slot = pool->slots[i];
		pool->slots[i] = pool->slots[pool->live];
		pool->slots[pool->live] = slot;
		record(pool, slot, SITES + site % 100, NULL);
	}
}

static void make(uint64_t events, struct pool *objects, struct pool *pages)
{
	uint64_t i;

	for (i = 0; i < events; i++) {
		if (i % TURN == 0)
			s.cpu = rnd() % CPUS;
		s.time += rnd() % 512;
		happen(rnd() % 10 ? objects : pages);
	}
}

static void pool_init(struct pool *pool, uint32_t live)
{
	uint32_t i;

	pool->room = live * 2;
	pool->slots = calloc(pool->room, sizeof(*pool->slots));
	if (!pool->slots)
		exit(1);
	for (i = 0; i < pool->room; i++)
		pool->slots[i] = i;
}

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static void header(const char *dir)
{
	const uint16_t one = 1;
	FILE *file = create(dir, "header");

	fprintf(file,
		"kmemtrace 1\nabi_version 2\nbyte_order %s\nword_bits 64\npage_size %u\nclock monotonic\nmachine bench\nrelease 0\nfeatures time\nstarted 2020-01-01T00:00:00Z\ncomplete yes\ncpus 0 1\nlost 0 0 0\nlost 1 0 0\nend\n",
		*(const uint8_t *)&one ? "little" : "big", PAGE);
	if (fclose(file))
		exit(1);
}

int main(int argc, char **argv)
{
	struct pool objects = {
		.base = MEMORY, .step = 256, .type = KMEMTRACE_TYPE_KMALLOC,
	};
	struct pool pages = {
		.base = PAGES, .step = PAGE, .type = KMEMTRACE_TYPE_PAGES,
	};
	uint32_t live;

	if (argc != 4 || strtoul(argv[3], NULL, 10) < 20) {
		fputs("Usage: bench-trace DIR EVENTS LIVE (20 or more)\n", stderr);
		return 1;
	}
	live = strtoul(argv[3], NULL, 10);
	pool_init(&objects, live - live / 10);
	pool_init(&pages, live / 10);
	mkdir(argv[1], 0777);
	s.files[0] = create(argv[1], "cpu0.out");
	s.files[1] = create(argv[1], "cpu1.out");
	make(strtoull(argv[2], NULL, 10), &objects, &pages);
	header(argv[1]);
	return fclose(s.files[0]) | fclose(s.files[1]);
}
