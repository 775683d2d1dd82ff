// SPDX-License-Identifier: GPL-2.0-only
/*
 * Uses and tests the binary interface of /proc/allocinfo: see usage() below.
 *
 * It prints rows in the form of the text, so that the two can be compared. With --compat on
 * x86_64, every ioctl uses the system calls of 32-bit programs, with memory below 4 GiB: the
 * 64-bit kernel cannot tell the difference. Elsewhere, --compat changes nothing.
 *
 * Exit code 0: all checks passed; 1: a check failed, see standard output; 2: wrong usage.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../include/uapi/linux/alloc_tag.h"

#define HELPER "allocinfo"
#include "cycles.h"
#include "expect.h"

#define INFO		"/proc/allocinfo"
#define MAX_RECORDS	65536
#define NR_IOCTL32	54
#ifndef MAP_32BIT
#define MAP_32BIT	0	/* only --compat needs it */
#endif
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

typedef struct allocinfo_tag_data record;

static bool compat;
static size_t page;

/* The kernel */

static int open_info(void)
{
	int fd = open(INFO, O_RDONLY);

	EXPECT(fd >= 0, "%s: %s", INFO, strerror(errno));
	return fd;
}

/* Memory below 4 GiB, followed by an unmapped page. */
static void *low(size_t size)
{
	size_t room = (size + page - 1) / page * page;
	char *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	EXPECT(p != MAP_FAILED, "mmap: %s", strerror(errno));
	mprotect(p + room, page, PROT_NONE);
	return p;
}

static void *in_the_kernel(void)
{
	return (void *)(uintptr_t)(compat || sizeof(long) == 4 ? 0xfffff000U :
				   0xffffffff81000000ULL);
}

