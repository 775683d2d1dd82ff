// SPDX-License-Identifier: GPL-2.0-only
/*
 * The threads that read the files of the CPUs, see record.h.
 *
 * Each file cpu<n> has a thread that is bound to this CPU, as relay requires of its
 * readers: the kernel fills a buffer only on its CPU, so a reader on the same CPU never
 * sees half a record. For the same reason each read() comes after a poll(). Nothing fills
 * the buffers of an offline CPU, so any CPU may read them: that happens when the CPU is
 * back, or at the end.
 *
 * The bytes go to disk as they come, a buffer at a time. A reader looks into a file only
 * after a write failed: it cuts the file after its last whole record, so that the files
 * on disk are a valid trace however the program ends.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/kmemtrace.h>

#include "record.h"
#include "trace.h"

#define ONLINE_CPUS	"/sys/devices/system/cpu/online"

#define BUF_ALIGN	4096	/* no device needs more */
#define STACK_SIZE	(128 * 1024)

/* CPUs */

/* Is @cpu in a list like "0-3,5"? */
static bool cpu_in_list(const char *list, unsigned int cpu)
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
	return read_all(open(ONLINE_CPUS, O_RDONLY | O_CLOEXEC), text);
}

/* If the list cannot be read, a CPU that no thread can be bound to counts as offline. */
static bool is_online(unsigned int cpu)
{
	struct text text;
	bool online;

	if (!read_online(&text))
		return false;
	online = cpu_in_list(text.s, cpu);
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
 * Move the thread to the CPU of the reader. If the CPU goes offline, the kernel moves
 * the thread to another CPU and leaves it there when the CPU is back.
 */
static bool be_there(struct reader *r)
{
	int tries, err;

	if (r->bound && sched_getcpu() == (int)r->cpu)
		return true;
	/* The CPU may change its state between the calls. */
	for (tries = 0; tries < 5; tries++) {
		err = bind_thread(r->cpu);
		r->bound = !err;
		if (!err)
			return true;
		if (err == -EINVAL && !is_online(r->cpu))
			return false;
		usleep(10000);
	}
	record_error("cannot bind a thread to CPU %u, which is online: %s", r->cpu,
		     strerror(-err));
	record_fail(&rec.failed_other);
	return false;
}

/* Readers */

/*
 * Wait for data in @in, or for the timeout if @in is -1. Returns false when the reader has
 * to stop.
 */
static bool wait_for(int in, int timeout)
{
	struct pollfd fds[2] = {
		{ .fd = rec.stop_fd, .events = POLLIN },
		{ .fd = in, .events = POLLIN },
	};

	if (poll(fds, in < 0 ? 1 : 2, timeout) < 0) {
		if (errno == EINTR)
			return true;
		record_error("poll: %s", strerror(errno));
		record_fail(&rec.failed_other);
		return false;
	}
	return !fds[0].revents;
}

/* Returns the end of the whole records from offset @at on; -1 if there are none. */
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

/* Cut the file after its last whole record. */
static void cut_to_whole(struct reader *r)
{
	int64_t whole;

	if (r->whole == r->bytes)
		return;
	whole = whole_from(r, r->whole);
	if (whole < 0)
		whole = whole_from(r, 0);
	if (whole < 0) {
		record_error("cpu%u.out: the records are invalid, and are left as they are",
			     r->cpu);
		return;
	}
	if (ftruncate(r->out, whole))
		record_error("cpu%u.out: cannot be cut to whole records: %s", r->cpu,
			     strerror(errno));
	__atomic_store_n(&r->bytes, whole, __ATOMIC_RELAXED);
	r->whole = whole;
}

/* Direct I/O needs whole buffers, and some file systems do not support it. */
static void go_through_cache(struct reader *r)
{
	int flags = fcntl(r->out, F_GETFL);

	if (!r->direct)
		return;
	r->direct = false;
	if (flags < 0 || fcntl(r->out, F_SETFL, flags & ~O_DIRECT))
		record_error("cpu%u.out: %s", r->cpu, strerror(errno));
}

/* Take up to @size bytes of the room that --max leaves for all readers. */
static size_t take_room(size_t size)
{
	uint64_t left = __atomic_load_n(&rec.room, __ATOMIC_RELAXED), part;

	do
		part = size < left ? size : left;
	while (!__atomic_compare_exchange_n(&rec.room, &left, left - part, true,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return part;
}

/* Returns false if nothing more can be written, or if --max is reached. */
static bool write_out(struct reader *r)
{
	size_t n = take_room(r->fill);
	bool full = n < r->fill;
	uint64_t bytes = r->bytes;
	const uint8_t *p = r->buf;
	ssize_t done;

	r->fill = 0;
	if (full)
		record_fail(&rec.full);
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
			record_error("%s/cpu%u.out: offset %llu: %s", options.output, r->cpu,
				     (unsigned long long)bytes, strerror(errno));
			record_fail(&rec.failed_output);
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
 * Read once, and write when the buffer is full. Returns the bytes read, or -1 on failure.
 * @room is set to the requested number of bytes.
 */
static ssize_t transfer(struct reader *r, size_t *room)
{
	ssize_t n;

	*room = rec.read_size - r->fill;
	n = read(r->in, r->buf + r->fill, *room);
	if (n < 0) {
		if (errno == EINTR || errno == EAGAIN)
			return 0;
		record_error("cpu%u: %s%s", r->cpu, strerror(errno), errno == EIO ?
			     "; somebody has written to \"subbufs\", and the buffers are gone" :
			     "");
		record_fail(&rec.failed_other);
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
 * Fetch the rest: a read() that returns less than requested has emptied the buffers of
 * the kernel. If recording goes on, the kernel also records this program's work, so there
 * is an upper limit.
 */
static void drain(struct reader *r)
{
	uint64_t left = rec.drain_max;
	size_t room;
	ssize_t n;

	be_there(r);
	do {
		if (is_set(&rec.give_up)) {
			set_flag(&rec.unfetched);
			break;
		}
		n = transfer(r, &room);
		if (n > 0)
			left -= (uint64_t)n < left ? (uint64_t)n : left;
	} while (n >= 0 && (size_t)n == room && left);
	write_out(r);
}

/* Write the file to disk, except after a second signal. */
static void sync_out(struct reader *r)
{
	if (is_set(&rec.give_up) || !fsync(r->out) || errno == EINVAL || errno == EROFS)
		return;
	record_error("cpu%u.out: %s", r->cpu, strerror(errno));
	record_fail(&rec.failed_output);
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
		/* poll() promised data, but there were none: do not spin. */
		if (!n && !wait_for(-1, 50))
			break;
	}
	/* Do not fetch the rest if it cannot be written. */
	if (n >= 0 && !is_set(&rec.failed_output))
		drain(r);
	else if (!is_set(&rec.failed_output))
		write_out(r);	/* what was read before the failure */
	go_through_cache(r);
	cut_to_whole(r);
	sync_out(r);
	wake(rec.done_fd);
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

static void *try_cpu(void *arg)
{
	const struct reader *r = arg;

	return (void *)(intptr_t)bind_thread(r->cpu);
}

/*
 * Can a thread be bound to the CPU of the reader? A cpuset can forbid that. A short-lived
 * thread tries, so that the caller keeps its own CPUs.
 */
static bool may_be_there(struct reader *r)
{
	int tries, err = 0;
	void *result;

	/* A CPU that comes online is in the list a little before threads can be bound to it. */
	for (tries = 0; tries < 5; tries++) {
		err = pthread_create(&r->thread, NULL, try_cpu, r);
		if (err) {
			record_error("no thread for CPU %u: %s", r->cpu, strerror(err));
			return false;
		}
		pthread_join(r->thread, &result);
		err = -(intptr_t)result;
		if (!err || !is_online(r->cpu))
			return true;
		usleep(10000);
	}
	record_error("cannot run on CPU %u: %s%s", r->cpu, strerror(err), err == EINVAL ?
		     "; a cpuset of its control group leaves this CPU out" : "");
	return false;
}

/* Readers that have no thread yet. */
static struct reader *opened;

/* Acquire everything except the file cpu<n>.out, which an old trace may still have. */
static bool open_reader(struct reader *r)
{
	char name[32];

	snprintf(name, sizeof(name), "cpu%u", r->cpu);
	r->in = open_at(name, O_RDONLY | O_NONBLOCK);
	if (r->in >= 0)
		r->out = fcntl(r->in, F_DUPFD_CLOEXEC, 0);
	if (r->in < 0 || r->out < 0) {
		record_error("%s/%s: %s%s", options.debugfs, name, strerror(errno),
			     errno == EPERM ? "; lockdown=confidentiality forbids tracing" : "");
		return false;
	}
	if (posix_memalign((void **)&r->buf, BUF_ALIGN, rec.read_size)) {
		record_error("cpu%u: out of memory", r->cpu);
		return false;
	}
	return may_be_there(r);
}

static bool add_reader(unsigned int cpu)
{
	struct reader *r = malloc(sizeof(*r));

	if (!r) {
		record_error("out of memory");
		return false;
	}
	*r = (struct reader){ .next = opened, .cpu = cpu, .in = -1, .out = -1 };
	if (!open_reader(r)) {
		free_reader(r);
		return false;
	}
	opened = r;
	return true;
}

static bool create_output(struct reader *r, const char *name)
{
	close(r->out);
	r->out = create_at(name);
	if (r->out < 0) {
		set_flag(&rec.failed_output);
		record_error("%s/%s: %s", options.output, name, strerror(errno));
		return false;
	}
	r->direct = !fcntl(r->out, F_SETFL, O_DIRECT);
	return true;
}

static bool start_reader(struct reader *r)
{
	struct reader **more;
	char name[32];
	int err;

	snprintf(name, sizeof(name), "cpu%u.out", r->cpu);
	if (!create_output(r, name))
		return false;
	more = realloc(rec.readers, (rec.nr_readers + 1) * sizeof(*more));
	if (more)
		rec.readers = more;
	err = more ? start_thread(r) : ENOMEM;
	if (err) {
		record_error("no thread for CPU %u: %s", r->cpu, strerror(err));
		unlinkat(rec.dir, name, 0);
		return false;
	}
	rec.readers[rec.nr_readers++] = r;
	return true;
}

static bool has_reader(unsigned int cpu)
{
	const struct reader *r;
	size_t i;

	for (r = opened; r; r = r->next)
		if (r->cpu == cpu)
			return true;
	for (i = 0; i < rec.nr_readers; i++)
		if (rec.readers[i]->cpu == cpu)
			return true;
	return false;
}

/* Call @fn for each CPU that has a file, until it fails. */
bool visit_cpu_files(bool (*fn)(unsigned int cpu))
{
	DIR *d = opendir(options.debugfs);
	struct dirent *entry;
	unsigned int cpu;
	bool ok = true;

	if (!d) {
		record_error("%s: %s", options.debugfs, strerror(errno));
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

/* Open new files: they appear when recording begins, and with CPUs. */
bool open_readers(void)
{
	return visit_cpu_files(read_if_new);
}

/* Start the threads of the readers that are open. */
bool start_readers(void)
{
	struct reader *r;

	while ((r = opened)) {
		opened = r->next;
		if (start_reader(r))
			continue;
		free_reader(r);
		return false;
	}
	return true;
}

/* Read new files, too. If one cannot be opened, read the others. */
bool scan(void)
{
	bool ok = open_readers();

	if (start_readers() && ok)
		return true;
	set_flag(&rec.failed_other);
	return false;
}

void report_cpus(void)
{
	struct text online;
	struct reader *r;
	bool offline;
	size_t i;

	if (!read_online(&online))
		return;
	for (i = 0; i < rec.nr_readers; i++) {
		r = rec.readers[i];
		offline = !cpu_in_list(online.s, r->cpu);
		if (offline && !r->offline)
			record_note("CPU %u is offline; its records are read later or at the end",
				    r->cpu);
		else if (!offline && r->offline)
			record_note("CPU %u is online again", r->cpu);
		r->offline = offline;
	}
	free(online.s);
}

uint64_t bytes_read(void)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < rec.nr_readers; i++)
		sum += __atomic_load_n(&rec.readers[i]->bytes, __ATOMIC_RELAXED);
	return sum;
}
