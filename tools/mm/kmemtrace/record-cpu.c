// SPDX-License-Identifier: GPL-2.0-only
/*
 * kmemtraced: record what kmemtrace tells, until it is told to stop.
 *
 * Each file cpu<n> has a thread of its own, bound to that CPU, as relay asks of
 * its readers: the kernel fills a buffer on its CPU only, and who reads it there
 * cannot meet it half-way through a record. For the same reason each read() comes
 * after a poll(). What a CPU that is offline has left behind is at rest, so from
 * there on any CPU may read it; that is done at the end, or when it is back.
 *
 * The bytes go to disk as they come, a buffer at a time. Only a file that cannot be
 * written any more is looked into: it is cut after its last whole record, so that
 * what is on disk is a valid trace at every end this program comes to. The header is
 * written at the beginning and room is kept for a second one, which says at the end
 * how it went; until then the trace is one that is not complete.
 *
 * Who switches recording on switches it off again; if this program is killed, the
 * kernel does. One that was on already, from boot perhaps, is joined: nothing is
 * thrown away, and it is left on. With --rest nothing is switched at all, and what an
 * earlier recording left is taken.
 *
 * A signal, or the end of the time, ends recording, and then what the kernel still has
 * is fetched; a second signal does without the rest.
 *
 * The readers share nothing but the events to stop and to have stopped, what is left
 * of the limit, and that something failed; the main thread does all else.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <linux/kmemtrace.h>

#include "number.h"
#include "outfile.h"
#include "signals.h"
#include "status.h"
#include "trace.h"
#include "util.h"

#define DEFAULT_DEBUGFS	"/sys/kernel/debug/kmemtrace"
#define ONLINE_CPUS	"/sys/devices/system/cpu/online"

#define SUBBUF_SIZE	(256 * 1024)
/* where the number of sub-buffers cannot be read */
#define SUBBUFS_UNKNOWN	256
#define READ_SIZE	(1024 * 1024)
/* On a machine with more CPUs than this, the buffers are of one sub-buffer. */
#define BUF_ALIGN	4096	/* no device wants more */
#define READ_SIZE_CPUS	128
#define STACK_SIZE	(128 * 1024)
/* kept for what the last header has more than the first */
#define HEADER_MORE	(64 * 1024)
#define TICK_MS		1000

/* Data */

static struct {
	const char *debugfs;
	const char *output;
	const char *features;
	double seconds;
	uint64_t max;		/* bytes; 0: no limit */
	bool force;
	bool quiet;
	bool progress;
	bool rest;
	bool stop;
} options = { .debugfs = DEFAULT_DEBUGFS, .output = "." };

/**
 * struct reader - a CPU's file on its way to disk
 * @cpu: number
 * @in: cpu<n> of debugfs
 * @out: cpu<n>.out
 * @buf: READ_SIZE or less, aligned for @direct
 * @fill: how much of @buf is still to be written
 * @direct: @out goes past the page cache, in whole buffers. What the page cache
 *	would take for each page are allocations, and the trace would be full of
 *	them.
 * @thread: reads
 * @bound: the thread is bound to @cpu, or was until that went offline
 * @offline: main thread: has been reported to be
 * @bytes: written to @out
 * @mark: a place between two records, which is what a read() ends with that had
 *	room for more; perhaps still to be written
 * @whole: the last @mark that is in @out
 */
struct reader {
	unsigned int cpu;
	int in;
	int out;
	uint8_t *buf;
	size_t fill;
	bool direct;
	pthread_t thread;
	bool bound;
	bool offline;
	uint64_t bytes;
	uint64_t mark;
	uint64_t whole;
};

/* A line of the file "stats". */
struct stats {
	unsigned int cpu;
	uint64_t events;
	uint64_t bytes;
	uint64_t lost_events;
	uint64_t lost_bytes;
	uint64_t untold_events;
	uint64_t untold_bytes;
};

/* @overruns is what a kernel without "stats" has: bytes lost, -1: not even that */
struct all_stats {
	struct stats *cpus;
	size_t nr;
	bool known;
	long long overruns;
};

struct text {
	char *s;
	size_t len;
};

static struct {
	struct reader **readers;
	size_t nr_readers;
	size_t read_size;
	uint64_t drain_max;	/* of a reader, once told to stop */
	uint64_t room;		/* what is left of --max */
	int dir;
	int lock;		/* "enabled": holds the lock and the recording */
	FILE *last_header;	/* room for it, until it is written */
	int stop_fd;		/* readable once all shall stop */
	int wake_fd;		/* readable once one has failed */
	int done_fd;		/* counts readers that have stopped */
	bool begun;		/* recording is to be switched on here, or was */
	bool on;		/* it was, so it is ours to switch off */
	bool ended;		/* and off, by anyone's wish */
	bool whole;		/* the trace is of all that was recorded */
	bool full;		/* --max is reached */
	bool give_up;		/* told to stop once more */
	bool unfetched;		/* and something was left */
	bool unknown;		/* nobody knows what was lost */
	bool failed_output;
	bool failed_other;
	struct all_stats before;
	struct all_stats after;
	struct text features;
	struct text tags;
	struct text modules;
	struct text kallsyms;
	char started[32];
	bool line;		/* a line of progress stands on the terminal */
} rec = { .dir = -1, .lock = -1, .stop_fd = -1, .wake_fd = -1, .done_fd = -1 };

/* Messages */

static void vsay(const char *format, va_list args)
{
	flockfile(stderr);
	if (rec.line)
		fputs("\r\033[K", stderr);
	rec.line = false;
	fputs("kmemtraced: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	fflush(stderr);
	funlockfile(stderr);
}

static void __printf(1, 2) error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsay(format, args);
	va_end(args);
}

static void __printf(1, 2) note(const char *format, ...)
{
	va_list args;

	if (options.quiet)
		return;
	va_start(args, format);
	vsay(format, args);
	va_end(args);
}

static bool load(const bool *flag)
{
	return __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}

static void set(bool *flag)
{
	__atomic_store_n(flag, true, __ATOMIC_RELEASE);
}

static void signal_event(int fd)
{
	uint64_t one = 1;

	/* It fails only where it has long been readable. */
	if (write(fd, &one, sizeof(one)) < 0)
		return;
}

/* From a reader: have the main thread end it all. */
static void fail(bool *which)
{
	set(which);
	signal_event(rec.wake_fd);
}

/* Small files */

static int open_at(const char *name, int flags)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", options.debugfs, name);
	return open(path, flags | O_CLOEXEC);
}

