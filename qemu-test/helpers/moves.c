// SPDX-License-Identifier: GPL-2.0-only
/*
 * moves KIND MIB: puts that much anonymous memory through something, and holds
 * what /proc/allocinfo says of it against what it must be, to the byte and the
 * call.
 *
 *	split	huge pages become small ones
 *	collapse	small pages become huge ones, by khugepaged
 *	compact	every other page is given back, the rest is moved together
 *	swap	out and in again
 *	fork	copied by a child
 *	cma	moved out of the way of a contiguous area, in
 *		/sys/kernel/debug/cma/reserved
 *
 * It is a program because a shell that looks has pages of its own each time.
 * Ours are locked before the first look, and the caller waits. What counts is
 * the sum of all lines that anonymous pages can be on: which of them it is must
 * not matter.
 *
 * Exit code: 0; 1 something is not as it must be, and the lines say what; 2
 * wrong usage; 3 cannot be tried here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
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
#define ENOUGH	500L	/* moved, to be sure that something is tested */

#define THP	"/sys/kernel/mm/transparent_hugepage/"
#define CMA	"/sys/kernel/debug/cma/reserved/"

struct sum {
	long bytes, calls;
};

static char text[2 << 20];
static int failed;

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

/* A line "name value", or "name: value", of a file; -1 without one. */
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

/* The tables are allocated in one of those files, and are no anonymous memory. */
static bool is_table(const char *line)
{
	return strstr(line, "func:__pte_alloc") || strstr(line, "func:__pmd_alloc") ||
	       strstr(line, "func:__pud_alloc") || strstr(line, "func:__p4d_alloc");
}

/* Lines of those files that have objects have less than a page a call. */
static struct sum look(void)
{
	struct sum sum = { 0, 0 };
	char *line, *save = NULL, where[256];
	long bytes, calls;

	slurp("/proc/allocinfo");
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

	snprintf(what, sizeof(what), "%s, bytes more", when);
	expect(what, now.bytes - since.bytes, bytes);
	snprintf(what, sizeof(what), "%s, calls more", when);
	expect(what, now.calls - since.calls, calls);
}

/*
 * Pages that are freed by one CPU stay for a while on lists that another is
 * about to look at, with a reference. Compaction begins by emptying those.
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

	had = value("/proc/vmstat", "thp_split_page");
	put("/sys/kernel/debug/split_huge_pages", "%d,0x%lx,0x%lx", getpid(),
	    (unsigned long)p, (unsigned long)p + mib * MIB);
	expect("splits", value("/proc/vmstat", "thp_split_page") - had, nr);
	more_by("split", before, mib * MIB, nr * SMALLS);

	/* every page is by itself now: half of them may go */
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

static void compact(long mib, char *p)
{
	struct sum before;
	long had, moved;
	int tries = 10;

	no_huge(p, mib);
	drain();
	before = look();
	touch(p, mib);
	more_by("full", before, mib * MIB, mib * MIB / PAGE);
	for (long i = 0; i < mib * MIB; i += 2 * PAGE)
		madvise(p + i, PAGE, MADV_DONTNEED);
	/* how many there are to move depends on where they are */
	had = value("/proc/vmstat", "pgmigrate_success");
	do {
		drain();
		moved = value("/proc/vmstat", "pgmigrate_success") - had;
	} while (moved < ENOUGH && tries--);
	printf("# %ld pages migrated\n", moved);
	if (moved < ENOUGH)
		expect("pages migrated", moved, ENOUGH);
	more_by("moved", before, mib * MIB / 2, mib * MIB / PAGE / 2);
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
			/* what the child has besides cannot be known */
			_exit(look().bytes - full.bytes < mib * MIB);
		}
		waitpid(pid, &status, 0);
		expect("exit code of the child", status, 0);
	}
	drain();
	more_by("alone again", before, mib * MIB, mib * MIB / PAGE);
	unmap(p, mib);
	more_by("all gone", before, 0, 0);
}

static void cma(long mib, char *p)
{
	struct sum before, full, line = line_of("cma_alloc_mem");
	long pages, had, used;

	slurp(CMA "count");
	pages = strtol(text, NULL, 10);
	slurp(CMA "used");
	used = strtol(text, NULL, 10);
	no_huge(p, mib);
	drain();
	before = look();
	touch(p, mib);
	full = look();
	expect("full, bytes more", full.bytes - before.bytes, mib * MIB);
	had = value("/proc/vmstat", "pgmigrate_success");
	put(CMA "alloc", "%ld", (pages - used) / 2);
	had = value("/proc/vmstat", "pgmigrate_success") - had;
	printf("# %ld of %ld pages taken, %ld were in the way\n",
	       (pages - used) / 2, pages, had);
	if (had < 100)
		expect("pages moved", had, 100);
	more_by("moved aside", full, 0, 0);
	expect("bytes of the line", line_of("cma_alloc_mem").bytes - line.bytes,
	       (pages - used) / 2 * PAGE);
	expect("calls of the line", line_of("cma_alloc_mem").calls - line.calls,
	       (pages - used) / 2);
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
		/* all that this program will ever use, before the first look */
		memset(text, 1, sizeof(text));
		printf("# %s %ld MiB\n", argv[1], mib);
		value("/proc/vmstat", "pgfault");
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
