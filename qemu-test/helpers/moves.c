// SPDX-License-Identifier: GPL-2.0-only
/*
 * moves KIND MIB: moves that much anonymous memory in one of these ways, and checks that
 * /proc/allocinfo shows it exactly, to the byte and the call.
 *
 *	split	huge pages become small ones
 *	collapse	small pages become huge ones, by khugepaged
 *	compact	every other page is freed, the rest is moved together
 *	swap	pages go out and come in again
 *	fork	a child copies the pages
 *	offline	some pages are taken offline, their contents move elsewhere
 *	poison	some small pages of huge ones are poisoned
 *	unplug	some pages are poisoned, and then the block of memory that has them
 *		goes offline
 *	cma	pages are moved out of a contiguous area, in
 *		/sys/kernel/debug/cma/reserved
 *
 * This is no shell script, because a shell would allocate pages of its own between two
 * looks. The pages of this program are locked before the first look, and the caller
 * waits. The check uses the sum of all lines that can hold anonymous pages. If profiling
 * is "never", /proc/allocinfo must have no line, and the test is that the moves work.
 *
 * Exit code: 0; 1 a check failed, and the output says which; 2 wrong usage; 3 not
 * possible on this kernel.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_PAGEOUT
#define MADV_PAGEOUT	21
#endif

#define MIB	(1L << 20)
#define PAGE	4096L
#define HUGE	(2 * MIB)
#define SMALLS	(HUGE / PAGE)
#define BROKEN	8L	/* pages to poison or to take offline */
#define FRAME	((UINT64_C(1) << 55) - 1)
#define ENOUGH	500L	/* pages that must move, or the test proves nothing */

#define THP	"/sys/kernel/mm/transparent_hugepage/"
#define BLOCKS	"/sys/devices/system/memory/"
#define OFFLINE	BLOCKS "soft_offline_page"
#define INJECT	"/sys/kernel/debug/hwpoison/"
#define CMA	"/sys/kernel/debug/cma/reserved/"

struct sum {
	long bytes, calls;
};

static char text[2 << 20];
static int failed;
static bool never;	/* profiling is "never" */

static void __attribute__((noreturn)) die(int code, const char *what)
{
	printf("# moves: %s: %s\n", what, strerror(errno));
	exit(code);
}

static void put(const char *path, const char *fmt, ...)
{
	int fd = open(path, O_WRONLY);
	char line[128];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (fd < 0 || write(fd, line, strlen(line)) < 0)
		die(errno == ENOENT ? 3 : 1, path);
	close(fd);
}

static void slurp(const char *path)
{
	size_t len = 0;
	int fd = open(path, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		die(3, path);
	while ((n = read(fd, text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	text[len] = '\0';
}

/* The value of a line "name value" or "name: value" of a file; -1 if missing. */
static long value(const char *path, const char *name)
{
	char *line, *save = NULL, *end;
	size_t n = strlen(name);

	slurp(path);
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, name, n) || !strchr(" :\t", line[n]))
			continue;
		return strtol(line + n + 1, &end, 10);
	}
	return -1;
}

static bool is_anon(const char *where)
{
	static const char * const files[] = {
		"mm/memory.c:", "mm/huge_memory.c:", "mm/khugepaged.c:",
		"mm/mempolicy.c:", "mm/migrate.c:", "mm/compaction.c:",
		"mm/swap_state.c:", "mm/ksm.c:",
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!strncmp(where, files[i], strlen(files[i])))
			return true;
	return false;
}

/*
 * Page tables are allocated in these files, too, and are no anonymous memory. The last
 * function allocates the table that a huge page keeps for its split; on x86 that table is
 * on a line of arch/x86.
 */
static bool is_table(const char *line)
{
	return strstr(line, "func:__do_huge_pmd_anonymous_page") ||
	       strstr(line, "func:__pte_alloc") || strstr(line, "func:__pmd_alloc") ||
	       strstr(line, "func:__pud_alloc") || strstr(line, "func:__p4d_alloc");
}

/* Lines of these files that hold objects have less than a page per call. */
static struct sum look(void)
{
	struct sum sum = { 0, 0 };
	char *line, *save = NULL, where[256];
	long bytes, calls;

	slurp("/proc/allocinfo");
	if (never && strstr(text, "func:")) {
		printf("# a line in spite of \"never\"\n");
		failed = 1;
	}
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "%ld %ld %255s", &bytes, &calls, where) != 3)
			continue;
		if (!is_anon(where) || is_table(line) || bytes < calls * PAGE)
			continue;
		sum.bytes += bytes;
		sum.calls += calls;
	}
	return sum;
}

static struct sum line_of(const char *func)
{
	struct sum sum = { 0, 0 };
	char *line, *save = NULL;
	long bytes, calls;