/* All there is to read, with a NUL byte behind. */
static bool slurp_fd(int fd, struct text *text)
{
	size_t room = 4096;
	ssize_t n;
	char *p;

	*text = (struct text){ .s = malloc(room) };
	while (text->s) {
		n = read(fd, text->s + text->len, room - text->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			free(text->s);
			text->s = NULL;
		}
		if (n <= 0)
			break;
		text->len += n;
		if (room - text->len > 1024)
			continue;
		room *= 2;
		p = realloc(text->s, room);
		if (!p)
			free(text->s);
		text->s = p;
	}
	if (!text->s) {
		text->len = 0;
		return false;
	}
	text->s[text->len] = '\0';
	return true;
}

static bool slurp(int fd, struct text *text)
{
	bool ok;

	*text = (struct text){ .s = NULL };
	if (fd < 0)
		return false;
	ok = slurp_fd(fd, text);
	close(fd);
	return ok;
}

static bool read_file(const char *name, struct text *text)
{
	return slurp(open_at(name, O_RDONLY), text);
}

static long long read_value(const char *name, long long otherwise)
{
	struct text text;
	long long value;
	char *end;

	if (!read_file(name, &text))
		return otherwise;
	errno = 0;
	value = strtoll(text.s, &end, 10);
	if (end == text.s || errno)
		value = otherwise;
	free(text.s);
	return value;
}

/* Returns 0 or a negative errno. */
static int write_file(const char *name, const char *value)
{
	int fd = open_at(name, O_WRONLY | O_TRUNC);
	int err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, value, strlen(value)) < 0)
		err = -errno;
	close(fd);
	return err;
}

/* CPUs */

/* Is @cpu in a list like "0-3,5"? */
static bool in_list(const char *list, unsigned int cpu)
{
	unsigned long first, last;
	char *end;

	for (; isdigit((unsigned char)*list); list = end + (*end == ',')) {
		first = strtoul(list, &end, 10);
		last = first;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
	}
	return false;
}

static bool read_online(struct text *text)
{
	return slurp(open(ONLINE_CPUS, O_RDONLY | O_CLOEXEC), text);
}

/* Where it cannot be known, one that nothing can be bound to is taken as not. */
static bool is_online(unsigned int cpu)
{
	struct text text;
	bool online;

	if (!read_online(&text))
		return false;
	online = in_list(text.s, cpu);
	free(text.s);
	return online;
}

/* Returns 0 or a negative errno. */
static int bind_thread(unsigned int cpu)
{
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	int err = 0;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set))
		err = -errno;
	CPU_FREE(set);
	return err;
}

/*
 * Be on the CPU of the reader. If it goes offline, the kernel moves the thread
 * elsewhere, and leaves it there when the CPU is back.
 */
static bool be_there(struct reader *r)
{
	int tries, err;

	if (r->bound && sched_getcpu() == (int)r->cpu)
		return true;
	/* It may come and go between one question and the next. */
	for (tries = 0; tries < 5; tries++) {
		err = bind_thread(r->cpu);
		r->bound = !err;
		if (!err)
			return true;
		if (err == -EINVAL && !is_online(r->cpu))
			return false;
		usleep(10000);
	}
	error("cannot be bound to CPU %u, which is online: %s", r->cpu,
	      strerror(-err));
	fail(&rec.failed_other);
	return false;
}

/* Readers */

/* Wait for data, or without @in for time; false when it is time to stop. */
static bool wait_for(int in, int timeout)
{
	struct pollfd fds[2] = {
		{ .fd = rec.stop_fd, .events = POLLIN },
		{ .fd = in, .events = POLLIN },
	};

	if (poll(fds, in < 0 ? 1 : 2, timeout) < 0) {
		if (errno == EINTR)
			return true;
		error("poll: %s", strerror(errno));
		fail(&rec.failed_other);
		return false;
	}
	return !fds[0].revents;
}

/* How much of the file from @at on is whole records; -1: it has none such. */
static int64_t whole_from(const struct reader *r, uint64_t at)
{
	size_t pos, size;
	uint16_t head[2];
	ssize_t n;

	for (;;) {
		n = pread(r->out, r->buf, rec.read_size, at);
		if (n < 0)
			return -1;
		for (pos = 0; n - pos >= sizeof(head); pos += size) {
			memcpy(head, r->buf + pos, sizeof(head));
			size = head[1];
			if (size < sizeof(struct kmemtrace_event) ||
			    size % KMEMTRACE_ALIGN)
				return -1;
			if (size > n - pos)
				break;
		}
		at += pos;
		if (!pos || (size_t)n < rec.read_size)
			return at;
	}
}

/* Leave a file that ends with a whole record. */
static void cut_to_whole(struct reader *r)
{
	int64_t whole;

	if (r->whole == r->bytes)
		return;
	whole = whole_from(r, r->whole);
	if (whole < 0)
		whole = whole_from(r, 0);
	if (whole < 0) {
		error("cpu%u.out: the records make no sense, they are left as they came",
		      r->cpu);
		return;
	}
	if (ftruncate(r->out, whole))
		error("cpu%u.out: cannot be cut to whole records: %s", r->cpu,
		      strerror(errno));
	__atomic_store_n(&r->bytes, whole, __ATOMIC_RELAXED);
	r->whole = whole;
}

/* For what is no whole buffer, and where the file system has no other way. */
static void go_through_cache(struct reader *r)
{
	int flags = fcntl(r->out, F_GETFL);

	if (!r->direct)
		return;
	r->direct = false;
	if (flags < 0 || fcntl(r->out, F_SETFL, flags & ~O_DIRECT))
		error("cpu%u.out: %s", r->cpu, strerror(errno));
}

