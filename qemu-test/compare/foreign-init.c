// SPDX-License-Identifier: GPL-2.0-only
/*
 * The only program in a guest of another architecture, apart from kmemtraced: records
 * three traces, adds up their records, and writes both to the disk.
 *
 *	boot	from the first allocation of the kernel on
 *	short	a few processes
 *	lossy	kmemtraced is stopped until the buffers overflow
 *
 * The totals come from the structures of the uapi header in this machine's layout and
 * use no code of the tools: an error of the tools in byte order or word size then shows
 * as a difference. A line of the totals has a place in the output of kmemtrace-report
 * --json and the value expected there. A place that begins with "guest." is not in that
 * output; only qemu-test/compare/foreign reads it.
 *
 * The disk becomes a tar archive. Its last member, "done", is there only after success.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/kmemtrace.h>

#define KMEMTRACE	"/sys/kernel/debug/kmemtrace"
#define DISK		"/dev/vda"
#define MAX_CPUS	2
#define NR_TYPES	3
/* kmalloc(0) returns 16, which is no memory */
#define NO_MEMORY_LAST	16

static void __attribute__((noreturn)) leave(void)
{
	fflush(stdout);
	sync();
	/* there is no ACPI to power off; a reset ends qemu, which runs with -no-reboot */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* Print why, and leave the archive without its last member. */
static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *format, ...)
{
	va_list args;

	printf("foreign: ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	leave();
}

static void *need(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		fail("no memory");
	return p;
}

/* The machine */

static void mount_all(void)
{
	static const struct {
		const char *type, *where;
	} mounts[] = {
		{ "devtmpfs",	"/dev" },
		{ "proc",	"/proc" },
		{ "sysfs",	"/sys" },
		{ "debugfs",	"/sys/kernel/debug" },
		{ "tmpfs",	"/tmp" },
	};
	size_t i;

	for (i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].where, 0755);
		if (mount(mounts[i].type, mounts[i].where, mounts[i].type, 0,
			  NULL) && errno != EBUSY)
			fail("mount %s: %s", mounts[i].where, strerror(errno));
	}
}

static int open_file(const char *name, int flags)
{
	char path[256];

	snprintf(path, sizeof(path), KMEMTRACE "/%s", name);
	return open(path, flags);
}

static void write_file(const char *name, const char *value)
{
	int fd = open_file(name, O_WRONLY);

	if (fd < 0 || write(fd, value, strlen(value)) < 0)
		fail("%s > %s: %s", value, name, strerror(errno));
	close(fd);
}

static bool is_recording(void)
{
	int fd = open_file("enabled", O_RDONLY);
	char c = 0;

	if (fd < 0 || read(fd, &c, 1) != 1)
		fail("enabled: %s", strerror(errno));
	close(fd);
	return c == '1';
}

struct losses {
	unsigned long long events;
	unsigned long long bytes;
};

/* All CPUs, since boot. */
static struct losses read_losses(void)
{
	int fd = open_file("stats", O_RDONLY);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	struct losses sum = { 0, 0 }, cpu;
	char line[256];

	if (!f)
		fail("stats: %s", strerror(errno));
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*u %*u %*u %llu %llu", &cpu.events,
			   &cpu.bytes) == 2) {
			sum.events += cpu.events;
			sum.bytes += cpu.bytes;
		}
	fclose(f);
	return sum;
}

/* Work */

static void bind_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		fail("no CPU %u: %s", cpu, strerror(errno));
}

static void work_on_file(unsigned int nr)
{
	static char data[16384];
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/work.%u", nr);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (fd < 0 || write(fd, data, sizeof(data)) != sizeof(data))
		fail("%s: %s", path, strerror(errno));
	close(fd);
	unlink(path);
}

static void work_on_memory(size_t bytes)
{
	char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (p == MAP_FAILED)
		fail("mmap: %s", strerror(errno));
	for (i = 0; i < bytes; i += 4096)
		p[i] = 1;
	munmap(p, bytes);
}