/* Returns 0 or an errno. */
static int call(int fd, unsigned long cmd, void *arg)
{
#ifdef __x86_64__
	long ret;

	if (compat) {
		__asm__ volatile("int $0x80" : "=a" (ret)
				 : "a" (NR_IOCTL32), "b" ((long)fd), "c" (cmd), "d" (arg)
				 : "memory", "r8", "r9", "r10", "r11");
		return (int)-ret;
	}
#endif
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static int get_at(int fd, uint64_t pos, const struct allocinfo_filter *filter,
		  record *out)
{
	static __thread struct allocinfo_get_at *arg;
	int err;

	if (!arg)
		arg = low(sizeof(*arg));
	memset(arg, 0xaa, sizeof(*arg));
	arg->pos = pos;
	if (filter)
		arg->filter = *filter;
	else
		memset(&arg->filter, 0, sizeof(arg->filter));
	err = call(fd, ALLOCINFO_IOC_GET_AT, arg);
	EXPECT(arg->pos == pos && (!filter || !memcmp(filter, &arg->filter, sizeof(*filter))),
	       "GET_AT changed what was asked");
	*out = arg->data;
	return err;
}

static int get_next(int fd, record *out)
{
	static __thread record *arg;
	int err;

	if (!arg)
		arg = low(sizeof(*arg));
	memset(arg, 0xaa, sizeof(*arg));
	err = call(fd, ALLOCINFO_IOC_GET_NEXT, arg);
	*out = *arg;
	return err;
}

static uint64_t content_id(int fd)
{
	static struct allocinfo_content_id *arg;
	int err;

	if (!arg)
		arg = low(sizeof(*arg));
	arg->id = UINT64_MAX;
	err = call(fd, ALLOCINFO_IOC_CONTENT_ID, arg);
	EXPECT(!err, "CONTENT_ID: %s", strerror(err));
	return arg->id;
}

/* Records */

static void print(const record *r)
{
	const struct allocinfo_tag *t = &r->tag;

	printf("%12" PRIu64 " %8" PRIu64 " %s:%" PRIu64 " %s%s%sfunc:%s%s \n",
	       (uint64_t)r->counter.bytes, (uint64_t)r->counter.calls,
	       t->filename, (uint64_t)t->lineno, t->modname[0] ? "[" : "",
	       t->modname, t->modname[0] ? "] " : "", t->function,
	       r->counter.accurate ? "" : " accurate:no");
}

static void check_name(const char *name)
{
	size_t i, n = strnlen(name, ALLOCINFO_STR_SIZE);

	EXPECT(n < ALLOCINFO_STR_SIZE, "a name that does not end");
	for (i = n; i < ALLOCINFO_STR_SIZE; i++)
		EXPECT(!name[i], "something behind the end of %s", name);
}

/* Checks every byte of a record. */
static void check_record(const record *r)
{
	size_t i;

	check_name(r->tag.modname);
	check_name(r->tag.function);
	check_name(r->tag.filename);
	EXPECT(r->tag.function[0] && r->tag.filename[0] && r->tag.lineno,
	       "a record without names");
	EXPECT(r->counter.accurate <= 1, "accurate: %u", r->counter.accurate);
	for (i = 0; i < sizeof(r->counter.__pad); i++)
		EXPECT(!r->counter.__pad[i], "padding is not zero");
}

static bool same_tag(const record *a, const record *b)
{
	return !memcmp(&a->tag, &b->tag, sizeof(a->tag));
}

/* All records, by GET_NEXT on a newly opened file */
static record *read_all(size_t *n)
{
	record *all = calloc(MAX_RECORDS, sizeof(*all));
	int err, fd = open_info();

	EXPECT(all, "no memory");
	for (*n = 0; !(err = get_next(fd, &all[*n])); ++*n) {
		check_record(&all[*n]);
		EXPECT(*n < MAX_RECORDS - 1, "no end");
	}
	EXPECT(err == ENOENT, "GET_NEXT: %s", strerror(err));
	close(fd);
	return all;
}

/* The filter, implemented again: names are cut to the size of a record. */
static bool name_passes(const char *name, const char *wanted)
{
	return !strncmp(name, wanted, ALLOCINFO_STR_SIZE - 1);
}

static bool names_pass(const record *r, const struct allocinfo_filter *f)
{
	const struct allocinfo_tag *t = &r->tag, *w = &f->fields;

	return (!(f->mask & ALLOCINFO_FILTER_MASK_MODNAME) || name_passes(t->modname, w->modname)) &&
	       (!(f->mask & ALLOCINFO_FILTER_MASK_FUNCTION) || name_passes(t->function, w->function)) &&
	       (!(f->mask & ALLOCINFO_FILTER_MASK_FILENAME) || name_passes(t->filename, w->filename)) &&
	       (!(f->mask & ALLOCINFO_FILTER_MASK_LINENO) || t->lineno == w->lineno) &&
	       (!(f->mask & ALLOCINFO_FILTER_MASK_INACCURATE) || !r->counter.accurate == !!f->inaccurate);
}

static bool passes(const record *r, const struct allocinfo_filter *f)
{
	return names_pass(r, f) &&
	       (!(f->mask & ALLOCINFO_FILTER_MASK_MIN_SIZE) || r->counter.bytes >= f->min_size) &&
	       (!(f->mask & ALLOCINFO_FILTER_MASK_MAX_SIZE) || r->counter.bytes <= f->max_size);
}

/* Commands */

static void parse_name(char *name, const char *value)
{
	size_t n = strlen(value);

	if (n >= ALLOCINFO_STR_SIZE)
		value += n - (ALLOCINFO_STR_SIZE - 1);
	strcpy(name, value);
}

/* One of the words of "dump" */
static bool parse(const char *word, struct allocinfo_filter *f, uint64_t *pos)
{
	const char *value = strchr(word, '=');
	size_t n = value ? (size_t)(value - word) : 0;
	uint64_t number;

	if (!value)
		return false;
	number = strtoull(++value, NULL, 0);
#define IS(_word) (n == strlen(_word) && !strncmp(word, _word, n))
	if (IS("mod")) {
		parse_name(f->fields.modname, value);
		f->mask |= ALLOCINFO_FILTER_MASK_MODNAME;
	} else if (IS("func")) {
		parse_name(f->fields.function, value);
		f->mask |= ALLOCINFO_FILTER_MASK_FUNCTION;
	} else if (IS("file")) {
		parse_name(f->fields.filename, value);
		f->mask |= ALLOCINFO_FILTER_MASK_FILENAME;
	} else if (IS("line")) {
		f->fields.lineno = number;
		f->mask |= ALLOCINFO_FILTER_MASK_LINENO;
	} else if (IS("inaccurate")) {
		f->inaccurate = number;
		f->mask |= ALLOCINFO_FILTER_MASK_INACCURATE;
	} else if (IS("min")) {
		f->min_size = number;
		f->mask |= ALLOCINFO_FILTER_MASK_MIN_SIZE;
	} else if (IS("max")) {
		f->max_size = number;
		f->mask |= ALLOCINFO_FILTER_MASK_MAX_SIZE;
	} else if (IS("at")) {
		*pos = number;
	} else {
		return false;
	}
#undef IS
	return true;
}

static int dump(char **words)
{
	struct allocinfo_filter filter = { 0 };
	int err, fd = open_info();
	uint64_t pos = 0;
	record r;

	for (; *words; words++)
		if (!parse(*words, &filter, &pos))
			return 2;
	for (err = get_at(fd, pos, &filter, &r); !err; err = get_next(fd, &r)) {
		check_record(&r);
		print(&r);
	}
	EXPECT(err == ENOENT, "%s", strerror(err));
	return 0;
}

static int next(char **words)
{
	size_t i, n;
	record *all = read_all(&n);

	(void)words;
	for (i = 0; i < n; i++)
		print(&all[i]);
	return 0;
}

/* Print N records of a module and all before them, wait for a line of input, print the rest. */
static int stand_in(char **words)
{
	int err, left, fd = open_info();
	record r;

	if (!words[0] || !words[1])
		return 2;
	left = atoi(words[1]);
	while (!(err = get_next(fd, &r))) {
		print(&r);
		if (strcmp(r.tag.modname, words[0]) || --left)
			continue;
		fflush(stdout);
		getchar();
	}
	EXPECT(err == ENOENT && left <= 0, "%s, %d are left", strerror(err), left);
	return 0;
}

static int show(char **words)
{
	record r;

	(void)words;
	while (fread(&r, sizeof(r), 1, stdin) == 1) {
		check_record(&r);
		print(&r);
	}
	return 0;
}

static int id(char **words)
{
	(void)words;
	printf("%" PRIu64 "\n", content_id(open_info()));
	return 0;
}

/* Every position returns the record of that number. */
static int positions(char **words)
{
	size_t i, n;
	record r, *all = read_all(&n);
	int fd = open_info();

	(void)words;
	for (i = 0; i < n; i++)
		EXPECT(!get_at(fd, i, NULL, &r) && same_tag(&r, &all[i]),
		       "record %zu is another", i);
	for (i = 0; i < 64; i++)
		EXPECT(get_at(fd, i < 32 ? n + i : UINT64_MAX >> (i - 32), NULL, &r) == ENOENT,
		       "a record behind the last");
	printf("# %zu positions\n", n);
	return 0;
}

/* The records that pass a filter, from a position on, are those expected from @all. */
static size_t compare(int fd, const record *all, size_t n, size_t pos,
		      const struct allocinfo_filter *f)
{
	int err;
	size_t i, found = 0;
	record r;

	err = get_at(fd, pos, f, &r);
	for (i = pos; i < n; i++) {
		if (!names_pass(&all[i], f))
			continue;
		EXPECT(!err, "mask %#" PRIx64 ", record %zu: %s",
		       (uint64_t)f->mask, i, strerror(err));
		EXPECT(same_tag(&r, &all[i]), "mask %#" PRIx64 ": %s:%" PRIu64 " for record %zu",
		       (uint64_t)f->mask, r.tag.filename, (uint64_t)r.tag.lineno, i);
		found++;
		err = get_next(fd, &r);
	}
	EXPECT(err == ENOENT, "mask %#" PRIx64 ": too many", (uint64_t)f->mask);
	return found;
}

/* Every combination of names and numbers, with values from some of the rows */
static int filters(char **words)
{
	struct allocinfo_filter f = { 0 };
	size_t i, n, queries = 0, found = 0;
	record *all = read_all(&n);
	int fd = open_info();

	(void)words;
	for (i = 0; i < n; i += i < n - 8 ? n / 8 - 1 : 1) {
		f.fields = all[i].tag;
		for (f.mask = 0; f.mask < 2 * ALLOCINFO_FILTER_MASK_INACCURATE; f.mask++) {
			f.inaccurate = !all[i].counter.accurate;
			found += compare(fd, all, n, i / 2, &f);
			queries++;
		}
		f.mask = ALLOCINFO_FILTER_MASK_FILENAME;
		f.fields.filename[strlen(f.fields.filename) - 1] ^= 1;
		compare(fd, all, n, 0, &f);
	}
	printf("# %zu queries, %zu records\n", queries, found);
	return 0;
}

static void expect_err(const char *what, int got, int want)
{
	EXPECT(got == want, "%s: %s", what, got ? strerror(got) : "success");
}

static void bad_masks(int fd)
{
	struct allocinfo_filter f = { 0 };
	unsigned int bit;
	record r;

	for (bit = 0; bit < 64; bit++) {
		int err;

		f.mask = UINT64_C(1) << bit;
		err = get_at(fd, 0, &f, &r);
		if (f.mask & ALLOCINFO_FILTER_MASKS)
			EXPECT(!err || err == ENOENT, "mask bit %u: %s", bit, strerror(err));
		else
			expect_err("unknown mask bit", err, EINVAL);
	}
	f.mask = UINT64_MAX;
	expect_err("all mask bits", get_at(fd, 0, &f, &r), EINVAL);
}

static void bad_numbers(int fd)
{
	void *arg = low(sizeof(struct allocinfo_get_at));
	unsigned int nr;

	for (nr = 0; nr < 256; nr++) {
		if (nr > 2) {
			expect_err("unknown number",
				   call(fd, _IOWR(0xA6, nr, struct allocinfo_get_at), arg), ENOTTY);
			expect_err("unknown number", call(fd, _IO(0xA6, nr), arg), ENOTTY);
		}
		expect_err("another type", call(fd, _IOR(0xA7, nr, record), arg), ENOTTY);
		expect_err("another size", call(fd, _IOR(0xA6, nr, char[13]), arg), ENOTTY);
	}
}

/* Bad addresses: NULL, unmapped, of the kernel, and half mapped. */
static void bad_pointers(int fd)
{
	static const struct { unsigned long cmd; size_t size; } cmds[] = {
		{ ALLOCINFO_IOC_CONTENT_ID, 8 },
		{ ALLOCINFO_IOC_GET_NEXT, 224 },
		{ ALLOCINFO_IOC_GET_AT, 464 },
	};
	char *mem = low(page), *readonly = low(page);
	size_t i, cut;

	mprotect(readonly, page, PROT_READ);
	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		expect_err("NULL", call(fd, cmds[i].cmd, NULL), EFAULT);
		expect_err("no memory", call(fd, cmds[i].cmd, mem + page), EFAULT);
		expect_err("read-only", call(fd, cmds[i].cmd, readonly), EFAULT);
		expect_err("the kernel", call(fd, cmds[i].cmd, in_the_kernel()), EFAULT);
		for (cut = 1; cut < cmds[i].size; cut++)
			expect_err("not all of it is memory",
				   call(fd, cmds[i].cmd, mem + page - cmds[i].size + cut), EFAULT);
		/* The kernel touches no byte outside of the argument. */
		expect_err("up to the last byte",
			   call(fd, cmds[i].cmd, mem + page - cmds[i].size), 0);
		memset(mem, 0, page);
	}
}