/* As much of @size as --max has left for all readers. */
static size_t take_room(size_t size)
{
	uint64_t left = __atomic_load_n(&rec.room, __ATOMIC_RELAXED), part;

	do
		part = size < left ? size : left;
	while (!__atomic_compare_exchange_n(&rec.room, &left, left - part, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return part;
}

/* False if no more can be written, or may be. */
static bool write_out(struct reader *r)
{
	size_t n = take_room(r->fill);
	bool full = n < r->fill;
	uint64_t bytes = r->bytes;
	const uint8_t *p = r->buf;
	ssize_t done;

	r->fill = 0;
	if (full)
		fail(&rec.full);
	while (n) {
		if (n < rec.read_size)
			go_through_cache(r);
		done = write(r->out, p, n);
		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0 && errno == EINVAL && r->direct) {
			go_through_cache(r);
			continue;
		}
		if (done < 0) {
			error("%s/cpu%u.out: offset %llu: %s", options.output, r->cpu,
			      (unsigned long long)bytes, strerror(errno));
			fail(&rec.failed_output);
			return false;
		}
		p += done;
		n -= done;
		bytes += done;
		__atomic_store_n(&r->bytes, bytes, __ATOMIC_RELAXED);
	}
	if (r->mark <= bytes)
		r->whole = r->mark;
	return !full;
}

/*
 * One read, and a write when the buffer is full; -1 on failure. @room is how much
 * was asked for.
 */
static ssize_t transfer(struct reader *r, size_t *room)
{
	ssize_t n;

	*room = rec.read_size - r->fill;
	n = read(r->in, r->buf + r->fill, *room);
	if (n < 0) {
		if (errno == EINTR || errno == EAGAIN)
			return 0;
		error("cpu%u: %s%s", r->cpu, strerror(errno), errno == EIO ?
		      "; somebody has written to \"subbufs\", and the buffers are gone" :
		      "");
		fail(&rec.failed_other);
		return -1;
	}
	r->fill += n;
	if ((size_t)n < *room)
		r->mark = r->bytes + r->fill;
	if ((!r->direct || r->fill == rec.read_size) && !write_out(r))
		return -1;
	return n;
}

/*
 * The kernel is empty when it has less than was asked for. If it goes on to
 * record, it records this as well: so there is a bound to it. What was read before
 * is written even if there is nothing to be had any more.
 */
static void drain(struct reader *r)
{
	uint64_t left = rec.drain_max;
	size_t room;
	ssize_t n;

	be_there(r);
	do {
		if (load(&rec.give_up)) {
			set(&rec.unfetched);
			break;
		}
		n = transfer(r, &room);
		if (n > 0)
			left -= (uint64_t)n < left ? (uint64_t)n : left;
	} while (n >= 0 && (size_t)n == room && left);
	write_out(r);
}

/* To the disk, unless nobody wants to wait for that. */
static void sync_out(struct reader *r)
{
	if (load(&rec.give_up) || !fsync(r->out) || errno == EINVAL || errno == EROFS)
		return;
	error("cpu%u.out: %s", r->cpu, strerror(errno));
	fail(&rec.failed_output);
}

static void *reader_thread(void *arg)
{
	struct reader *r = arg;
	ssize_t n = 0;
	size_t room;

	while (n >= 0) {
		if (!be_there(r)) {
			if (!wait_for(-1, TICK_MS))
				break;
			continue;
		}
		if (!wait_for(r->in, -1))
			break;
		if (!be_there(r))
			continue;
		n = transfer(r, &room);
		/* There was to be something: do not spin for it. */
		if (!n && !wait_for(-1, 50))
			break;
	}
	/* Where there is no room for it, do not fetch the rest. */
	if (n >= 0 && !load(&rec.failed_output))
		drain(r);
	else if (!load(&rec.failed_output))
		write_out(r);	/* what was there before it failed */
	go_through_cache(r);
	cut_to_whole(r);
	sync_out(r);
	signal_event(rec.done_fd);
	return NULL;
}

static void free_reader(struct reader *r)
{
	if (r->in >= 0)
		close(r->in);
	if (r->out >= 0)
		close(r->out);
	free(r->buf);
	free(r);
}

static int start_thread(struct reader *r)
{
	pthread_attr_t attr;
	size_t stack = STACK_SIZE;
	int err;

	if ((long)stack < PTHREAD_STACK_MIN)
		stack = PTHREAD_STACK_MIN;
	err = pthread_attr_init(&attr);
	if (err)
		return err;
	pthread_attr_setstacksize(&attr, stack);
	err = pthread_create(&r->thread, &attr, reader_thread, r);
	pthread_attr_destroy(&attr);
	return err;
}

/* A new file of the trace, whatever others may have put there. */
static int create_at(const char *name)
{
	return openat(rec.dir, name,
		      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static bool open_reader(struct reader *r)
{
	char name[32];

	snprintf(name, sizeof(name), "cpu%u", r->cpu);
	r->in = open_at(name, O_RDONLY | O_NONBLOCK);
	if (r->in < 0) {
		error("%s/%s: %s", options.debugfs, name, strerror(errno));
		return false;
	}
	snprintf(name, sizeof(name), "cpu%u.out", r->cpu);
	r->out = create_at(name);
	if (r->out < 0) {
		set(&rec.failed_output);
		error("%s/%s: %s", options.output, name, strerror(errno));
		return false;
	}
	r->direct = !fcntl(r->out, F_SETFL, O_DIRECT);
	if (!posix_memalign((void **)&r->buf, BUF_ALIGN, rec.read_size))
		return true;
	error("cpu%u: out of memory", r->cpu);
	return false;
}

static bool add_reader(unsigned int cpu)
{
	struct reader **more, *r;
	int err;

	r = calloc(1, sizeof(*r));
	more = realloc(rec.readers, (rec.nr_readers + 1) * sizeof(*more));
	if (more)
		rec.readers = more;
	if (!r || !more) {
		error("out of memory");
		free(r);
		return false;
	}
	*r = (struct reader){ .cpu = cpu, .in = -1, .out = -1 };
	if (!open_reader(r)) {
		free_reader(r);
		return false;
	}
	err = start_thread(r);
	if (err) {
		error("no thread for CPU %u: %s", cpu, strerror(err));
		free_reader(r);
		return false;
	}
	rec.readers[rec.nr_readers++] = r;
	return true;
}

static bool has_reader(unsigned int cpu)
{
	size_t i;

	for (i = 0; i < rec.nr_readers; i++)
		if (rec.readers[i]->cpu == cpu)
			return true;
	return false;
}

/* "cpu12@suffix", with no other way to write the number */
static bool cpu_name(const char *name, const char *suffix, unsigned int *cpu)
{
	char again[32];

	if (sscanf(name, "cpu%5u", cpu) != 1 || *cpu >= TRACE_MAX_CPUS)
		return false;
	snprintf(again, sizeof(again), "cpu%u%s", *cpu, suffix);
	return !strcmp(name, again);
}

/* Until @fn fails. */
static bool visit_cpu_files(bool (*fn)(unsigned int cpu))
{
	DIR *d = opendir(options.debugfs);
	struct dirent *entry;
	unsigned int cpu;
	bool ok = true;

	if (!d) {
		error("%s: %s", options.debugfs, strerror(errno));
		return false;
	}
	while (ok && (entry = readdir(d)))
		if (cpu_name(entry->d_name, "", &cpu))
			ok = fn(cpu);
	closedir(d);
	return ok;
}

static bool read_if_new(unsigned int cpu)
{
	return has_reader(cpu) || add_reader(cpu);
}

/* Files appear when recording begins, and with CPUs. */
static bool scan(void)
{
	if (visit_cpu_files(read_if_new))
		return true;
	set(&rec.failed_other);
	return false;
}

static void report_cpus(void)
{
	struct text online;
	struct reader *r;
	bool offline;
	size_t i;

	if (!read_online(&online))
		return;
	for (i = 0; i < rec.nr_readers; i++) {
		r = rec.readers[i];
		offline = !in_list(online.s, r->cpu);
		if (offline && !r->offline)
			note("CPU %u is offline; its rest is read when it is back, or at the end",
			     r->cpu);
		else if (!offline && r->offline)
			note("CPU %u is online again", r->cpu);
		r->offline = offline;
	}
	free(online.s);
}

static uint64_t bytes_read(void)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < rec.nr_readers; i++)
		sum += __atomic_load_n(&rec.readers[i]->bytes, __ATOMIC_RELAXED);
	return sum;
}

/* Statistics of the kernel */

static bool parse_stats(const char *line, struct stats *s)
{
	unsigned long long v[6];

	if (sscanf(line, "%u %llu %llu %llu %llu %llu %llu", &s->cpu, &v[0],
		   &v[1], &v[2], &v[3], &v[4], &v[5]) != 7)
		return false;
	s->events = v[0];
	s->bytes = v[1];
	s->lost_events = v[2];
	s->lost_bytes = v[3];
	s->untold_events = v[4];
	s->untold_bytes = v[5];
	return true;
}

static void read_stats(struct all_stats *all)
{
	struct stats s, *more;
	struct text text;
	char *line, *next;

	free(all->cpus);
	*all = (struct all_stats){ .overruns = read_value("total_overruns", -1) };
	all->known = read_file("stats", &text);
	if (!all->known)
		return;
	for (line = text.s; *line; line = next) {
		next = strchrnul(line, '\n');
		next += *next == '\n';
		if (*line == '#' || !parse_stats(line, &s))
			continue;
		more = realloc(all->cpus, (all->nr + 1) * sizeof(*more));
		all->known = more;
		if (!more)
			break;
		all->cpus = more;
		all->cpus[all->nr++] = s;
	}
	free(text.s);
}

static struct stats stats_of(const struct all_stats *all, unsigned int cpu)
{
	size_t i;

	for (i = 0; i < all->nr; i++)
		if (all->cpus[i].cpu == cpu)
			return all->cpus[i];
	return (struct stats){ .cpu = cpu };
}

static struct stats sum_stats(const struct all_stats *all)
{
	struct stats sum = { 0 };
	size_t i;

	for (i = 0; i < all->nr; i++) {
		sum.events += all->cpus[i].events;
		sum.bytes += all->cpus[i].bytes;
		sum.lost_events += all->cpus[i].lost_events;
		sum.lost_bytes += all->cpus[i].lost_bytes;
	}
	return sum;
}

/* What each CPU lost is known of a kernel that has "stats". */
static bool losses_known(void)
{
	return rec.before.known && rec.after.known;
}

static bool has_lost(void)
{
	if (rec.unknown)
		return false;
	/* Of the rest of a recording, what was lost before belongs to it. */
	if (!losses_known())
		return rec.after.overruns !=
		       (options.rest ? 0 : rec.before.overruns);
	return sum_stats(&rec.after).lost_events !=
	       sum_stats(&rec.before).lost_events;
}

/* Symbols, tags, modules: as they are now, with those that have gone since */

/* What makes a line another one; 0: it is not kept. */
static size_t first_word(const char *line, size_t len)
{
	const char *space = memchr(line, ' ', len);

	return space ? (size_t)(space - line) : len;
}

/* Of the kernel itself nothing goes. */
static size_t symbol_of_module(const char *line, size_t len)
{
	return memchr(line, '\t', len) ? len : 0;
}

struct set {
	uint64_t *slots;
	size_t mask;
};

static uint64_t hash(const char *s, size_t len)
{
	uint64_t h = 0xcbf29ce484222325;

	while (len--)
		h = (h ^ (uint8_t)*s++) * 0x100000001b3;
	return h ? h : 1;
}

/* Returns whether it was in it. */
static bool set_add(struct set *set, uint64_t h)
{
	size_t i;

	for (i = h & set->mask; set->slots[i]; i = (i + 1) & set->mask)
		if (set->slots[i] == h)
			return true;
	set->slots[i] = h;
	return false;
}

static const char *line_end(const struct text *text, const char *line)
{
	const char *end = memchr(line, '\n', text->s + text->len - line);

	return end ? end : text->s + text->len;
}

static size_t count_lines(const struct text *text)
{
	size_t nr = 0, i;

	for (i = 0; i < text->len; i++)
		nr += text->s[i] == '\n';
	return nr + 1;
}

/* Add to @now those lines of @old that it does not have. */
static void merge(struct text *now, const struct text *old,
		  size_t (*key)(const char *line, size_t len))
{
	const char *line, *end, *stop = now->s + now->len;
	struct set set = { .mask = 1 };
	size_t len;
	char *p;

	while (set.mask < 2 * (count_lines(now) + count_lines(old)))
		set.mask = 2 * set.mask + 1;
	set.slots = calloc(set.mask + 1, sizeof(*set.slots));
	p = realloc(now->s, now->len + old->len + 2);
	if (p)
		now->s = p;
	if (!p || !set.slots) {
		free(set.slots);
		return;
	}
	stop = now->s + now->len;
	for (line = now->s; line < stop; line = end + 1) {
		end = line_end(now, line);
		len = key(line, end - line);
		if (len)
			set_add(&set, hash(line, len));
	}
	for (line = old->s; line < old->s + old->len; line = end + 1) {
		end = line_end(old, line);
		len = key(line, end - line);
		if (!len || set_add(&set, hash(line, len)))
			continue;
		len = end - line;
		memcpy(now->s + now->len, line, len);
		now->len += len;
		now->s[now->len++] = '\n';
	}
	now->s[now->len] = '\0';
	free(set.slots);
}

static void refresh_text(struct text *text, int fd,
			 size_t (*key)(const char *line, size_t len))
{
	struct text now;

	if (!slurp(fd, &now)) {
		free(now.s);
		return;
	}
	if (text->s)
		merge(&now, text, key);
	free(text->s);
	*text = now;
}

static void refresh_symbols(void)
{
	refresh_text(&rec.tags, open_at("tags", O_RDONLY), first_word);
	refresh_text(&rec.modules, open("/proc/modules", O_RDONLY | O_CLOEXEC),
		     first_word);
	refresh_text(&rec.kallsyms, open("/proc/kallsyms", O_RDONLY | O_CLOEXEC),
		     symbol_of_module);
}

/* The names of modules, in the order of the kernel: they tell of a change. */
static uint64_t modules_hash(void)
{
	const char *line, *end;
	struct text text;
	uint64_t h = 0;

	if (!slurp(open("/proc/modules", O_RDONLY | O_CLOEXEC), &text))
		return 0;
	for (line = text.s; line < text.s + text.len; line = end + 1) {
		end = line_end(&text, line);
		h = 31 * h + hash(line, first_word(line, end - line));
	}
	free(text.s);
	return h;
}

/* What is loaded now may be gone when the header is written. */
static void follow_modules(void)
{
	static uint64_t last;
	static bool any;
	uint64_t h = modules_hash();

	if (h != last || !any)
		refresh_symbols();
	last = h;
	any = true;
}

/* The header */

static void put_section(FILE *f, const char *name, const struct text *text)
{
	fprintf(f, "section %s\n", name);
	if (text->len)
		fwrite(text->s, 1, text->len, f);
	if (text->len && text->s[text->len - 1] != '\n')
		fputc('\n', f);
}

/* "[time] [pid] tag" is "time pid" */
static void put_features(FILE *f)
{
	const char *p = rec.features.s;
	size_t len;

	fputs("features", f);
	for (; p && (p = strchr(p, '[')); p += len) {
		p++;
		len = strcspn(p, "]");
		fprintf(f, " %.*s", (int)len, p);
	}
	fputc('\n', f);
}

static int compare_readers(const void *a, const void *b)
{
	const struct reader *x = *(struct reader *const *)a;
	const struct reader *y = *(struct reader *const *)b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

static void put_losses(FILE *f)
{
	struct stats was, is;
	size_t i;

	fprintf(f, "span %s\n",
		rec.whole && losses_known() && (rec.ended || options.rest) &&
		!rec.full && !rec.unfetched ? "whole" : "part");
	/* It was switched on before the first record, and here alone. */
	if (rec.begun)
		fputs("begins 0\n", f);
	for (i = 0; i < rec.nr_readers; i++)
		fprintf(f, "written %u %llu\n", rec.readers[i]->cpu,
			(unsigned long long)rec.readers[i]->bytes);
	for (i = 0; i < rec.after.nr; i++) {
		is = rec.after.cpus[i];
		was = stats_of(&rec.before, is.cpu);
		fprintf(f, "lost %u %llu %llu\n", is.cpu,
			(unsigned long long)(is.lost_events - was.lost_events),
			(unsigned long long)(is.lost_bytes - was.lost_bytes));
		fprintf(f, "earlier %u %llu %llu\n", is.cpu,
			(unsigned long long)was.untold_events,
			(unsigned long long)was.untold_bytes);
		fprintf(f, "untold %u %llu %llu\n", is.cpu,
			(unsigned long long)is.untold_events,
			(unsigned long long)is.untold_bytes);
	}
}

static void put_header(FILE *f, bool last)
{
	bool big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct utsname uts;
	size_t i;

	uname(&uts);
	fprintf(f, "kmemtrace 1\nabi_version %lld\n",
		read_value("abi_version", KMEMTRACE_ABI_VERSION));
	fprintf(f, "byte_order %s\n", big ? "big" : "little");
	fprintf(f, "word_bits %d\n",
		strstr(uts.machine, "64") || strstr(uts.machine, "s390x") ?
		64 : (int)sizeof(long) * 8);
	fprintf(f, "page_size %ld\nclock monotonic\n", sysconf(_SC_PAGESIZE));
	fprintf(f, "machine %s\nrelease %s\n", uts.machine, uts.release);
	put_features(f);
	fprintf(f, "started %s\n", rec.started);
	fprintf(f, "complete %s\n",
		last && !rec.failed_output && !rec.failed_other && !rec.unfetched ?
		"yes" : "no");
	fputs("cpus", f);
	for (i = 0; i < rec.nr_readers; i++)
		fprintf(f, " %u", rec.readers[i]->cpu);
	fputc('\n', f);
	if (last)
		put_losses(f);
	put_section(f, "tags", &rec.tags);
	put_section(f, "modules", &rec.modules);
	put_section(f, "kallsyms", &rec.kallsyms);
	fputs("end\n", f);
}

static bool header_trouble(int err)
{
	error("%s/header: %s", options.output, strerror(err));
	set(&rec.failed_output);
	return false;
}

static FILE *create_header(void)
{
	int fd = create_at("header.tmp");
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (f)
		return f;
	header_trouble(errno);
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* Over what @f has: that has been given room. @more is room to be given beyond. */
static bool fill_header(FILE *f, bool last, size_t more)
{
	static const char zeros[4096];

	rewind(f);
	put_header(f, last);
	for (; more; more -= sizeof(zeros))
		fwrite(zeros, 1, sizeof(zeros), f);
	return (!fflush(f) && !ftruncate(fileno(f), ftello(f)) && !fsync(fileno(f)) &&
		!ferror(f)) || header_trouble(errno);
}

static bool name_header(void)
{
	if (renameat(rec.dir, "header.tmp", rec.dir, "header"))
		return header_trouble(errno);
	fsync(rec.dir);
	return true;
}

static bool write_first_header(void)
{
	FILE *f = create_header();
	bool ok = f && fill_header(f, false, 0) && name_header();

	if (f)
		fclose(f);
	return ok;
}

static bool keep_room_for_last(void)
{
	rec.last_header = create_header();
	return rec.last_header && fill_header(rec.last_header, false, HEADER_MORE);
}

/* Without the right to see them, all are 0. */
static bool has_addresses(void)
{
	const char *line, *end;

	for (line = rec.kallsyms.s; line && *line; line = end + 1) {
		end = line_end(&rec.kallsyms, line);
		if (line[strspn(line, "0")] != ' ')
			return true;
		if (!*end)
			break;
	}
	return false;
}

/* At the beginning: one that says it is not complete, and room for the last. */
static bool begin_header(void)
{
	time_t now = time(NULL);
	struct tm tm;

	strftime(rec.started, sizeof(rec.started), "%Y-%m-%dT%H:%M:%SZ",
		 gmtime_r(&now, &tm));
	if (!read_file("features", &rec.features))
		rec.features = (struct text){ .s = NULL };
	follow_modules();
	if (!has_addresses())
		note("/proc/kallsyms hides its addresses (kernel.kptr_restrict): no symbols");
	if (!write_first_header() || !keep_room_for_last()) {
		unlinkat(rec.dir, "header.tmp", 0);
		unlinkat(rec.dir, "header", 0);
		return false;
	}
	return true;
}

static void end_header(void)
{
	refresh_symbols();
	if (rec.nr_readers)
		qsort(rec.readers, rec.nr_readers, sizeof(*rec.readers),
		      compare_readers);
	if (fill_header(rec.last_header, true, 0) && name_header())
		return;
	unlinkat(rec.dir, "header.tmp", 0);
	error("the header is that of the beginning: the trace is not complete");
}

/* The directory */

static bool is_ours(const char *name)
{
	unsigned int cpu;

	return !strcmp(name, "header") || !strcmp(name, "header.tmp") ||
	       cpu_name(name, ".out", &cpu);
}

/* In the folder that one happens to be in, "header" may be something else. */
static bool is_of_a_trace(const char *name)
{
	static const char begin[] = "kmemtrace ";
	char text[sizeof(begin)] = "";
	int fd;

	if (strcmp(name, "header"))
		return true;
	fd = openat(rec.dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, text, strlen(begin)) < 0)
		text[0] = '\0';
	close(fd);
	return !strcmp(text, begin);
}

static bool may_remove(const char *name)
{
	if (!options.force)
		error("%s/%s: exists; --force overwrites it", options.output, name);
	else if (!is_of_a_trace(name))
		error("%s/%s: exists, and is no header of a trace", options.output, name);
	else
		return true;
	return false;
}

static bool remove_old(const char *name)
{
	if (!unlinkat(rec.dir, name, 0))
		return true;
	error("%s/%s: %s", options.output, name, strerror(errno));
	return false;
}

/* Until @fn fails. */
static bool visit_old(bool (*fn)(const char *name))
{
	int fd = openat(rec.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	bool ok = true;

	if (!d) {
		error("%s: %s", options.output, strerror(errno));
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (ok && (entry = readdir(d)))
		if (is_ours(entry->d_name))
			ok = fn(entry->d_name);
	closedir(d);
	return ok;
}

/*
 * What is in it tells addresses of the kernel: it is for its owner alone. From here on
 * it is known by its descriptor, whatever somebody does to its name.
 */
static bool make_directory(void)
{
	rec.dir = outdir_open(options.output);
	if (rec.dir >= 0 && visit_old(may_remove))
		return true;
	if (rec.dir < 0 && !strcmp(options.output, "."))
		error("--output DIR writes to another folder, which is made");
	set(&rec.failed_output);
	return false;
}

static bool clear_directory(void)
{
	if (visit_old(remove_old))
		return true;
	set(&rec.failed_output);
	return false;
}

/* Recording */

static bool is_debugfs_mounted(void)
{
	char path[PATH_MAX];
	struct statfs fs;
	char *slash;

	snprintf(path, sizeof(path), "%s", options.debugfs);
	slash = strrchr(path, '/');
	if (slash && slash != path)
		*slash = '\0';
	return !statfs(path, &fs) && fs.f_type == DEBUGFS_MAGIC;
}

/* Why can the first file not be opened? */
static void explain(int err)
{
	if (err == EACCES || err == EPERM)
		error("%s: %s%s", options.debugfs, strerror(err),
		      geteuid() ? "; this takes root" : "");
	else if (err != ENOENT)
		error("%s: %s", options.debugfs, strerror(err));
	else if (!is_debugfs_mounted())
		error("no %s: is debugfs mounted? mount -t debugfs none /sys/kernel/debug",
		      options.debugfs);
	else
		error("no %s: this kernel is built without CONFIG_KMEMTRACE",
		      options.debugfs);
}

/* Only one may read: what it reads is gone for others. */
static bool take_lock(void)
{
	rec.lock = open_at("enabled", O_RDWR);
	if (rec.lock < 0) {
		explain(errno);
		return false;
	}
	if (!flock(rec.lock, LOCK_EX | LOCK_NB))
		return true;
	if (errno == EWOULDBLOCK)
		error("another kmemtraced is running");
	else
		error("%s/enabled: %s", options.debugfs, strerror(errno));
	return false;
}

static void check_abi(void)
{
	long long version = read_value("abi_version", -1);

	if (version > KMEMTRACE_ABI_VERSION)
		error("this kernel has version %lld of the ABI, newer than %d; going on",
		      version, KMEMTRACE_ABI_VERSION);
	else if (version < 1)
		error("%s/abi_version cannot be read; going on", options.debugfs);
}

/* "time,pid" is "time pid", and "all" what the kernel lists. */
static char *wanted_features(void)
{
	struct text text;
	char *p;

	if (strcmp(options.features, "all"))
		text.s = strdup(options.features);
	else if (!read_file("features", &text))
		return NULL;
	for (p = text.s; p && *p; p++)
		if (strchr(",[]\n", *p))
			*p = ' ';
	return text.s;
}

static bool set_features(void)
{
	struct text known = { .s = NULL };
	char *wanted;
	int err;

	if (!options.features)
		return true;
	wanted = wanted_features();
	err = wanted ? write_file("features", wanted) : -ENOMEM;
	free(wanted);
	if (!err)
		return true;
	if (err == -EINVAL && read_file("features", &known))
		error("--features %s: the kernel knows %.*s", options.features,
		      (int)strcspn(known.s, "\n"), known.s);
	else if (err == -EOPNOTSUPP)
		error("--features %s: no tags, as there is no allocation profiling",
		      options.features);
	else
		error("--features %s: %s", options.features, strerror(-err));
	free(known.s);
	return false;
}

static bool rest_found;

/* Whoever switched recording off has closed the last sub-buffer, so poll() knows. */
static bool look_for_rest(unsigned int cpu)
{
	struct pollfd fd = { .events = POLLIN };
	char name[32];

	snprintf(name, sizeof(name), "cpu%u", cpu);
	fd.fd = open_at(name, O_RDONLY | O_NONBLOCK);
	if (fd.fd < 0)
		return true;
	if (poll(&fd, 1, 0) > 0 && fd.revents & POLLIN)
		rest_found = true;
	close(fd.fd);
	return true;
}

/*
 * What an earlier recording left in the buffers, and what of its losses is still
 * to be told, is none of ours: give the buffers their size anew.
 */
static bool discard(void)
{
	char value[32];
	int err;

	if (!visit_cpu_files(look_for_rest))
		return false;
	if (rest_found)
		note("what an earlier recording left is thrown away, see --rest");
	snprintf(value, sizeof(value), "%lld\n", read_value("subbufs", 0));
	err = write_file("subbufs", value);
	if (err && err != -ENOENT)
		error("%s/subbufs: %s", options.debugfs, strerror(-err));
	return !err || err == -ENOENT;
}

static bool no_error(bool on, int err)
{
	if (err)
		error("recording cannot be switched %s: %s", on ? "on" : "off",
		      strerror(-err));
	return !err;
}

/*
 * Until the lock is given up, which happens when this program is killed as well. A
 * kernel that does not know that goes on until somebody ends it.
 */
static bool switch_on(void)
{
	static const char held[] = "2\n";
	int err = 0;

	if (write(rec.lock, held, strlen(held)) < 0)
		err = -errno;
	return no_error(true, err == -EINVAL ? write_file("enabled", "1\n") : err);
}

static bool switch_off(void)
{
	return no_error(false, write_file("enabled", "0\n"));
}

/* Two descriptors a CPU, and some of our own. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static bool prepare(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	rec.read_size = cpus > READ_SIZE_CPUS ? SUBBUF_SIZE : READ_SIZE;
	rec.stop_fd = eventfd(0, EFD_CLOEXEC);
	rec.wake_fd = eventfd(0, EFD_CLOEXEC);
	rec.done_fd = eventfd(0, EFD_CLOEXEC);
	rec.room = options.max ? options.max : UINT64_MAX;
	if (rec.stop_fd < 0 || rec.wake_fd < 0 || rec.done_fd < 0) {
		error("eventfd: %s", strerror(errno));
		return false;
	}
	allow_files();
	if (!take_lock())
		return false;
	check_abi();
	/* One read more than there can be, so that the last is short. */
	rec.drain_max = rec.read_size + SUBBUF_SIZE *
		(uint64_t)read_value("subbufs", SUBBUFS_UNKNOWN);
	return true;
}

static bool is_recording(void)
{
	return read_value("enabled", 0) > 0;
}

static bool do_options_fit(bool on)
{
	if (on && options.rest)
		error("recording is on, too early for --rest; first echo 0 >%s/enabled",
		      options.debugfs);
	else if ((on || options.rest) && options.features)
		error("%s, too late for --features; first echo 0 >%s/enabled",
		      on ? "recording is on" : "what is there is recorded",
		      options.debugfs);
	else
		return true;
	return false;
}

/* From here on everything is in place, and recording is on. */
static bool begin(void)
{
	bool on = is_recording();

	if (!do_options_fit(on))
		return false;
	rec.begun = !on && !options.rest;
	/* Nothing of the kernel is changed before there is a folder to write to. */
	if (!make_directory())
		return false;
	if (rec.begun && (!set_features() || !discard()))
		return false;
	/* The old trace stays until the kernel agrees, as far as it can be asked. */
	if (!clear_directory())
		return false;
	read_stats(&rec.before);
	rec.whole = rec.begun;
	if (!begin_header() || !scan())
		return false;
	rec.on = rec.begun && switch_on();
	rec.begun = rec.on;
	if (on)
		note("recording is on already");
	return (on || rec.begun || options.rest) && scan();
}

/*
 * A recording that was joined is whole if all that it has ever written was there
 * to be read. Then what it lost is what it has lost since boot.
 */
static void judge_span(uint64_t read)
{
	if (rec.begun || !losses_known() || read < sum_stats(&rec.after).bytes)
		return;
	rec.whole = true;
	free(rec.before.cpus);
	rec.before = (struct all_stats){ .known = true };
}

/* Returns whether there were any. */
static bool take_signals(int signals)
{
	struct signalfd_siginfo info;
	bool any = false;

	while (read(signals, &info, sizeof(info)) > 0)
		any = true;
	return any;
}

static void wait_for_readers(int signals)
{
	struct pollfd fds[2] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = rec.done_fd, .events = POLLIN },
	};
	uint64_t done = 0, more;

	while (done < rec.nr_readers) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		if (fds[0].revents && take_signals(signals))
			set(&rec.give_up);
		if (fds[1].revents && read(rec.done_fd, &more, sizeof(more)) > 0)
			done += more;
	}
}

