// SPDX-License-Identifier: GPL-2.0-only
/*
 * bench-trace DIR EVENTS LIVE: write a long trace, to measure kmemtrace-report.
 * bench-trace --trace-cmd FILE EVENTS LIVE: write the same events in the format of
 * ftrace, to measure "trace-cmd report FILE".
 *
 * Four CPUs take turns; a turn is a few dozen events. The events have time stamps and pids,
 * because kmemtrace and ftrace record both. There are four CPUs because trace-cmd 3.1 maps
 * each page separately if a CPU has more than 2 GiB: after a few million events it reaches
 * the limit of mappings, and exits without a message. 100 million events of two CPUs would
 * exceed 2 GiB for each.
 *
 * Nine of ten events concern objects, one of ten concerns pages. As in a slab allocator,
 * the address that was freed last is allocated next. About LIVE objects are live, and a
 * free takes a random one. There are 4000 call sites, each with its own size; a few of
 * them make most of the allocations. The same arguments make the same trace. Its byte
 * order is that of this machine.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/kmemtrace.h>

#include "util.h"

#define CPUS	4
#define SITES	4000u
#define FREERS	100u	/* call sites that free */
#define TURN	48u
#define PAGE	4096u
#define PID	1000

#define TEXT	0xffffffff81000000u
#define MEMORY	0xffff888000000000u
#define PAGES	0xffff8f0000000000u

#define GFP_KERNEL	0xcc0u
#define FIRST_PFN	0x100000u

/* numbers of addresses: first those that are live, then those that are free */
struct pool {
	uint32_t *slots;
	uint32_t live;
	uint32_t room;
	uint64_t base;
	uint32_t step;
	uint8_t type;
};

/* An allocation, or a free if @requested is 0. */
struct event {
	const struct pool *pool;
	uint32_t slot;
	uint64_t ptr;
	uint64_t call_site;
	uint64_t requested;
	uint64_t allocated;
};

static struct state {
	void (*record)(const struct event *event);
	unsigned int cpu;
	uint32_t sequence;
	uint64_t time;
	uint64_t random;
} s = { .time = 1, .random = 88172645463325252u };

static const uint16_t one = 1;

static bool little_endian(void)
{
	return *(const uint8_t *)&one;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void put_symbols(FILE *file)
{
	uint32_t i;

	for (i = 0; i < SITES + FREERS; i++)
		fprintf(file, "%016llx T site_%u\n",
			TEXT + 64ull * i, i);
}

/* The format of kmemtraced */

static FILE *files[CPUS];

static void feature(uint8_t **to, uint8_t id, const void *value, size_t size)
{
	struct kmemtrace_feature head = { sizeof(head) + size, id };

	memcpy(*to, &head, sizeof(head));
	memcpy(*to + sizeof(head), value, size);
	*to += head.size;
}

static void record_kmemtrace(const struct event *e)
{
	static const int32_t pid = PID;
	static const uint64_t page = PAGE;
	uint8_t buffer[128] = { 0 }, *to = buffer;
	struct kmemtrace_event *event = (void *)buffer;
	struct kmemtrace_alloc body = {
		.bytes_req = e->requested,
		.bytes_alloc = e->allocated,
		.gfp_flags = GFP_KERNEL,
		.target_cpu = -1,
	};

	if (e->requested)
		memcpy(buffer, &body, sizeof(body));
	to += e->requested ? sizeof(body) : sizeof(*event);
	feature(&to, KMEMTRACE_FEATURE_TIME, &s.time, sizeof(s.time));
	feature(&to, KMEMTRACE_FEATURE_PID, &pid, sizeof(pid));
	if (!e->requested && e->pool->type == KMEMTRACE_TYPE_PAGES)
		feature(&to, KMEMTRACE_FEATURE_BYTES, &page, sizeof(page));
	event->event_id = e->requested ? KMEMTRACE_EVENT_ALLOC :
					 KMEMTRACE_EVENT_FREE;
	event->type_id = e->pool->type;
	event->event_size = (to - buffer + KMEMTRACE_ALIGN - 1) &
			    ~(KMEMTRACE_ALIGN - 1);
	event->sequence_number = s.sequence++;
	event->call_site = e->call_site;
	event->ptr = e->ptr;
	fwrite(buffer, 1, event->event_size, files[s.cpu]);
}

static FILE *create(const char *dir, const char *name)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, "w");
	if (!file)
		die(path);
	return file;
}