/* A call that fails does not move the cursor. */
static void cursor_stays(int fd)
{
	struct allocinfo_get_at *cut = (void *)((char *)low(page) + page -
						offsetof(struct allocinfo_get_at, data));
	struct allocinfo_filter bad = { .mask = ALLOCINFO_FILTER_MASKS + 1 };
	char *hole = (char *)low(page) + page;
	record want, r;

	expect_err("record 6", get_at(fd, 6, NULL, &want), 0);
	expect_err("record 5", get_at(fd, 5, NULL, &r), 0);
	expect_err("bad mask", get_at(fd, 9, &bad, &r), EINVAL);
	expect_err("bad pointer", call(fd, ALLOCINFO_IOC_GET_AT, hole), EFAULT);
	expect_err("no room", call(fd, ALLOCINFO_IOC_GET_AT, cut), EFAULT);
	expect_err("no room", call(fd, ALLOCINFO_IOC_GET_NEXT, hole), EFAULT);
	expect_err("record 6", get_next(fd, &r), 0);
	EXPECT(same_tag(&want, &r), "a call that failed moved the cursor");

	expect_err("the end", get_at(fd, UINT64_MAX, NULL, &r), ENOENT);
	expect_err("behind the end", get_next(fd, &r), ENOENT);
	expect_err("bad mask at the end", get_at(fd, 0, &bad, &r), EINVAL);
	expect_err("still behind the end", get_next(fd, &r), ENOENT);
	expect_err("back again", get_at(fd, 6, NULL, &r), 0);
	EXPECT(same_tag(&want, &r), "another record 6");
}