static void stop_readers(int signals)
{
	size_t i;

	signal_event(rec.stop_fd);
	wait_for_readers(signals);
	for (i = 0; i < rec.nr_readers; i++)
		pthread_join(rec.readers[i]->thread, NULL);
}

static uint64_t bytes_of(unsigned int cpu)
{
	size_t i;

	for (i = 0; i < rec.nr_readers; i++)
		if (rec.readers[i]->cpu == cpu)
			return rec.readers[i]->bytes;
	return 0;
}

/* Of a recording that is ours from begin to end, all that was written is here. */
static void check_taken(void)
{
	uint64_t wrote;
	size_t i;

	if (!rec.begun || !rec.ended || rec.failed_output || rec.failed_other ||
	    rec.full || rec.unfetched)
		return;
	for (i = 0; i < rec.after.nr; i++) {
		wrote = rec.after.cpus[i].bytes -
			stats_of(&rec.before, rec.after.cpus[i].cpu).bytes;
		if (wrote <= bytes_of(rec.after.cpus[i].cpu))
			continue;
		error("cpu%u: the kernel wrote %llu bytes, %llu came here",
		      rec.after.cpus[i].cpu, (unsigned long long)wrote,
		      (unsigned long long)bytes_of(rec.after.cpus[i].cpu));
		set(&rec.failed_other);
	}
}