static void begin_kmemtrace(const char *dir)
{
	char name[32];
	int i;

	mkdir(dir, 0777);
	for (i = 0; i < CPUS; i++) {
		snprintf(name, sizeof(name), "cpu%d.out", i);
		files[i] = create(dir, name);
	}
	s.record = record_kmemtrace;
}

static int end_kmemtrace(const char *dir)
{
	FILE *file = create(dir, "header");
	int bad = 0, i;

	fprintf(file,
		"kmemtrace 1\nabi_version 2\nbyte_order %s\nword_bits 64\npage_size %u\nclock monotonic\nmachine bench\nrelease 0\nfeatures time pid\nstarted 2020-01-01T00:00:00Z\ncomplete yes\ncpus 0 1 2 3\nspan whole\nlost 0 0 0\nsection kallsyms\n",
		little_endian() ? "little" : "big", PAGE);
	put_symbols(file);
	fputs("end\n", file);
	for (i = 0; i < CPUS; i++)
		bad |= fclose(files[i]);
	return fclose(file) | bad;
}

/*
 * The format of trace-cmd record: trace-cmd.dat.v6(5), with the events of Linux 6.1 in
 * pages of its ring buffer.
 */

struct common {
	uint16_t type;
	uint8_t flags;
	uint8_t preempt_count;
	int32_t pid;
};

struct kmalloc_event {
	struct common common;
	uint64_t call_site;
	uint64_t ptr;
	uint64_t bytes_req;
	uint64_t bytes_alloc;
	uint64_t gfp_flags;
	int32_t node;
	uint32_t filling;
};

struct kfree_event {
	struct common common;
	uint64_t call_site;
	uint64_t ptr;
};

struct page_alloc_event {
	struct common common;
	uint64_t pfn;
	uint32_t order;
	uint32_t filling;
	uint64_t gfp_flags;
	int32_t migratetype;
	uint32_t filling_too;
};

struct page_free_event {
	struct common common;
	uint64_t pfn;
	uint32_t order;
	uint32_t filling;
};

enum { EVENT_KMALLOC = 500, EVENT_KFREE, EVENT_PAGE_ALLOC, EVENT_PAGE_FREE };

#define FIELD(type, name, offset, size, is_signed) \
	"\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size \
	";\tsigned:" #is_signed ";\n"
#define PRINT(...) #__VA_ARGS__

/* The "format" files of the events; %s stands for the names of the gfp flags. */
static const struct format {
	uint16_t id;
	const char *name;
	const char *fields;
	const char *print;
} formats[] = {
	{ EVENT_KMALLOC, "kmalloc",
	  FIELD("unsigned long", "call_site", 8, 8, 0)
	  FIELD("const void *", "ptr", 16, 8, 0)
	  FIELD("size_t", "bytes_req", 24, 8, 0)
	  FIELD("size_t", "bytes_alloc", 32, 8, 0)
	  FIELD("unsigned long", "gfp_flags", 40, 8, 0)
	  FIELD("int", "node", 48, 4, 1),
	  PRINT("call_site=%%pS ptr=%%p bytes_req=%%zu bytes_alloc=%%zu gfp_flags=%%s node=%%d accounted=%%s",
		(void *)REC->call_site, REC->ptr, REC->bytes_req, REC->bytes_alloc,
		%s, REC->node,
		(1 && (REC->gfp_flags & (unsigned long)((gfp_t)0x400000u))) ? "true" : "false") },
	{ EVENT_KFREE, "kfree",
	  FIELD("unsigned long", "call_site", 8, 8, 0)
	  FIELD("const void *", "ptr", 16, 8, 0),
	  PRINT("call_site=%%pS ptr=%%p", (void *)REC->call_site, REC->ptr) },
	{ EVENT_PAGE_ALLOC, "mm_page_alloc",
	  FIELD("unsigned long", "pfn", 8, 8, 0)
	  FIELD("unsigned int", "order", 16, 4, 0)
	  FIELD("unsigned long", "gfp_flags", 24, 8, 0)
	  FIELD("int", "migratetype", 32, 4, 1),
	  PRINT("page=%%p pfn=0x%%lx order=%%d migratetype=%%d gfp_flags=%%s",
		REC->pfn != -1UL ? (((struct page *)vmemmap_base) + (REC->pfn)) : ((void *)0),
		REC->pfn != -1UL ? REC->pfn : 0, REC->order, REC->migratetype, %s) },
	{ EVENT_PAGE_FREE, "mm_page_free",
	  FIELD("unsigned long", "pfn", 8, 8, 0)
	  FIELD("unsigned int", "order", 16, 4, 0),
	  PRINT("page=%%p pfn=0x%%lx order=%%d",
		(((struct page *)vmemmap_base) + (REC->pfn)), REC->pfn, REC->order) },
};