/* The writer is on the other CPU. */
static void work_on_pipe(unsigned int cpu)
{
	static char data[4096];
	int ends[2], status;
	pid_t pid;

	if (pipe(ends))
		fail("pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		bind_to(!cpu);
		_exit(write(ends[1], data, sizeof(data)) != sizeof(data));
	}
	close(ends[1]);
	while (read(ends[0], data, sizeof(data)) > 0)
		;
	close(ends[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		fail("the writer of the pipe failed");
}

static void work(unsigned int rounds)
{
	unsigned int i;
	int status;
	pid_t pid;

	for (i = 0; i < rounds; i++) {
		pid = fork();
		if (!pid) {
			bind_to(i % 2);
			work_on_file(i);
			work_on_memory(64 * 1024);
			work_on_pipe(i % 2);
			_exit(0);
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
			fail("a process of the work failed");
	}
}

/* kmemtraced */

/* Returns once kmemtraced is recording. */
static pid_t start(const char *dir)
{
	char header[64];
	int tries;
	pid_t pid;

	snprintf(header, sizeof(header), "%s/header", dir);
	pid = fork();
	if (pid < 0)
		fail("fork: %s", strerror(errno));
	if (!pid) {
		execl("/bin/kmemtraced", "kmemtraced", "--stop",
		      "--output", dir, (char *)NULL);
		_exit(127);
	}
	for (tries = 0; tries < 600; tries++) {
		if (!access(header, F_OK) && is_recording())
			return pid;
		if (waitpid(pid, NULL, WNOHANG))
			fail("%s: kmemtraced ended at once", dir);
		usleep(50000);
	}
	fail("%s: kmemtraced does not record", dir);
}

static void finish(const char *dir, pid_t pid, int want)
{
	int status;

	if (kill(pid, SIGINT) || waitpid(pid, &status, 0) != pid)
		fail("%s: kmemtraced is gone", dir);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != want)
		fail("%s: kmemtraced: status %#x, not exit code %d", dir,
		     status, want);
	if (is_recording())
		fail("%s: it is still recording", dir);
}

/* The records, in order */

static struct {
	unsigned char *data;
	size_t size;
	size_t at;
} cpus[MAX_CPUS];

static void load(const char *dir, unsigned int cpu)
{
	struct stat st;
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/cpu%u.out", dir, cpu);
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		fail("%s: %s", path, strerror(errno));
	free(cpus[cpu].data);
	cpus[cpu].data = need(1, st.st_size + 1);
	cpus[cpu].size = st.st_size;
	cpus[cpu].at = 0;
	n = read(fd, cpus[cpu].data, st.st_size);
	if (n != st.st_size)
		fail("%s: read %zd", path, n);
	close(fd);
}

static const struct kmemtrace_event *head(unsigned int cpu)
{
	const void *p = cpus[cpu].data + cpus[cpu].at;

	return cpus[cpu].at < cpus[cpu].size ? p : NULL;
}

/* All CPUs share one sequence of numbers, which wraps around. */
static const struct kmemtrace_event *next(void)
{
	const struct kmemtrace_event *e, *best = NULL;
	unsigned int cpu, from = 0;

	for (cpu = 0; cpu < MAX_CPUS; cpu++) {
		e = head(cpu);
		if (!e)
			continue;
		if (best && (int32_t)((uint32_t)e->sequence_number -
				      (uint32_t)best->sequence_number) > 0)
			continue;
		best = e;
		from = cpu;
	}
	if (!best)
		return NULL;
	if (best->event_size < sizeof(*best) || best->event_size % KMEMTRACE_ALIGN ||
	    best->event_size > cpus[from].size - cpus[from].at)
		fail("cpu%u.out: offset %zu: a record of %u bytes", from,
		     cpus[from].at, best->event_size);
	cpus[from].at += best->event_size;
	return best;
}

/* A feature of 64 bits, which need not be aligned. */
static uint64_t feature(const struct kmemtrace_event *e, size_t core, uint8_t id)
{
	const unsigned char *p = (const void *)e, *end = p + e->event_size;
	struct kmemtrace_feature f;
	uint64_t value;

	for (p += core; p + sizeof(f) <= end; p += f.size) {
		memcpy(&f, p, sizeof(f));
		if (!f.size)
			break;
		if (f.id != id || f.size != sizeof(f) + sizeof(value))
			continue;
		memcpy(&value, p + sizeof(f), sizeof(value));
		return value;
	}
	fail("a record lacks feature %u", id);
}

/* Totals */

struct sums {
	uint64_t allocs, failed, requested, allocated;
	uint64_t frees, before;
	uint64_t live, live_requested, live_allocated;
};

static struct {
	uint64_t records, allocs, frees, null_frees;
	uint64_t lost_records, lost_events, lost_bytes, missing;
	uint64_t unsound;	/* allocated or freed twice */
	uint64_t above_4g;	/* pages that are not in the linear map of 32 bits */
	struct sums types[NR_TYPES];
} totals;

/* The allocation that has, or had, the address @key; one entry for each page. */
struct slot {
	uint64_t key;		/* 0: unused */
	uint64_t requested;
	uint64_t allocated;
	uint64_t block;		/* pages: number of the allocation */
	uint8_t type;
	bool live;
};

#define SLOTS	(1u << 18)

static struct slot *objects, *pages;
static uint64_t page_size, blocks;

static struct slot *find(struct slot *table, uint64_t key)
{
	uint32_t i = (key * 0x9e3779b97f4a7c15) >> 40, tries;

	for (tries = 0; tries < SLOTS; tries++, i++) {
		i %= SLOTS;
		if (!table[i].key || table[i].key == key)
			return &table[i];
	}
	fail("too many addresses");
}

static void alloc_pages(const struct kmemtrace_alloc *a)
{
	struct sums *s = &totals.types[KMEMTRACE_TYPE_PAGES];
	struct slot *page;
	uint64_t at;

	blocks++;
	totals.above_4g += a->event.ptr > UINT32_MAX;
	for (at = 0; at < a->bytes_alloc; at += page_size) {
		page = find(pages, a->event.ptr + at);
		totals.unsound += page->live;
		page->key = a->event.ptr + at;
		page->block = blocks;
		page->live = true;
	}
	s->live_requested += a->bytes_alloc;
	s->live_allocated += a->bytes_alloc;
}

static void alloc_object(const struct kmemtrace_alloc *a)
{
	struct slot *o = find(objects, a->event.ptr);
	struct sums *s = &totals.types[a->event.type_id];

	totals.unsound += o->live;
	o->key = a->event.ptr;
	o->type = a->event.type_id;
	o->requested = a->bytes_req;
	o->allocated = a->bytes_alloc;
	o->live = true;
	s->live++;
	s->live_requested += a->bytes_req;
	s->live_allocated += a->bytes_alloc;
}

static void count_alloc(const struct kmemtrace_alloc *a)
{
	struct sums *s = &totals.types[a->event.type_id];

	totals.allocs++;
	if (a->event.ptr <= NO_MEMORY_LAST) {
		s->failed++;
		return;
	}
	s->allocs++;
	s->requested += a->bytes_req;
	s->allocated += a->bytes_alloc;
	if (a->event.type_id == KMEMTRACE_TYPE_PAGES)
		alloc_pages(a);
	else
		alloc_object(a);
}

/* A free ends an allocation, or releases a part of it. */
static void free_pages(const struct kmemtrace_event *e)
{
	struct sums *s = &totals.types[KMEMTRACE_TYPE_PAGES];
	uint64_t bytes = feature(e, sizeof(*e), KMEMTRACE_FEATURE_BYTES);
	uint64_t at, block = 0;
	struct slot *page;

	for (at = 0; at < bytes; at += page_size) {
		page = find(pages, e->ptr + at);
		if (!page->live)
			continue;
		page->live = false;
		s->frees += page->block != block;
		block = page->block;
		s->live_requested -= page_size;
		s->live_allocated -= page_size;
	}
	s->before += !block;
}

/* A free counts for the site that has allocated the memory. */
static void free_object(const struct kmemtrace_event *e)
{
	struct slot *o = find(objects, e->ptr);
	struct sums *s;

	if (!o->live) {
		totals.unsound += !!o->key;
		totals.types[e->type_id].before += !o->key;
		o->key = e->ptr;
		return;
	}
	s = &totals.types[o->type];
	o->live = false;
	s->frees++;
	s->live--;
	s->live_requested -= o->requested;
	s->live_allocated -= o->allocated;
}

static void count_free(const struct kmemtrace_event *e)
{
	totals.frees++;
	if (e->ptr <= NO_MEMORY_LAST)
		totals.null_frees++;
	else if (e->type_id == KMEMTRACE_TYPE_PAGES)
		free_pages(e);
	else
		free_object(e);
}

static void count_lost(const struct kmemtrace_lost *l)
{
	totals.lost_records++;
	totals.lost_events += l->events;
	totals.lost_bytes += l->bytes;
}

static void count_event(const struct kmemtrace_event *e)
{
	if (e->event_id > KMEMTRACE_EVENT_LOST || e->type_id >= NR_TYPES)
		fail("event %u of type %u", e->event_id, e->type_id);
	totals.records++;
	if (e->event_id == KMEMTRACE_EVENT_ALLOC)
		count_alloc((const void *)e);
	else if (e->event_id == KMEMTRACE_EVENT_FREE)
		count_free(e);
	else
		count_lost((const void *)e);
}

/* Count the parts that remain of each block. A part begins after a gap. */
static void count_parts(void)
{
	const struct slot *before;
	uint32_t i;

	for (i = 0; i < SLOTS; i++) {
		if (!pages[i].live)
			continue;
		before = find(pages, pages[i].key - page_size);
		if (!before->live || before->block != pages[i].block)
			totals.types[KMEMTRACE_TYPE_PAGES].live++;
	}
}

static void count_all(const char *dir)
{
	const struct kmemtrace_event *e;
	uint32_t first = 0, last = 0;
	unsigned int cpu;

	memset(&totals, 0, sizeof(totals));
	free(objects);
	free(pages);
	objects = need(SLOTS, sizeof(*objects));
	pages = need(SLOTS, sizeof(*pages));
	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		load(dir, cpu);
	while ((e = next())) {
		last = e->sequence_number;
		if (!totals.records)
			first = last;
		count_event(e);
	}
	count_parts();
	totals.missing = last - first + 1 - totals.records;
}

static void put(FILE *f, const char *place, uint64_t value)
{
	fprintf(f, "%s %" PRIu64 "\n", place, value);
}

static void put_type(FILE *f, const char *type, const struct sums *s, bool pairs)
{
	const struct {
		const char *name;
		uint64_t value;
		bool pairs;	/* needs a trace without losses */
	} lines[] = {
		{ "allocs",		s->allocs,		false },
		{ "failed",		s->failed,		false },
		{ "requested",		s->requested,		false },
		{ "allocated",		s->allocated,		false },
		{ "frees",		s->frees,		true },
		{ "frees_before_trace",	s->before,		true },
		{ "live",		s->live,		true },
		{ "live_requested",	s->live_requested,	true },
		{ "live_allocated",	s->live_allocated,	true },
	};
	char place[64];
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (lines[i].pairs && !pairs)
			continue;
		snprintf(place, sizeof(place), "totals.%s.%s", type,
			 lines[i].name);
		put(f, place, lines[i].value);
	}
}

static struct sums sum_up(void)
{
	struct sums all = { 0 };
	const struct sums *s;

	for (s = totals.types; s < totals.types + NR_TYPES; s++) {
		all.allocs += s->allocs;
		all.failed += s->failed;
		all.requested += s->requested;
		all.allocated += s->allocated;
		all.frees += s->frees;
		all.before += s->before;
		all.live += s->live;
		all.live_requested += s->live_requested;
		all.live_allocated += s->live_allocated;
	}
	return all;
}

static void put_machine(FILE *f)
{
	const uint16_t one = 1;
	struct utsname uts;

	uname(&uts);
	fprintf(f, "trace.machine %s\n", uts.machine);
	fprintf(f, "trace.release %s\n", uts.release);
	fprintf(f, "trace.byte_order %s\n",
		*(const char *)&one ? "little" : "big");
	put(f, "trace.word_bits", 8 * sizeof(long));
	put(f, "trace.page_size", page_size);
}

static void put_totals(FILE *f, struct losses lost)
{
	static const char * const names[NR_TYPES] = { "kmalloc", "cache", "pages" };
	struct sums all = sum_up();
	unsigned int i;

	put_machine(f);
	put(f, "records.all", totals.records);
	put(f, "records.allocs", totals.allocs);
	put(f, "records.frees", totals.frees);
	put(f, "records.null_frees", totals.null_frees);
	put(f, "records.lost", totals.lost_records);
	put(f, "losses.told_events", totals.lost_events);
	put(f, "losses.told_bytes", totals.lost_bytes);
	put(f, "losses.missing", totals.missing);
	put(f, "losses.events", lost.events);
	put(f, "losses.bytes", lost.bytes);
	for (i = 0; i < NR_TYPES; i++)
		put_type(f, names[i], &totals.types[i], !lost.events);
	put_type(f, "all", &all, !lost.events);
	put(f, "guest.above_4g", totals.above_4g);
	if (!lost.events)
		put(f, "guest.unsound", totals.unsound);
}

static void write_totals(const char *dir, struct losses lost)
{
	char path[64];
	FILE *f;

	count_all(dir);
	snprintf(path, sizeof(path), "%s/totals", dir);
	f = fopen(path, "w");
	if (!f)
		fail("%s: %s", path, strerror(errno));
	put_totals(f, lost);
	if (fclose(f))
		fail("%s: %s", path, strerror(errno));
	printf("foreign: %s: %" PRIu64 " records, %llu events lost\n", dir,
	       totals.records, lost.events);
	fflush(stdout);
}

/* The archive: regular files in the ustar format */

struct member {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8];
	char type, link[100], magic[6], version[2], rest[247];
};