static void end(int signals)
{
	if (rec.on || options.stop)
		rec.ended = switch_off();
	/* a CPU may have come within the last second */
	if (!load(&rec.failed_other) && !load(&rec.failed_output))
		scan();
	if (!rec.ended)
		read_stats(&rec.after);
	stop_readers(signals);
	if (rec.ended)
		read_stats(&rec.after);
	if (!losses_known() && (rec.before.overruns < 0 || rec.after.overruns < 0)) {
		error("%s has neither stats nor total_overruns: nobody knows what was lost",
		      options.debugfs);
		rec.unknown = true;
	}
	judge_span(bytes_read());
	/* Recording may have begun without the tags that were asked for. */
	free(rec.features.s);
	if (!read_file("features", &rec.features))
		rec.features = (struct text){ .s = NULL };
	check_taken();
	if (rec.failed_output)
		error("no more can be written to %s; what is there is valid, the rest is dropped",
		      options.output);
	end_header();
}

/* Progress */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

static void show_progress(double elapsed)
{
	static uint64_t last_events;
	static double last_time;
	struct all_stats all = { .cpus = NULL };
	struct stats is, was;

	read_stats(&all);
	is = sum_stats(&all);
	was = sum_stats(&rec.before);
	free(all.cpus);
	if (!last_events)
		last_events = was.events;
	flockfile(stderr);
	fprintf(stderr, "%s%.0f s: ", options.progress ? "" : "\r\033[K",
		elapsed);
	if (rec.before.known && all.known)
		fprintf(stderr, "%.0f events/s, %.1f MB, %llu events lost",
			(is.events - last_events) / (elapsed - last_time),
			bytes_read() / 1e6,
			(unsigned long long)(is.lost_events - was.lost_events));
	else
		fprintf(stderr, "%.1f MB, %llu bytes lost", bytes_read() / 1e6,
			(unsigned long long)(all.overruns -
					     rec.before.overruns));
	fputs(options.progress ? "\n" : "", stderr);
	fflush(stderr);
	rec.line = !options.progress;
	funlockfile(stderr);
	last_events = is.events;
	last_time = elapsed;
}