static const char common_fields[] =
	FIELD("unsigned short", "common_type", 0, 2, 0)
	FIELD("unsigned char", "common_flags", 2, 1, 0)
	FIELD("unsigned char", "common_preempt_count", 3, 1, 0)
	FIELD("int", "common_pid", 4, 4, 1);

/* The gfp flags in the order in which Linux 6.1 looks for them. */
static const struct flag {
	uint32_t value;
	const char *name;
} gfp_flags[] = {
	{ 0x1c24ca, "GFP_TRANSHUGE" },
	{ 0x1c20ca, "GFP_TRANSHUGE_LIGHT" },
	{ 0x100cca, "GFP_HIGHUSER_MOVABLE" },
	{ 0x100cc2, "GFP_HIGHUSER" },
	{ 0x100cc0, "GFP_USER" },
	{ 0x400cc0, "GFP_KERNEL_ACCOUNT" },
	{ 0xcc0, "GFP_KERNEL" },
	{ 0xc40, "GFP_NOFS" },
	{ 0xa20, "GFP_ATOMIC" },
	{ 0xc00, "GFP_NOIO" },
	{ 0x800, "GFP_NOWAIT" },
	{ 0x1, "GFP_DMA" },
	{ 0x2, "__GFP_HIGHMEM" },
	{ 0x4, "GFP_DMA32" },
	{ 0x20, "__GFP_HIGH" },
	{ 0x200, "__GFP_ATOMIC" },
	{ 0x40, "__GFP_IO" },
	{ 0x80, "__GFP_FS" },
	{ 0x2000, "__GFP_NOWARN" },
	{ 0x4000, "__GFP_RETRY_MAYFAIL" },
	{ 0x8000, "__GFP_NOFAIL" },
	{ 0x10000, "__GFP_NORETRY" },
	{ 0x40000, "__GFP_COMP" },
	{ 0x100, "__GFP_ZERO" },
	{ 0x80000, "__GFP_NOMEMALLOC" },
	{ 0x20000, "__GFP_MEMALLOC" },
	{ 0x100000, "__GFP_HARDWALL" },
	{ 0x200000, "__GFP_THISNODE" },
	{ 0x10, "__GFP_RECLAIMABLE" },
	{ 0x8, "__GFP_MOVABLE" },
	{ 0x400000, "__GFP_ACCOUNT" },
	{ 0x1000, "__GFP_WRITE" },
	{ 0xc00, "__GFP_RECLAIM" },
	{ 0x400, "__GFP_DIRECT_RECLAIM" },
	{ 0x800, "__GFP_KSWAPD_RECLAIM" },
	{ 0x800000, "__GFP_ZEROTAGS" },
};

/*
 * A page of the ring buffer contains records. Each record is a head of four bytes, then
 * words of four bytes.
 */
#define ROOM	(PAGE - 16)

struct ring_page {
	uint64_t time;
	uint64_t commit;
	uint8_t data[ROOM];
};

struct ring_head {
	uint32_t words : 5, delta : 27;
};

#define LARGEST	(sizeof(struct ring_head) + sizeof(struct kmalloc_event))

static int trace_fd;
static off_t place_of_sizes;

static struct ring {
	struct ring_page page;
	uint64_t last;		/* time of the last record */
	off_t begin;
	off_t end;
} rings[CPUS];

static void flush_page(struct ring *ring)
{
	if (!ring->page.commit)
		return;
	memset(ring->page.data + ring->page.commit, 0, ROOM - ring->page.commit);
	if (pwrite(trace_fd, &ring->page, PAGE, ring->end) != PAGE)
		die("pwrite");
	ring->end += PAGE;
	ring->page.commit = 0;
}