/* An open file has one cursor, shared by all its descriptors. */
static void cursor_of_file(int fd)
{
	int other = open_info(), copy = dup(fd);
	record first, second, r;

	expect_err("record 0", get_at(fd, 0, NULL, &first), 0);
	expect_err("record 1", get_next(copy, &second), 0);
	EXPECT(!same_tag(&first, &second), "a copy has its own cursor");
	expect_err("fresh", get_next(other, &r), 0);
	EXPECT(same_tag(&first, &r), "a fresh file does not begin at record 0");
	expect_err("record 1", get_next(other, &r), 0);
	EXPECT(same_tag(&second, &r), "then comes record 1");
	close(other);
	close(copy);
}

static int errors(char **words)
{
	int fd = open_info(), path = open(INFO, O_PATH);

	(void)words;
	bad_masks(fd);
	bad_numbers(fd);
	bad_pointers(fd);
	cursor_stays(fd);
	cursor_of_file(fd);
	expect_err("a path is no file", call(path, ALLOCINFO_IOC_CONTENT_ID, low(page)), EBADF);
	return 0;
}

/* Profiling is "never": no records; everything else works as usual. */
static int empty(char **words)
{
	struct allocinfo_filter f = { 0 };
	int fd = open_info();
	record r;

	(void)words;
	EXPECT(!content_id(fd), "content id without records");
	expect_err("GET_NEXT", get_next(fd, &r), ENOENT);
	expect_err("GET_AT 0", get_at(fd, 0, NULL, &r), ENOENT);
	expect_err("GET_AT 1", get_at(fd, 1, NULL, &r), ENOENT);
	f.mask = ALLOCINFO_FILTER_MASKS + 1;
	expect_err("bad mask", get_at(fd, 0, &f, &r), EINVAL);
	expect_err("NULL", call(fd, ALLOCINFO_IOC_GET_AT, NULL), EFAULT);
	bad_numbers(fd);
	return 0;
}