	slurp("/proc/allocinfo");
	for (line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		char *at = strstr(line, "func:");

		if (!at || strncmp(at + 5, func, strlen(func)) ||
		    sscanf(line, "%ld %ld", &bytes, &calls) != 2 ||
		    bytes < calls * PAGE)
			continue;
		sum.bytes += bytes;
		sum.calls += calls;
	}
	return sum;
}

static void expect(const char *what, long got, long want)
{
	if (got == want)
		return;
	printf("# %s: %ld, must be %ld\n", what, got, want);
	failed = 1;
}

static void more_by(const char *when, struct sum since, long bytes, long calls)
{
	struct sum now = look();
	char what[64];

	if (never) {
		bytes = 0;
		calls = 0;
	}
	snprintf(what, sizeof(what), "%s, bytes more", when);
	expect(what, now.bytes - since.bytes, bytes);
	snprintf(what, sizeof(what), "%s, calls more", when);
	expect(what, now.calls - since.calls, calls);
}

/*
 * Pages that one CPU has freed stay on its lists for a while, with a reference, when
 * another CPU reads. Compaction begins by emptying these lists.
 */
static void drain(void)
{
	put("/proc/sys/vm/compact_memory", "1");
}

static char *area(long mib)
{
	char *p = mmap(NULL, (size_t)(mib * MIB + HUGE), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die(1, "mmap");
	return p + -(unsigned long)p % HUGE;
}

static void touch(char *p, long mib)
{
	for (long i = 0; i < mib * MIB; i += PAGE)
		p[i] = 1;
}

static void unmap(char *p, long mib)
{
	if (munmap(p, (size_t)(mib * MIB)))
		die(1, "munmap");
	drain();
}

static void no_huge(char *p, long mib)
{
	madvise(p, (size_t)(mib * MIB), MADV_NOHUGEPAGE);
}

static void split(long mib, char *p)
{
	long nr = mib * MIB / HUGE, had;
	struct sum before;

	put(THP "enabled", "madvise");
	if (madvise(p, (size_t)(mib * MIB), MADV_HUGEPAGE))
		die(3, "MADV_HUGEPAGE");
	drain();
	before = look();
	had = value("/proc/vmstat", "thp_fault_alloc");
	touch(p, mib);
	expect("huge pages", value("/proc/vmstat", "thp_fault_alloc") - had, nr);
	more_by("huge", before, mib * MIB, nr);

	/* khugepaged would merge them again if this takes long */
	no_huge(p, mib);
	had = value("/proc/vmstat", "thp_split_page");
	put("/sys/kernel/debug/split_huge_pages", "%d,0x%lx,0x%lx", getpid(),
	    (unsigned long)p, (unsigned long)p + mib * MIB);
	expect("splits", value("/proc/vmstat", "thp_split_page") - had, nr);
	more_by("split", before, mib * MIB, nr * SMALLS);

	/* all pages are small now: half of them can be freed */
	for (long i = 0; i < mib * MIB; i += 2 * PAGE)
		madvise(p + i, PAGE, MADV_DONTNEED);
	drain();
	more_by("half of it", before, mib * MIB / 2, nr * SMALLS / 2);
	unmap(p, mib);
	more_by("all gone", before, 0, 0);
}

static void collapse(long mib, char *p)
{
	long nr = mib * MIB / HUGE;
	struct sum before;
	int tries = 600;

	put(THP "enabled", "madvise");
	put(THP "khugepaged/scan_sleep_millisecs", "10");
	put(THP "khugepaged/pages_to_scan", "65536");
	no_huge(p, mib);
	drain();
	before = look();
	touch(p, mib);
	more_by("small", before, mib * MIB, nr * SMALLS);
	if (madvise(p, (size_t)(mib * MIB), MADV_HUGEPAGE))
		die(3, "MADV_HUGEPAGE");
	while (value("/proc/self/smaps_rollup", "AnonHugePages") <
	       mib * MIB / 1024) {
		if (!tries--) {
			expect("kB collapsed",
			       value("/proc/self/smaps_rollup", "AnonHugePages"),
			       mib * MIB / 1024);
			break;
		}
		usleep(100000);
	}
	drain();
	more_by("huge", before, mib * MIB, nr);
	unmap(p, mib);
	more_by("all gone", before, 0, 0);
}

/*
 * One page of each pair is freed, chosen at random: regular holes could leave whole
 * blocks free, and compaction would have nothing to do.
 */
static void make_holes(char *p, long mib)
{
	for (long i = 0; i < mib * MIB; i += 2 * PAGE)
		madvise(p + i + random() % 2 * PAGE, PAGE, MADV_DONTNEED);
}

static void compact(long mib, char *p)
{
	struct sum before;
	long had, moved;
	int tries = 10;

	no_huge(p, mib);
	drain();
	before = look();
	had = value("/proc/vmstat", "pgmigrate_success");
	do {
		touch(p, mib);
		more_by("full", before, mib * MIB, mib * MIB / PAGE);
		make_holes(p, mib);
		drain();
		moved = value("/proc/vmstat", "pgmigrate_success") - had;
		more_by("moved", before, mib * MIB / 2, mib * MIB / PAGE / 2);
	} while (moved < ENOUGH && tries--);
	printf("# %ld pages migrated\n", moved);
	if (moved < ENOUGH)
		expect("pages migrated", moved, ENOUGH);
	unmap(p, mib);
	more_by("all gone", before, 0, 0);
}

static void swap(long mib, char *p)
{
	struct sum before;
	long out;

	no_huge(p, mib);
	drain();
	before = look();
	touch(p, mib);
	out = value("/proc/vmstat", "pswpout");
	if (madvise(p, (size_t)(mib * MIB), MADV_PAGEOUT))
		die(3, "MADV_PAGEOUT");
	out = value("/proc/vmstat", "pswpout") - out;
	printf("# %ld pages out\n", out);
	if (out < mib * MIB / PAGE / 2)
		expect("pages out", out, mib * MIB / PAGE / 2);
	touch(p, mib);
	unmap(p, mib);
	more_by("all gone", before, 0, 0);
}

static void copy(long mib, char *p)
{
	struct sum before, full;
	int status;
	pid_t pid;

	no_huge(p, mib);
	drain();
	before = look();
	touch(p, mib);
	full = look();
	for (int i = 0; i < 4; i++) {
		pid = fork();
		if (pid < 0)
			die(1, "fork");
		if (!pid) {
			touch(p, mib);
			/* the child has an unknown number of other pages */
			_exit(!never && look().bytes - full.bytes < mib * MIB);
		}
		waitpid(pid, &status, 0);
		expect("exit code of the child", status, 0);
	}
	drain();
	more_by("alone again", before, mib * MIB, mib * MIB / PAGE);
	unmap(p, mib);
	more_by("all gone", before, 0, 0);
}

static long frame(const char *p)
{
	uint64_t entry;
	int fd = open("/proc/self/pagemap", O_RDONLY);

	if (fd < 0)
		die(3, "pagemap");
	if (pread(fd, &entry, sizeof(entry),
		  (off_t)((unsigned long)p / PAGE * sizeof(entry))) != sizeof(entry))
		die(1, "pagemap");
	close(fd);
	return (long)(entry & FRAME);
}

/*
 * Frames that were poisoned or taken offline no longer hold data of this program. No task
 * uses them until this function restores them.
 */
static void restore(const long *frames)
{
	for (long i = 0; i < BROKEN; i++)
		put(INJECT "unpoison-pfn", "0x%lx", frames[i]);
	drain();
}

static void offline(long mib, char *p)
{
	long step = mib * MIB / BROKEN, frames[BROKEN], nr = mib * MIB / PAGE;
	struct sum before;

	no_huge(p, mib);
	drain();
	before = look();
	touch(p, mib);
	more_by("full", before, mib * MIB, nr);
	drain();
	for (long i = 0; i < BROKEN; i++) {
		frames[i] = frame(p + i * step);
		p[i * step] = (char)(i + 1);
		put(OFFLINE, "0x%lx", frames[i] * PAGE);
		expect("moved elsewhere", frame(p + i * step) != frames[i], 1);
		expect("its content", p[i * step], i + 1);
	}
	more_by("moved elsewhere", before, mib * MIB, nr);
	unmap(p, mib);
	more_by("all gone", before, 0, 0);
	restore(frames);
	more_by("restored", before, 0, 0);
}

/* A poisoned page stays charged to its line until it is restored, which frees it. */
static void poison(long mib, char *p)
{
	long nr = mib * MIB / HUGE, frames[BROKEN];
	struct sum before;

	if (nr < BROKEN)
		die(2, "too little to break");
	put(THP "enabled", "madvise");
	if (madvise(p, (size_t)(mib * MIB), MADV_HUGEPAGE))
		die(3, "MADV_HUGEPAGE");
	drain();
	before = look();
	touch(p, mib);
	more_by("huge", before, mib * MIB, nr);
	for (long i = 0; i < BROKEN; i++) {
		frames[i] = frame(p + i * HUGE + i * PAGE);
		put(INJECT "corrupt-pfn", "0x%lx", frames[i]);
	}
	more_by("broken", before, mib * MIB, nr - BROKEN + BROKEN * SMALLS);
	unmap(p, mib);
	more_by("unmapped", before, BROKEN * PAGE, BROKEN);
	restore(frames);
	more_by("restored", before, 0, 0);
}

/*
 * Writes "online_movable" or "offline" to the state of a block of memory. The kernel refuses
 * while it cannot move a page of the block, so this tries for two seconds.
 */
static bool set_block(long block, const char *state)
{
	bool done = false;
	char path[64];

	snprintf(path, sizeof(path), BLOCKS "memory%ld/state", block);
	for (int i = 0; i < 20 && !done; i++) {
		int fd = open(path, O_WRONLY);

		if (fd < 0)
			die(1, path);
		done = write(fd, state, strlen(state)) > 0;
		close(fd);
		if (!done)
			usleep(100000);
	}
	return done;
}

/*
 * A block of ZONE_MOVABLE that goes offline. The last block of memory often does not: it has
 * holes for the tables of the firmware.
 */
static long movable_block(void)
{
	char path[64];

	for (long block = 255; block >= 0; block--) {
		snprintf(path, sizeof(path), BLOCKS "memory%ld/valid_zones",
			 block);
		if (access(path, R_OK))
			continue;
		slurp(path);
		if (strcmp(text, "Movable\n") || !set_block(block, "offline"))
			continue;
		if (!set_block(block, "online_movable"))
			die(1, "a block does not come back");
		return block;
	}
	printf("# no block of ZONE_MOVABLE goes offline\n");
	exit(1);
}

/* Nobody restores the poisoned pages. They stay charged until their memory goes offline. */
static void unplug(long mib, char *p)
{
	long block = movable_block(), pages, broken = 0;
	struct sum before;

	slurp(BLOCKS "block_size_bytes");
	pages = strtol(text, NULL, 16) / PAGE;
	no_huge(p, mib);
	drain();
	before = look();
	touch(p, mib);
	more_by("full", before, mib * MIB, mib * MIB / PAGE);
	for (long i = 0; i < mib * MIB && broken < BROKEN; i += PAGE) {
		long at = frame(p + i);

		if (at / pages != block)
			continue;
		put(INJECT "corrupt-pfn", "0x%lx", at);
		broken++;
	}
	expect("pages broken", broken, BROKEN);
	unmap(p, mib);
	more_by("unmapped", before, broken * PAGE, broken);
	expect("goes offline", set_block(block, "offline"), true);
	more_by("offline", before, 0, 0);
	expect("comes back", set_block(block, "online_movable"), true);
	drain();
	more_by("online", before, 0, 0);
}

static void cma(long mib, char *p)
{
	struct sum before, full, line = line_of("cma_alloc_mem");
	long pages, had, used, taken;

	slurp(CMA "count");
	pages = strtol(text, NULL, 10);
	slurp(CMA "used");
	used = strtol(text, NULL, 10);
	no_huge(p, mib);
	drain();
	before = look();
	touch(p, mib);
	full = look();
	more_by("full", before, mib * MIB, mib * MIB / PAGE);
	had = value("/proc/vmstat", "pgmigrate_success");
	put(CMA "alloc", "%ld", (pages - used) / 2);
	had = value("/proc/vmstat", "pgmigrate_success") - had;
	printf("# %ld of %ld pages taken, %ld were in the way\n",
	       (pages - used) / 2, pages, had);
	if (had < 100)
		expect("pages moved", had, 100);
	more_by("moved aside", full, 0, 0);
	taken = never ? 0 : (pages - used) / 2;
	expect("bytes of the line", line_of("cma_alloc_mem").bytes - line.bytes,
	       taken * PAGE);
	expect("calls of the line", line_of("cma_alloc_mem").calls - line.calls,
	       taken);
	put(CMA "free", "%ld", (pages - used) / 2);
	expect("bytes given back", line_of("cma_alloc_mem").bytes - line.bytes, 0);
	expect("calls given back", line_of("cma_alloc_mem").calls - line.calls, 0);
	unmap(p, mib);
	more_by("all gone", before, 0, 0);
}

static const struct {
	const char *name;
	void (*run)(long mib, char *p);
} kinds[] = {
	{ "split", split }, { "collapse", collapse }, { "compact", compact },
	{ "swap", swap }, { "fork", copy }, { "cma", cma },
	{ "offline", offline }, { "poison", poison },
	{ "unplug", unplug },
};

int main(int argc, char **argv)
{
	char *p;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 3) {
		fprintf(stderr, "usage: moves KIND MIB\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		long mib = strtol(argv[2], NULL, 0);

		if (strcmp(kinds[i].name, argv[1]))
			continue;
		/* all memory that this program will use, before the first look */
		memset(text, 1, sizeof(text));
		printf("# %s %ld MiB\n", argv[1], mib);
		value("/proc/vmstat", "pgfault");
		slurp("/proc/cmdline");
		never = strstr(text, "mem_profiling=never");
		look();
		drain();
		if (mlockall(MCL_CURRENT))
			die(1, "mlockall");
		p = area(mib);
		kinds[i].run(mib, p);
		return failed;
	}
	fprintf(stderr, "moves: no kind %s\n", argv[1]);
	return 2;
}