_Static_assert(sizeof(struct member) == 512, "a member's head is a block");

static void put_head(FILE *out, const char *name, unsigned long size)
{
	struct member m = { .type = '0', .magic = "ustar", .version = "00" };
	unsigned int i, sum = 0;

	snprintf(m.name, sizeof(m.name), "%s", name);
	snprintf(m.mode, sizeof(m.mode), "%07o", 0644);
	snprintf(m.uid, sizeof(m.uid), "%07o", 0);
	snprintf(m.gid, sizeof(m.gid), "%07o", 0);
	snprintf(m.size, sizeof(m.size), "%011lo", size);
	snprintf(m.mtime, sizeof(m.mtime), "%011o", 0);
	memset(m.sum, ' ', sizeof(m.sum));
	for (i = 0; i < sizeof(m); i++)
		sum += ((unsigned char *)&m)[i];
	snprintf(m.sum, sizeof(m.sum), "%06o", sum);
	fwrite(&m, sizeof(m), 1, out);
}

static void put_member(FILE *out, const char *dir, const char *name)
{
	static char block[512];
	char path[512];
	struct stat st;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	if (!f || fstat(fileno(f), &st))
		fail("%s: %s", path, strerror(errno));
	put_head(out, path + strlen("/tmp/"), st.st_size);
	while ((n = fread(block, 1, sizeof(block), f)) > 0) {
		memset(block + n, 0, sizeof(block) - n);
		fwrite(block, sizeof(block), 1, out);
	}
	fclose(f);
}