/* The text without its figures, with the lengths of the file */
static size_t read_text(int fd, char *text, size_t room, size_t piece)
{
	size_t got = 0;
	ssize_t n;

	while ((n = read(fd, text + got, piece < room - got ? piece : room - got)) > 0)
		got += (size_t)n;
	EXPECT(!n, "read: %s", strerror(errno));
	return got;
}

/* read() and ioctl() on one file in turns */
static int cursor(char **words)
{
	size_t i, n, got = 0, room = 16 << 20;
	char *text = malloc(room), *line, *rest;
	record r, *all = read_all(&n);
	int fd = open_info();
	ssize_t len = 1;

	(void)words;
	for (i = 0; len > 0 || i < n; ) {
		len = read(fd, text + got, i % 2 ? 100 : 4000);
		got += len > 0 ? (size_t)len : 0;
		if (i >= n)
			continue;
		EXPECT(!get_next(fd, &r) && same_tag(&r, &all[i]),
		       "record %zu after %zu bytes", i, got);
		i++;
	}
	expect_err("the end", get_next(fd, &r), ENOENT);
	text[got] = '\0';
	for (i = 0, line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest), i++) {
		char *name = strstr(line, " func:");

		if (i < 2)
			continue;
		EXPECT(i - 2 < n && name &&
		       !strncmp(name + 6, all[i - 2].tag.function, strlen(all[i - 2].tag.function)),
		       "line %zu of the text: %s", i, line);
	}
	EXPECT(i - 2 == n, "%zu lines, %zu records", i - 2, n);
	return 0;
}

/* Several threads on one file: each record goes to one of them. */

struct job {
	pthread_t thread;
	int fd;
	size_t n;
	record *got;
	unsigned int seed;
};

static void *take(void *arg)
{
	struct job *job = arg;
	int err;

	while (!(err = get_next(job->fd, &job->got[job->n])))
		check_record(&job->got[job->n++]);
	expect_err("thread", err, ENOENT);
	return NULL;
}

static void *disturb(void *arg)
{
	struct job *job = arg;
	char text[5000];
	unsigned int i;
	record r;
	int err;

	for (i = 0; i < 3000; i++) {
		err = rand_r(&job->seed) % 3 ? get_next(job->fd, &r) :
		      get_at(job->fd, (uint64_t)rand_r(&job->seed) % 2000, NULL, &r);
		EXPECT(!err || err == ENOENT, "%s", strerror(err));
		if (!err)
			check_record(&r);
		if (!(i % 10) && pread(job->fd, text, sizeof(text), rand_r(&job->seed) % 50000) < 0)
			fail("pread: %s", strerror(errno));
	}
	return NULL;
}