/* Until a signal, a failure, or the end of the time. */
static void record(int signals)
{
	struct pollfd fds[2] = {
		{ .fd = signals, .events = POLLIN },
		{ .fd = rec.wake_fd, .events = POLLIN },
	};
	bool show = options.progress || (isatty(STDERR_FILENO) && !options.quiet);
	double start = now(), tick = start, wait;

	for (;;) {
		wait = tick + TICK_MS / 1e3 - now();
		if (options.seconds && start + options.seconds - now() < wait)
			wait = start + options.seconds - now();
		if (poll(fds, 2, wait > 0 ? (int)(wait * 1e3) + 1 : 0) > 0) {
			take_signals(signals);
			return;
		}
		if (options.seconds && now() >= start + options.seconds)
			return;
		if (now() < tick + TICK_MS / 1e3)
			continue;
		tick = now();
		if (!scan())
			return;
		report_cpus();
		follow_modules();
		if (show)
			show_progress(tick - start);
	}
}

/* Of a recording that is ours, what the kernel wrote and is not here. */
static unsigned long long bytes_left(void)
{
	uint64_t wrote = sum_stats(&rec.after).bytes - sum_stats(&rec.before).bytes;
	uint64_t here = bytes_read();

	return rec.begun && losses_known() && wrote > here ? wrote - here : 0;
}