static void put_directory(FILE *out, const char *dir)
{
	struct dirent *entry;
	DIR *d = opendir(dir);

	if (!d)
		fail("%s: %s", dir, strerror(errno));
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			put_member(out, dir, entry->d_name);
	closedir(d);
}

static void hand_out(const char * const *dirs, size_t nr)
{
	static const char zeros[2 * 512];
	FILE *out = fopen(DISK, "w");
	size_t i;

	if (!out)
		fail(DISK ": %s", strerror(errno));
	for (i = 0; i < nr; i++)
		put_directory(out, dirs[i]);
	put_head(out, "done", 0);
	fwrite(zeros, sizeof(zeros), 1, out);
	if (fflush(out) || fsync(fileno(out)) || ferror(out))
		fail(DISK ": %s", strerror(errno));
	fclose(out);
}

/* The recordings */

static void record(const char *dir, unsigned int rounds)
{
	pid_t pid = start(dir);

	work(rounds);
	finish(dir, pid, 0);
	write_totals(dir, (struct losses){ 0, 0 });
}

static void record_losses(const char *dir)
{
	struct losses before = read_losses(), lost;
	unsigned int tries;
	pid_t pid;

	write_file("subbufs", "2");
	pid = start(dir);
	kill(pid, SIGSTOP);
	for (tries = 0; read_losses().events - before.events < 1000; tries++) {
		if (tries == 100)
			fail("nothing is lost");
		work(4);
	}
	kill(pid, SIGCONT);
	work(4);
	finish(dir, pid, 2);
	lost = read_losses();
	lost.events -= before.events;
	lost.bytes -= before.bytes;
	write_totals(dir, lost);
}

int main(void)
{
	static const char * const dirs[] = { "/tmp/boot", "/tmp/short", "/tmp/lossy" };

	mount_all();
	page_size = sysconf(_SC_PAGESIZE);
	if (!is_recording())
		fail("it did not record from boot on");
	record(dirs[0], 20);
	record(dirs[1], 4);
	record_losses(dirs[2]);
	hand_out(dirs, sizeof(dirs) / sizeof(dirs[0]));
	leave();
}