static int by_tag(const void *a, const void *b)
{
	return memcmp(&((const record *)a)->tag, &((const record *)b)->tag,
		      sizeof(struct allocinfo_tag));
}

static void run(struct job *jobs, unsigned int nr, void *(*what)(void *), int fd)
{
	unsigned int i;

	for (i = 0; i < nr; i++) {
		jobs[i].fd = fd;
		jobs[i].seed = i + 1;
		if (pthread_create(&jobs[i].thread, NULL, what, &jobs[i]))
			fail("no thread");
	}
	for (i = 0; i < nr; i++)
		pthread_join(jobs[i].thread, NULL);
}

static int threads(char **words)
{
	size_t i, n, got = 0;
	record *all = read_all(&n), *sum = calloc(2 * n, sizeof(*sum));
	struct job jobs[4] = { 0 };
	int fd = open_info();

	(void)words;
	for (i = 0; i < ARRAY_SIZE(jobs); i++)
		jobs[i].got = calloc(n + 1, sizeof(record));
	run(jobs, ARRAY_SIZE(jobs), take, fd);
	for (i = 0; i < ARRAY_SIZE(jobs); i++) {
		EXPECT(got + jobs[i].n <= n, "more records than there are");
		memcpy(sum + got, jobs[i].got, jobs[i].n * sizeof(record));
		got += jobs[i].n;
	}
	EXPECT(got == n, "%zu records of %zu", got, n);
	qsort(all, n, sizeof(*all), by_tag);
	qsort(sum, n, sizeof(*sum), by_tag);
	for (i = 0; i < n; i++)
		EXPECT(same_tag(&all[i], &sum[i]), "a record got twice, or not at all");
	run(jobs, ARRAY_SIZE(jobs), disturb, fd);
	return 0;
}

/* Random input */

static uint64_t state;

static uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void random_name(char *name, const char *real)
{
	size_t i;

	memcpy(name, real, ALLOCINFO_STR_SIZE);
	switch (rnd() % 6) {
	case 0:
		for (i = 0; i < ALLOCINFO_STR_SIZE; i++)
			name[i] = (char)rnd();
		break;
	case 1:
		memset(name, (int)(rnd() % 255) + 1, ALLOCINFO_STR_SIZE);
		break;
	case 2:
		name[rnd() % ALLOCINFO_STR_SIZE] ^= (char)(1 << rnd() % 8);
		break;
	}
}

static void random_filter(struct allocinfo_filter *f, const record *real)
{
	f->mask = rnd() % 4 ? rnd() & ALLOCINFO_FILTER_MASKS : rnd() >> rnd() % 64;
	f->fields = real->tag;
	random_name(f->fields.modname, real->tag.modname);
	random_name(f->fields.function, real->tag.function);
	random_name(f->fields.filename, real->tag.filename);
	if (rnd() % 4 == 0)
		f->fields.lineno = rnd() >> rnd() % 64;
	f->min_size = rnd() % 2 ? real->counter.bytes / 2 : rnd() >> rnd() % 64;
	f->max_size = rnd() % 2 ? real->counter.bytes * 2 : rnd() >> rnd() % 64;
	f->inaccurate = rnd() % 2 ? 0 : rnd() >> rnd() % 64;
}

static bool fuzz_one(int fd, const record *all, size_t n)
{
	struct allocinfo_filter f;
	record r;
	int err;

	random_filter(&f, &all[rnd() % n]);
	err = get_at(fd, rnd() % 2 ? rnd() % n : rnd() >> rnd() % 64, &f, &r);
	if (f.mask & ~(uint64_t)ALLOCINFO_FILTER_MASKS) {
		expect_err("bad mask", err, EINVAL);
		return false;
	}
	if (!err) {
		check_record(&r);
		EXPECT(passes(&r, &f), "a record that does not pass");
		err = get_next(fd, &r);
		EXPECT(err || passes(&r, &f), "a next one that does not pass");
		return true;
	}
	expect_err("fuzz", err, ENOENT);
	return false;
}