static void summarize_rest(void)
{
	if (rec.full)
		note("-m %llu is reached; %llu bytes more are left out",
		     (unsigned long long)options.max, bytes_left());
	if (rec.unfetched)
		error("told to stop again; %llu bytes were not fetched", bytes_left());
	if (!rec.ended && is_recording())
		note("recording is left on; echo 0 >%s/enabled ends it", options.debugfs);
	if (has_lost())
		note("more sub-buffers lose less: kmemtrace.subbufs= at boot, or %s/subbufs",
		     options.debugfs);
}

static void summarize(void)
{
	struct stats was = sum_stats(&rec.before);
	struct stats is = sum_stats(&rec.after);

	if (losses_known())
		note("%llu events recorded, %llu bytes in %s; %llu events lost (%llu bytes)",
		     (unsigned long long)(is.events - was.events),
		     (unsigned long long)bytes_read(), options.output,
		     (unsigned long long)(is.lost_events - was.lost_events),
		     (unsigned long long)(is.lost_bytes - was.lost_bytes));
	else
		note("%llu bytes in %s%s", (unsigned long long)bytes_read(),
		     options.output, has_lost() ? "; events were lost" : "");
	summarize_rest();
}

static int exit_status(void)
{
	if (rec.failed_output)
		return EXIT_OUTPUT;
	if (rec.failed_other)
		return EXIT_CANNOT;
	if (has_lost() || rec.unfetched)
		return EXIT_LOST;
	return rec.unknown ? EXIT_UNKNOWN : EXIT_GOOD;
}