static void put_record(const void *data, size_t size)
{
	struct ring *ring = &rings[s.cpu];
	struct ring_head head = { .words = size / 4 };

	if (ring->page.commit + sizeof(head) + size > ROOM)
		flush_page(ring);
	if (!ring->page.commit)
		ring->page.time = s.time;
	else
		head.delta = s.time - ring->last;
	ring->last = s.time;
	memcpy(ring->page.data + ring->page.commit, &head, sizeof(head));
	memcpy(ring->page.data + ring->page.commit + sizeof(head), data, size);
	ring->page.commit += sizeof(head) + size;
}

static void record_object(const struct event *e)
{
	struct kmalloc_event alloc = {
		.common = { .type = EVENT_KMALLOC, .pid = PID },
		.call_site = e->call_site,
		.ptr = e->ptr,
		.bytes_req = e->requested,
		.bytes_alloc = e->allocated,
		.gfp_flags = GFP_KERNEL,
		.node = -1,
	};
	struct kfree_event free = {
		.common = { .type = EVENT_KFREE, .pid = PID },
		.call_site = e->call_site,
		.ptr = e->ptr,
	};

	if (e->requested)
		put_record(&alloc, sizeof(alloc));
	else
		put_record(&free, sizeof(free));
}

static void record_page(const struct event *e)
{
	struct page_alloc_event alloc = {
		.common = { .type = EVENT_PAGE_ALLOC, .pid = PID },
		.pfn = FIRST_PFN + e->slot,
		.gfp_flags = GFP_KERNEL,
	};
	struct page_free_event free = {
		.common = { .type = EVENT_PAGE_FREE, .pid = PID },
		.pfn = FIRST_PFN + e->slot,
	};

	if (e->requested)
		put_record(&alloc, sizeof(alloc));
	else
		put_record(&free, sizeof(free));
}

static void record_trace_cmd(const struct event *e)
{
	if (e->pool->type == KMEMTRACE_TYPE_PAGES)
		record_page(e);
	else
		record_object(e);
}

static void put_number(FILE *file, uint64_t value, size_t size)
{
	uint16_t v16 = value;
	uint32_t v32 = value;

	fwrite(size == 2 ? (void *)&v16 : size == 4 ? (void *)&v32 : &value, size,
	       1, file);
}

/* Write the length of a text as a number of @size bytes, then the text. */
static void put_text(FILE *file, size_t size, const char *text)
{
	put_number(file, strlen(text), size);
	fputs(text, file);
}

static char *gfp_text(void)
{
	char *text;
	size_t len, i;
	FILE *file = open_memstream(&text, &len);

	fputs("(REC->gfp_flags) ? __print_flags(REC->gfp_flags, \"|\", ", file);
	for (i = 0; i < ARRAY_SIZE(gfp_flags); i++)
		fprintf(file, "%s{(unsigned long)%#x, \"%s\"}",
			i ? ", " : "", gfp_flags[i].value, gfp_flags[i].name);
	fputs(") : \"none\"", file);
	fclose(file);
	return text;
}

static void put_format(FILE *out, const struct format *format, const char *gfp)
{
	char *text;
	size_t len;
	FILE *file = open_memstream(&text, &len);

	fprintf(file, "name: %s\nID: %u\nformat:\n%s\n%s\nprint fmt: ",
		format->name, format->id, common_fields, format->fields);
	fprintf(file, format->print, gfp);
	fputc('\n', file);
	fclose(file);
	put_text(out, 8, text);
	free(text);
}