static int fuzz(char **words)
{
	unsigned long i, rounds = words[0] ? strtoul(words[0], NULL, 0) : 10000, hits = 0;
	char *hole = (char *)low(page) + page;
	int err, fd = open_info();
	size_t n;
	record *all = read_all(&n);

	state = words[0] && words[1] ? strtoull(words[1], NULL, 0) : 1;
	for (i = 0; i < rounds; i++) {
		hits += fuzz_one(fd, all, n);
		/* Any number and any argument, which must not be written to. */
		err = call(fd, (uint32_t)rnd() % 2 ? (uint32_t)rnd() : 0xA600 | (rnd() & 0xffff00ff),
			   hole + rnd() % page);
		EXPECT(err == ENOTTY || err == EFAULT || err == EINVAL,
		       "random call: %s", strerror(err));
	}
	printf("# %lu of %lu found something, seed then %" PRIu64 "\n", hits, rounds, state);
	return 0;
}

/* Cost in ticks of the time stamp counter */

static uint64_t cost_of_text(size_t piece, char *text, size_t room, size_t *got)
{
	int fd = open_info();
	uint64_t start = cycles();

	*got = read_text(fd, text, room, piece);
	start = cycles() - start;
	close(fd);
	return start;
}

static uint64_t cost_of_query(const struct allocinfo_filter *f, size_t *got)
{
	int fd = open_info(), err;
	uint64_t start = cycles();
	record r;

	*got = 0;
	for (err = get_at(fd, 0, f, &r); !err; err = get_next(fd, &r))
		++*got;
	start = cycles() - start;
	close(fd);
	return start;
}

/* The first and the last fifth of the text, with small reads */
static void cost_of_ends(size_t size, char *text)
{
	uint64_t now, start, head = 0, tail = 0;
	int fd = open_info();
	size_t got = 0;
	ssize_t n;

	do {
		start = cycles();
		n = read(fd, text, 64);
		now = cycles() - start;
		if (got < size / 5)
			head += now;
		else if (got >= size - size / 5)
			tail += now;
		got += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	close(fd);
	printf("first_fifth %" PRIu64 "\nlast_fifth %" PRIu64 "\n", head, tail);
}

static int cost(char **words)
{
	struct allocinfo_filter f = { 0 };
	size_t got, size, room = 16 << 20;
	char *text = malloc(room);
	uint64_t pos = 0;

	for (; *words; words++)
		if (!parse(*words, &f, &pos))
			return 2;
	/* Twice: the first touches the memory. */
	cost_of_text(65536, text, room, &size);
	printf("text %" PRIu64 "\n", cost_of_text(65536, text, room, &size));
	printf("bytes %zu\n", size);
	printf("filtered %" PRIu64 "\n", cost_of_query(&f, &got));
	printf("found %zu\n", got);
	f.mask = 0;
	printf("all %" PRIu64 "\n", cost_of_query(&f, &got));
	printf("records %zu\n", got);
	cost_of_ends(size, text);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(char **words);
	const char *help;
} commands[] = {
	{ "dump", dump, "[mod= func= file= line= inaccurate= min= max= at=]: rows, by GET_AT and GET_NEXT" },
	{ "next", next, "rows, by GET_NEXT on a fresh file" },
	{ "stand-in", stand_in, "MODULE N: as next, but wait for a line of input after N records of MODULE" },
	{ "show", show, "rows of the records on standard input" },
	{ "id", id, "content id" },
	{ "positions", positions, "each record by its position" },
	{ "filters", filters, "combinations of filters against all records" },
	{ "errors", errors, "all that is refused, and that it changes nothing" },
	{ "empty", empty, "what holds when there are no records" },
	{ "cursor", cursor, "read() and ioctl() in turn" },
	{ "threads", threads, "several on one file" },
	{ "fuzz", fuzz, "[ROUNDS [SEED]]: random input" },
	{ "cost", cost, "[filter]: cost of the text, the filtered and all records" },
};

static int usage(FILE *to)
{
	size_t i;

	fprintf(to, "usage: allocinfo [--compat] COMMAND [ARGUMENTS]\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(to, "  %-10s %s\n", commands[i].name, commands[i].help);
	return to == stdout ? 0 : 2;
}

int main(int argc, char **argv)
{
	size_t i;

	page = (size_t)sysconf(_SC_PAGESIZE);
	if (argc > 1 && !strcmp(argv[1], "--compat")) {
		compat = true;
		argv++;
		argc--;
	}
	if (argc > 1 && !strcmp(argv[1], "--help"))
		return usage(stdout);
	for (i = 0; argc > 1 && i < ARRAY_SIZE(commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argv + 2) == 2 ? usage(stderr) : 0;
	return usage(stderr);
}