/* Command line */

static void usage(FILE *out)
{
	fputs("Usage: kmemtraced [OPTION]...\n"
	      "Record what kmemtrace tells of the kernel's allocations, until SIGINT (Ctrl-C)\n"
	      "or SIGTERM; a second one does without what the kernel still has. Recording is\n"
	      "switched on for as long as this runs; if it was on before, it is left on.\n"
	      "\n"
	      "  -o, --output DIR      where to (the current folder): a file cpu<n>.out for\n"
	      "                        each CPU, and header. Nobody else may write there.\n"
	      "  -f, --force           overwrite the trace that is there\n"
	      "  -F, --features LIST   what to record with each event: of time,pid,tag, or all\n"
	      "                        or none; without it as the kernel is set\n"
	      "  -s, --seconds N       stop after N seconds\n"
	      "  -m, --max BMAX        stop before there are more than BMAX bytes of records;\n"
	      "                        BMAX may end with k, M or G\n"
	      "  -r, --rest            take what a recording that has ended left, and end\n"
	      "  -S, --stop            at the end switch recording off even if it was on before\n"
	      "  -p, --progress        a line of progress each second, terminal or not\n"
	      "  -q, --quiet           errors only\n"
	      "  -d, --debugfs DIR     the kernel's side (" DEFAULT_DEBUGFS ")\n"
	      "  -h, --help            this text\n"
	      "  -V, --version         the version of the ABI that is known\n"
	      "\n"
	      "Exit status:\n"
	      "  0  recorded, and no event was lost\n"
	      "  1  nothing could be recorded, or recording came to a bad end\n"
	      "  2  recorded, but events were lost or not fetched: the trace is valid and says\n"
	      "     which\n"
	      "  3  the trace cannot be written: what is on disk is valid, the rest is dropped\n"
	      "  4  recorded, but this kernel does not say whether events were lost\n"
	      "  64 wrong options\n",
	      out);
}

static bool parse_seconds(const char *s)
{
	char *end;

	options.seconds = strtod(s, &end);
	if (end != s && !*end && options.seconds > 0 && options.seconds < 1e9)
		return true;
	error("--seconds %s: not a number of seconds", s);
	return false;
}

static void parse_max(const char *s)
{
	if (size_parse(s, INT64_MAX, &options.max) && options.max)
		return;
	error("--max %s: not a size", s);
	exit(EXIT_USAGE);
}

static void parse_options(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "output", required_argument, NULL, 'o' },
		{ "force", no_argument, NULL, 'f' },
		{ "features", required_argument, NULL, 'F' },
		{ "seconds", required_argument, NULL, 's' },
		{ "max", required_argument, NULL, 'm' },
		{ "rest", no_argument, NULL, 'r' },
		{ "stop", no_argument, NULL, 'S' },
		{ "progress", no_argument, NULL, 'p' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "debugfs", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "o:fF:s:m:rSpqd:hV", long_options,
				  NULL)) != -1) {
		switch (opt) {
		case 'o':
			options.output = optarg;
			break;
		case 'f':
			options.force = true;
			break;
		case 'F':
			options.features = optarg;
			break;
		case 's':
			if (!parse_seconds(optarg))
				exit(EXIT_USAGE);
			break;
		case 'm':
			parse_max(optarg);
			break;
		case 'r':
			options.rest = true;
			break;
		case 'S':
			options.stop = true;
			break;
		case 'p':
			options.progress = true;
			break;
		case 'q':
			options.quiet = true;
			break;
		case 'd':
			options.debugfs = optarg;
			break;
		case 'h':
			usage(stdout);
			exit(EXIT_GOOD);
		case 'V':
			printf("kmemtraced, ABI %d\n", KMEMTRACE_ABI_VERSION);
			exit(EXIT_GOOD);
		default:
			usage(stderr);
			exit(EXIT_USAGE);
		}
	}
	if (optind < argc) {
		usage(stderr);
		exit(EXIT_USAGE);
	}
}

int main(int argc, char **argv)
{
	sigset_t mask;
	int signals;
	bool ok;

	parse_options(argc, argv);
	signals = signals_open(&mask);
	if (!prepare())
		return EXIT_CANNOT;
	ok = begin();
	if (!ok && !rec.nr_readers) {
		if (rec.on)
			switch_off();
		return rec.failed_output ? EXIT_OUTPUT : EXIT_CANNOT;
	}
	if (!ok)
		set(&rec.failed_other);
	else if (!options.rest)
		record(signals);
	end(signals);
	summarize();
	return exit_status();
}