static void put_formats(FILE *file)
{
	char *gfp = gfp_text();
	size_t i;

	fwrite("header_page", 1, 12, file);
	put_text(file, 8,
		 "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		 "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		 "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		 "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n");
	fwrite("header_event", 1, 13, file);
	put_text(file, 8,
		 "# compressed entry header\n\ttype_len    :    5 bits\n"
		 "\ttime_delta  :   27 bits\n\tarray       :   32 bits\n\n"
		 "\tpadding     : type == 29\n\ttime_extend : type == 30\n"
		 "\ttime_stamp : type == 31\n\tdata max type_len  == 28\n");
	put_number(file, 0, 4);		/* events of ftrace itself */
	put_number(file, 1, 4);		/* systems */
	fwrite("kmem", 1, 5, file);
	put_number(file, ARRAY_SIZE(formats), 4);
	for (i = 0; i < ARRAY_SIZE(formats); i++)
		put_format(file, &formats[i], gfp);
	free(gfp);
}

static void put_head(FILE *file)
{
	char *symbols, command[32];
	size_t len;
	FILE *memory = open_memstream(&symbols, &len);

	fwrite("\x17\x08\x44tracing6", 1, 12, file);
	fputc(!little_endian(), file);
	fputc(sizeof(uint64_t), file);
	put_number(file, PAGE, 4);
	put_formats(file);
	put_symbols(memory);
	fclose(memory);
	put_text(file, 4, symbols);
	free(symbols);
	put_text(file, 4, "");		/* trace_printk() */
	snprintf(command, sizeof(command), "%d bench\n", PID);
	put_text(file, 8, command);
	put_number(file, CPUS, 4);
	fwrite("options  ", 1, 10, file);
	put_number(file, 0, 2);
	fwrite("flyrecord", 1, 10, file);
}

/*
 * Each CPU has a part of the file that is large enough for all events. The unused rest of
 * it is a hole.
 */
static void begin_trace_cmd(const char *name, uint64_t events)
{
	FILE *file = fopen(name, "w");
	off_t begin;
	int i;

	if (!file)
		die(name);
	put_head(file);
	place_of_sizes = ftello(file);
	begin = (place_of_sizes + CPUS * 16 + PAGE - 1) / PAGE * PAGE;
	for (i = 0; i < CPUS; i++) {
		rings[i].begin = begin;
		rings[i].end = begin;
		begin += (events / (ROOM / LARGEST) + 1) * PAGE;
	}
	if (fclose(file))
		die(name);
	trace_fd = open(name, O_WRONLY);
	if (trace_fd < 0)
		die(name);
	s.record = record_trace_cmd;
}

static int end_trace_cmd(void)
{
	uint64_t parts[CPUS][2];
	int i;

	for (i = 0; i < CPUS; i++) {
		flush_page(&rings[i]);
		parts[i][0] = rings[i].begin;
		parts[i][1] = rings[i].end - rings[i].begin;
	}
	if (pwrite(trace_fd, parts, sizeof(parts), place_of_sizes) != sizeof(parts))
		die("pwrite");
	return close(trace_fd);
}

/* The events */

static uint64_t rnd(void)
{
	s.random ^= s.random << 13;
	s.random ^= s.random >> 7;
	s.random ^= s.random << 17;
	return s.random;
}

static void happen(struct pool *pool)
{
	uint64_t r = rnd();
	uint32_t site = (r % SITES) * (r / SITES % SITES) / SITES, i;
	struct event e = { .pool = pool };

	if (pool->live < pool->room / 2 ||
	    (r >> 63 && pool->live < pool->room)) {
		e.slot = pool->slots[pool->live++];
		e.requested = pool->type == KMEMTRACE_TYPE_PAGES ? PAGE :
			      8 + site % 248;
		e.allocated = (e.requested + 31) & ~31u;
	} else {
		i = (r >> 32) % pool->live--;
		e.slot = pool->slots[i];
		pool->slots[i] = pool->slots[pool->live];
		pool->slots[pool->live] = e.slot;
		site = SITES + site % FREERS;
	}
	e.call_site = TEXT + 64ull * site;
	e.ptr = pool->base + (uint64_t)e.slot * pool->step;
	s.record(&e);
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

int main(int argc, char **argv)
{
	struct pool objects = {
		.base = MEMORY, .step = 256, .type = KMEMTRACE_TYPE_KMALLOC,
	};
	struct pool pages = {
		.base = PAGES, .step = PAGE, .type = KMEMTRACE_TYPE_PAGES,
	};
	bool trace_cmd = argc > 1 && !strcmp(argv[1], "--trace-cmd");
	uint64_t events;
	uint32_t live;

	argv += trace_cmd;
	if (argc != 4 + trace_cmd || strtoul(argv[3], NULL, 10) < 20) {
		fputs("Usage: bench-trace DIR EVENTS LIVE (20 or more)\n"
		      "       bench-trace --trace-cmd FILE EVENTS LIVE\n", stderr);
		return 1;
	}
	events = strtoull(argv[2], NULL, 10);
	live = strtoul(argv[3], NULL, 10);
	pool_init(&objects, live - live / 10);
	pool_init(&pages, live / 10);
	if (trace_cmd)
		begin_trace_cmd(argv[1], events);
	else
		begin_kmemtrace(argv[1]);
	make(events, &objects, &pages);
	free(objects.slots);
	free(pages.slots);
	return trace_cmd ? end_trace_cmd() : end_kmemtrace(argv[1]);
}
