// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of /dev/kmon that kmonlog and kmonparse cannot do, and workloads that cause a known
 * number of scheduler records: see usage() below.
 *
 * Exit code 0: all checks passed; 1: a check failed, see standard output; 2: wrong usage.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../../include/uapi/linux/kmon.h"

#define HELPER "kmon"
#include "expect.h"

#define DEVICE		"/dev/kmon"
#define FEED_TYPE	200	/* as in modules/kmon_feed.c */
#define FEED_SIZE	10
#define NR_CONTEXTS	4

static int open_kmon(int flags)
{
	int fd = open(DEVICE, O_RDWR | flags);

	EXPECT(fd >= 0, "%s: %s", DEVICE, strerror(errno));
	return fd;
}

static void must(int fd, unsigned long cmd, void *arg, const char *what)
{
	EXPECT(!ioctl(fd, cmd, arg), "%s: %s", what, strerror(errno));
}

static void must_not(int fd, unsigned long cmd, void *arg, int want, const char *what)
{
	int ret = ioctl(fd, cmd, arg);

	EXPECT(ret == -1 && errno == want, "%s: %d, %s, want %s", what, ret,
	       ret ? strerror(errno) : "success", strerror(want));
}

static struct kmon_stats stats(int fd)
{
	struct kmon_stats s;

	must(fd, KMON_STATS, &s, "KMON_STATS");
	return s;
}

static short polled(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	EXPECT(poll(&p, 1, ms) >= 0, "poll: %s", strerror(errno));
	return p.revents;
}

static unsigned int blob_size(const uint8_t *record)
{
	return record[KMON_HDR_SIZE_OF_BLOB] | record[KMON_HDR_SIZE_OF_BLOB + 1] << 8;
}

/* The number of records; exits if the last one is not complete. */
static uint64_t walk(const uint8_t *p, size_t len)
{
	uint64_t nr = 0;
	size_t at = 0;

	while (at < len) {
		EXPECT(len - at >= KMON_HDR_SIZE, "%zu bytes where a header should be", len - at);
		EXPECT(len - at - KMON_HDR_SIZE >= blob_size(p + at), "a record is cut");
		at += KMON_HDR_SIZE + blob_size(p + at);
		nr++;
	}
	return nr;
}

/* Some tasks start and end, which causes records. */
static void make_noise(int times)
{
	while (times--) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

/* bounds: the values that the device accepts and refuses */

/* The ioctl of a 32-bit program, whose long has half the size. */
static void compat_size(int fd)
{
#ifndef __x86_64__
	(void)fd;
#else
	int *size = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long ret;

	EXPECT(size != MAP_FAILED, "mmap: %s", strerror(errno));
	for (*size = -4096; *size <= 8192; *size += 12288) {
		ret = 54;
		__asm__ volatile("int $0x80" : "+a"(ret)
				 : "b"(fd), "c"(_IOW(KMON_IOC_MAGIC, 2, int)), "d"(size)
				 : "memory");
		EXPECT((int)ret == (*size < 0 ? -EINVAL : 0), "32 bit: %d: %d", *size, (int)ret);
	}
	EXPECT(stats(fd).buff_size == 8192, "32 bit: not set");
#endif
}

/* The guest has a GiB. Too large a request must not start the OOM killer. */
static void more_than_there_is(int fd)
{
	long gib = 1L << 30, half = gib / 2;
	int other = open_kmon(0);
	pid_t pid;

	must_not(fd, KMON_BUFFSIZE, &gib, ENOMEM, "a GiB");
	must(other, KMON_BUFFSIZE, &half, "half a GiB");
	pid = fork();
	EXPECT(pid >= 0, "fork: %s", strerror(errno));
	while (!pid)
		close(open_kmon(0));
	for (int i = 0; i < 20; i++)
		must_not(fd, KMON_BUFFSIZE, &half, ENOMEM, "the other half");
	EXPECT(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid, "kill: %s", strerror(errno));
	EXPECT(stats(fd).buff_size == 1 << 20, "too much changed something");
	close(other);
}

static void sizes(int fd)
{
	static const long bad[] = {
		0, -1, -4096, LONG_MIN, LONG_MAX, 1, 4095, 2048,
		(1L << 30) + 1, 1L << 31, 1L << 32, 1L << 62,
	};
	long size;

	EXPECT(stats(fd).buff_size == 1 << 20, "default is %llu", stats(fd).buff_size);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		size = bad[i];
		must_not(fd, KMON_BUFFSIZE, &size, EINVAL, "a bad size");
		EXPECT(stats(fd).buff_size == 1 << 20, "%ld changed something", bad[i]);
	}
	must_not(fd, KMON_BUFFSIZE, NULL, EFAULT, "a size at NULL");
	must_not(fd, KMON_STATS, NULL, EFAULT, "statistics to NULL");
	must_not(fd, KMON_SOURCES, NULL, EFAULT, "sources at NULL");
	more_than_there_is(fd);
	compat_size(fd);
	for (long two = 4096; two <= 4 << 20; two *= 2) {
		for (size = two; size > two / 2 && size >= 4096; size -= two / 5) {
			must(fd, KMON_BUFFSIZE, &size, "KMON_BUFFSIZE");
			EXPECT(stats(fd).buff_size == (uint64_t)two, "%ld: not set", size);
		}
	}
	size = 1 << 20;
	must(fd, KMON_BUFFSIZE, &size, "KMON_BUFFSIZE");
}

static void stopped(int fd)
{
	char byte;

	make_noise(3);
	EXPECT(!stats(fd).started && !stats(fd).unread, "started when it was opened");
	EXPECT(!polled(fd, 0), "poll() of one that was never started: %#x", polled(fd, 0));
	EXPECT(read(fd, &byte, 1) == 0, "read() of one that is stopped: %s", strerror(errno));
	must(fd, KMON_STOP, NULL, "KMON_STOP when stopped");
	EXPECT(!polled(fd, 0), "KMON_STOP of one that was never started: %#x", polled(fd, 0));
}

static void started(int fd)
{
	/* hide the value from the compiler */
	void *volatile nowhere = (void *)8;
	__u32 sources = 1U << 31;
	struct kmon_stats before;
	static uint8_t buf[1 << 20];
	long size = 4096;
	uint64_t nr = 0;
	ssize_t n;

	must_not(fd, KMON_SOURCES, &sources, EINVAL, "a source that does not exist");
	must(fd, KMON_START, NULL, "KMON_START");
	must(fd, KMON_START, NULL, "KMON_START when started");
	must_not(fd, KMON_BUFFSIZE, &size, EBUSY, "a size when started");
	sources = KMON_SOURCE_SCHED;
	must_not(fd, KMON_SOURCES, &sources, EBUSY, "sources when started");
	make_noise(60);
	EXPECT(polled(fd, 0) & POLLIN, "no data after twenty processes: %#x", polled(fd, 0));
	must(fd, KMON_STOP, NULL, "KMON_STOP");
	before = stats(fd);
	EXPECT(before.unread >= 100 && !before.lost && !before.read,
	       "%llu unread, %llu lost, %llu read", before.unread, before.lost, before.read);
	/* existing records move along if they fit */
	EXPECT(before.unread_bytes > 4096, "only %llu bytes", before.unread_bytes);
	must_not(fd, KMON_BUFFSIZE, &size, EBUSY, "a size that has no room for what is there");
	/* other activity of the machine adds records */
	while ((uint64_t)size < before.unread_bytes)
		size *= 2;
	must(fd, KMON_BUFFSIZE, &size, "a size that has");
	size = 4096;
	EXPECT(stats(fd).unread_bytes == before.unread_bytes, "%llu of %llu bytes are left",
	       stats(fd).unread_bytes, before.unread_bytes);
	EXPECT(read(fd, buf, KMON_HDR_SIZE) == -1 && errno == EINVAL,
	       "read() with room for no record: %s", strerror(errno));
	EXPECT(read(fd, nowhere, 4096) == -1 && errno == EFAULT, "read() to nowhere: %s",
	       strerror(errno));
	EXPECT(read(fd, buf, 0) == 0, "read() of nothing");
	EXPECT(stats(fd).unread == before.unread, "failing took something away");
	/* a read of any size returns only whole records */
	for (size_t room = KMON_HDR_SIZE + 9; ; room = room * 5 / 4) {
		if (room > sizeof(buf))
			room = sizeof(buf);
		n = read(fd, buf, room);
		EXPECT(n >= 0, "read(): %s", strerror(errno));
		if (!n)
			break;
		nr += walk(buf, n);
		EXPECT(stats(fd).read == nr, "%llu read, got %" PRIu64, stats(fd).read, nr);
	}
	EXPECT(nr == before.unread, "%" PRIu64 " of %llu records", nr, before.unread);
	EXPECT(polled(fd, 0) == POLLHUP, "poll() when all was read: %#x", polled(fd, 0));
	must(fd, KMON_BUFFSIZE, &size, "KMON_BUFFSIZE when all was read");
}

/* A buffer that is too small: POLLERR, and a count of losses. */
static void overrun(int fd)
{
	static uint8_t buf[65536];
	struct kmon_stats s;
	ssize_t n;

	EXPECT(stats(fd).buff_size == 4096, "not the small buffer");
	must(fd, KMON_START, NULL, "KMON_START");
	make_noise(200);
	EXPECT(polled(fd, 0) & POLLIN, "no data");
	usleep(100000);
	EXPECT(polled(fd, 0) & POLLERR, "no POLLERR after an overrun");
	s = stats(fd);
	EXPECT(s.lost > 100 && s.unread_bytes <= 4096, "%llu lost, %llu bytes", s.lost,
	       s.unread_bytes);
	must(fd, KMON_STOP, NULL, "KMON_STOP");
	n = read(fd, buf, sizeof(buf));
	EXPECT(n > 3000 && n <= 4096, "%zd bytes of a full buffer", n);
	walk(buf, n);
	EXPECT(!(polled(fd, 0) & POLLERR), "POLLERR after a read()");
}

static void on_signal(int sig)
{
	(void)sig;
}

static void blocking(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	int fd = open_kmon(0), nb = open_kmon(O_NONBLOCK);
	__u32 none = 0;
	char buf[4096];
	int status;
	pid_t pid;

	/* only kmon_add_data() is selected: no record comes */
	must(fd, KMON_SOURCES, &none, "KMON_SOURCES");
	must(nb, KMON_SOURCES, &none, "KMON_SOURCES");
	must(fd, KMON_START, NULL, "KMON_START");
	must(nb, KMON_START, NULL, "KMON_START");
	EXPECT(read(nb, buf, sizeof(buf)) == -1 && errno == EAGAIN, "O_NONBLOCK: %s",
	       strerror(errno));
	EXPECT(polled(fd, 50) == 0, "poll() without data: %#x", polled(fd, 0));
	sigaction(SIGALRM, &sa, NULL);
	alarm(1);
	EXPECT(read(fd, buf, sizeof(buf)) == -1 && errno == EINTR, "a signal: %s",
	       strerror(errno));
	/* stopping wakes a waiting reader */
	pid = fork();
	EXPECT(pid >= 0, "fork: %s", strerror(errno));
	if (!pid)
		_exit(read(fd, buf, sizeof(buf)) != 0);
	usleep(200000);
	must(fd, KMON_STOP, NULL, "KMON_STOP");
	waitpid(pid, &status, 0);
	EXPECT(WIFEXITED(status) && !WEXITSTATUS(status), "a reader was not told: %#x", status);
	close(fd);
	close(nb);
}

static int do_bounds(void)
{
	int fd = open_kmon(0);

	EXPECT(ioctl(fd, _IO(KMON_IOC_MAGIC, 99)) == -1 && errno == ENOTTY, "99: %s",
	       strerror(errno));
	EXPECT(lseek(fd, 0, SEEK_SET) == -1 && errno == ESPIPE, "lseek(): %s", strerror(errno));
	EXPECT(write(fd, "x", 1) == -1, "write()");
	EXPECT(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED, "mmap()");
	sizes(fd);
	stopped(fd);
	started(fd);
	overrun(fd);
	close(fd);
	blocking();
	return 0;
}

/*
 * check FILE [moved]: counts the records of kmon_feed, checks that their numbers rise, and
 * counts the missing numbers. If threads were moved to other CPUs, missing numbers prove
 * nothing: then it counts the CPUs of the records instead.
 */

static uint64_t little64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static int do_check(const char *name, bool moved)
{
	static uint64_t next[256][NR_CONTEXTS], time[256], count[NR_CONTEXTS];
	static uint8_t r[KMON_HDR_SIZE + KMON_BLOB_MAX];
	uint64_t gaps = 0, total = 0;
	FILE *f = fopen(name, "rb");
	unsigned int cpu, context, cpus = 0;
	bool seen[256] = { false };
	size_t n;

	EXPECT(f, "%s: %s", name, strerror(errno));
	while ((n = fread(r, 1, KMON_HDR_SIZE, f))) {
		const uint8_t *blob = r + KMON_HDR_SIZE;
		uint64_t number;

		EXPECT(n == KMON_HDR_SIZE && fread(r + n, 1, blob_size(r), f) == blob_size(r),
		       "%s ends in a record", name);
		cpu = r[KMON_HDR_CPU];
		EXPECT(little64(r + KMON_HDR_TIME) >= time[cpu], "CPU %u: time goes back by %" PRIu64,
		       cpu, time[cpu] - little64(r + KMON_HDR_TIME));
		time[cpu] = little64(r + KMON_HDR_TIME);
		if (blob[0] != FEED_TYPE || blob_size(r) < FEED_SIZE)
			continue;
		for (n = FEED_SIZE; n < blob_size(r); n++)
			EXPECT(blob[n] == (uint8_t)(blob[2] + n), "CPU %u: byte %zu is %#x", cpu,
			       n, blob[n]);
		context = blob[1];
		EXPECT(context < NR_CONTEXTS, "context %u", context);
		number = little64(blob + 2);
		total++;
		count[context]++;
		cpus += !seen[cpu];
		seen[cpu] = true;
		if (moved)
			continue;
		EXPECT(number >= next[cpu][context], "CPU %u: %" PRIu64 " after %" PRIu64, cpu,
		       number, next[cpu][context] - 1);
		gaps += number - next[cpu][context];
		next[cpu][context] = number + 1;
	}
	fclose(f);
	printf("%" PRIu64 " %" PRIu64 "\n", total, moved ? cpus : gaps);
	fprintf(stderr, "kmon: %" PRIu64 " of tasks, %" PRIu64 " of softirqs, %" PRIu64
		" of interrupts, %" PRIu64 " of NMIs\n", count[0], count[1], count[2], count[3]);
	return 0;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

/* pingpong ROUNDS CPU [PID]: two tasks that wake each other and do nothing else */

static void pin(int cpu, bool fifo)
{
	struct sched_param prio = { .sched_priority = 50 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	EXPECT(!sched_setaffinity(0, sizeof(set), &set), "CPU %d: %s", cpu, strerror(errno));
	EXPECT(!fifo || !sched_setscheduler(0, SCHED_FIFO, &prio), "SCHED_FIFO: %s",
	       strerror(errno));
}

static void hand_over(int in, int out, long rounds)
{
	char byte = 0;

	while (rounds--) {
		EXPECT(read(in, &byte, 1) == 1, "pipe: %s", strerror(errno));
		EXPECT(write(out, &byte, 1) == 1, "pipe: %s", strerror(errno));
	}
}

/* A child with that pid, which must be free; 0 for any pid. */
static pid_t fork_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uintptr_t)&pid,
		.set_tid_size = 1,
	};

	return pid ? (pid_t)syscall(SYS_clone3, &args, sizeof(args)) : fork();
}

static int do_pingpong(long rounds, int cpu, pid_t want)
{
	int a[2], b[2], status;
	uint64_t began;
	char byte = 0;
	pid_t pid;

	EXPECT(!pipe(a) && !pipe(b), "pipe: %s", strerror(errno));
	/* with equal priority neither preempts the other */
	pin(cpu, true);
	pid = fork_as(want);
	EXPECT(pid >= 0, "fork: %s", strerror(errno));
	if (!pid) {
		hand_over(a[0], b[1], rounds);
		_exit(0);
	}
	/* let the child wait first */
	usleep(50000);
	began = now_ns(CLOCK_MONOTONIC);
	for (long i = 0; i < rounds; i++) {
		EXPECT(write(a[1], &byte, 1) == 1 && read(b[0], &byte, 1) == 1, "pipe: %s",
		       strerror(errno));
	}
	began = now_ns(CLOCK_MONOTONIC) - began;
	waitpid(pid, &status, 0);
	EXPECT(!status, "the other one ended with %#x", status);
	printf("%d %d %" PRIu64 "\n", getpid(), pid, began);
	return 0;
}

/* burn MS: tasks that compute and sleep in turns, and the scheduler's figures for them */

static void burn(long ms, int which)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + ms * UINT64_C(1000000);
	uint64_t until;

	while (now_ns(CLOCK_MONOTONIC) < end) {
		until = now_ns(CLOCK_PROCESS_CPUTIME_ID) + (which + 1) * 7000000;
		while (now_ns(CLOCK_PROCESS_CPUTIME_ID) < until)
			;
		usleep(1000 * (which + 2));
	}
	raise(SIGSTOP);
	_exit(0);
}

/*
 * The run time of a task that has stopped running. If the kernel has no schedstat, use
 * the task's clock, which is the same sum. Standard error names the source.
 */
static void print_schedstat(pid_t pid)
{
	char name[64], line[128];
	clockid_t clock;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/schedstat", pid);
	f = fopen(name, "r");
	if (!f) {
		EXPECT(errno == ENOENT, "%s: %s", name, strerror(errno));
		EXPECT(!clock_getcpuclockid(pid, &clock), "%d has no clock", pid);
		printf("%d %" PRIu64 "\n", pid, now_ns(clock));
		fprintf(stderr, "%d: the clock, there is no schedstat\n", pid);
		return;
	}
	EXPECT(fgets(line, sizeof(line), f), "%s: %s", name, strerror(errno));
	printf("%d %s", pid, line);
	fprintf(stderr, "%d: schedstat\n", pid);
	fclose(f);
}

#define BURNERS	5

static int do_burn(long ms)
{
	pid_t pid[BURNERS];
	int status;

	for (int i = 0; i < BURNERS; i++) {
		pid[i] = fork();
		EXPECT(pid[i] >= 0, "fork: %s", strerror(errno));
		if (!pid[i])
			burn(ms, i);
	}
	for (int i = 0; i < BURNERS; i++) {
		EXPECT(waitpid(pid[i], &status, WUNTRACED) == pid[i] && WIFSTOPPED(status),
		       "%d ended with %#x", pid[i], status);
		print_schedstat(pid[i]);
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	return 0;
}

/* woken N CPU: a task that sleeps N times beside one that never sleeps */

static int do_woken(long n, int cpu)
{
	pid_t burner, sleeper;
	int status;

	burner = fork();
	EXPECT(burner >= 0, "fork: %s", strerror(errno));
	if (!burner) {
		pin(cpu, false);
		for (;;)
			;
	}
	usleep(100000);
	sleeper = fork();
	EXPECT(sleeper >= 0, "fork: %s", strerror(errno));
	if (!sleeper) {
		pin(cpu, false);
		while (n--)
			usleep(2000);
		_exit(0);
	}
	waitpid(sleeper, &status, 0);
	kill(burner, SIGKILL);
	waitpid(burner, NULL, 0);
	EXPECT(!status, "the sleeper ended with %#x", status);
	printf("%d %d %d\n", getpid(), burner, sleeper);
	return 0;
}

/*
 * rate MS: counts the reads that return records in that time, and these records. It reads
 * only after a wakeup, because polling would empty the rings.
 */
static int do_rate(long ms)
{
	uint64_t end, reads = 0, records = 0;
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	static uint8_t buf[1 << 20];
	int fd = open_kmon(O_NONBLOCK), ep = epoll_create1(0);
	__u32 none = 0;
	int64_t left;
	ssize_t n;

	must(fd, KMON_SOURCES, &none, "KMON_SOURCES");
	must(fd, KMON_START, NULL, "KMON_START");
	EXPECT(ep >= 0 && !epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event), "epoll: %s",
	       strerror(errno));
	end = now_ns(CLOCK_MONOTONIC) + ms * UINT64_C(1000000);
	while ((left = end - now_ns(CLOCK_MONOTONIC)) > 0) {
		n = epoll_wait(ep, &event, 1, left / 1000000 + 1);
		EXPECT(n >= 0, "epoll_wait: %s", strerror(errno));
		if (!n)
			continue;
		EXPECT(!(event.events & EPOLLERR), "an overrun");
		n = read(fd, buf, sizeof(buf));
		EXPECT(n > 0, "read: %s", strerror(errno));
		records += walk(buf, n);
		reads++;
	}
	EXPECT(!stats(fd).lost, "%llu records lost", stats(fd).lost);
	printf("%" PRIu64 " %" PRIu64 "\n", reads, records);
	return 0;
}

/* shared: several processes use one instance */

static uint64_t read_to_the_end(int fd)
{
	uint8_t buf[4096];
	uint64_t nr = 0;
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		nr += walk(buf, n);
	EXPECT(!n, "read: %s", strerror(errno));
	return nr;
}

static void wait_well(pid_t pid, const char *what)
{
	int status;

	EXPECT(waitpid(pid, &status, 0) == pid && !status, "%s ended with %#x", what, status);
}

#define SHARERS	2

/* Each record is read by one of them. */
static void sharers(int fd)
{
	uint64_t nr, sum = 0;
	pid_t pid[SHARERS];
	struct kmon_stats s;
	int out[2];

	EXPECT(!pipe(out), "pipe: %s", strerror(errno));
	for (int i = 0; i < SHARERS; i++) {
		pid[i] = fork();
		EXPECT(pid[i] >= 0, "fork: %s", strerror(errno));
		if (!pid[i]) {
			nr = read_to_the_end(fd);
			_exit(write(out[1], &nr, sizeof(nr)) != sizeof(nr));
		}
	}
	make_noise(300);
	must(fd, KMON_STOP, NULL, "KMON_STOP");
	for (int i = 0; i < SHARERS; i++) {
		wait_well(pid[i], "a reader");
		EXPECT(read(out[0], &nr, sizeof(nr)) == sizeof(nr), "pipe: %s", strerror(errno));
		sum += nr;
	}
	s = stats(fd);
	EXPECT(s.read == sum && !s.unread, "%llu read and %llu unread, they have %" PRIu64,
	       s.read, s.unread, sum);
	EXPECT(sum >= 300, "only %" PRIu64 " records", sum);
	close(out[0]);
	close(out[1]);
}

/* The last close stops the instance. */
static void last_one(int fd)
{
	pid_t pid;
	int go[2];
	char byte;

	EXPECT(!pipe(go), "pipe: %s", strerror(errno));
	must(fd, KMON_START, NULL, "KMON_START");
	pid = fork();
	EXPECT(pid >= 0, "fork: %s", strerror(errno));
	if (!pid) {
		EXPECT(read(go[0], &byte, 1) == 1, "pipe: %s", strerror(errno));
		make_noise(20);
		EXPECT(stats(fd).started && stats(fd).unread >= 20, "%llu unread when the other closed it",
		       stats(fd).unread);
		exit(0);
	}
	close(fd);
	EXPECT(write(go[1], "", 1) == 1, "pipe: %s", strerror(errno));
	wait_well(pid, "who has it last");
}

static int do_shared(void)
{
	int fd = open_kmon(0);
	pid_t pid;

	must(fd, KMON_START, NULL, "KMON_START");
	/* a close of one descriptor has no effect on the others */
	pid = fork();
	EXPECT(pid >= 0, "fork: %s", strerror(errno));
	if (!pid) {
		close(fd);
		_exit(0);
	}
	wait_well(pid, "who closes it");
	EXPECT(stats(fd).started, "stopped by another's close()");
	sharers(fd);
	last_one(fd);
	return 0;
}

/* rounds RATE SECONDS: on each CPU two tasks wake each other RATE times a second */

#define SLICE_MS	4

static void steadily(int cpu, uint64_t rate, uint64_t all)
{
	struct sched_param prio = { 0 };
	uint64_t began, due, ms, done = 0;
	int a[2], b[2];
	char byte = 0;
	pid_t pid;

	pin(cpu, false);
	/* a woken task waits until the other one sleeps, so each round has two wakeups */
	EXPECT(!sched_setscheduler(0, SCHED_BATCH, &prio), "SCHED_BATCH: %s", strerror(errno));
	EXPECT(!pipe(a) && !pipe(b), "pipe: %s", strerror(errno));
	pid = fork();
	EXPECT(pid >= 0, "fork: %s", strerror(errno));
	if (!pid) {
		hand_over(a[0], b[1], all);
		_exit(0);
	}
	began = now_ns(CLOCK_MONOTONIC);
	while (done < all) {
		ms = (now_ns(CLOCK_MONOTONIC) - began) / 1000000 + SLICE_MS;
		due = rate * ms / 1000;
		/* At most one slice at a time, so that the reader can run. */
		if (due > done + rate * SLICE_MS / 1000 + 1)
			due = done + rate * SLICE_MS / 1000 + 1;
		if (due > all)
			due = all;
		for (; done < due; done++)
			EXPECT(write(a[1], &byte, 1) == 1 && read(b[0], &byte, 1) == 1, "pipe: %s",
			       strerror(errno));
		if (now_ns(CLOCK_MONOTONIC) - began < ms * 1000000)
			usleep(1000);
	}
	wait_well(pid, "the other one");
	exit(0);
}

/* A pair that cannot keep up still does its rounds, and takes longer. */
static int do_rounds(long rate, long seconds)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t began = now_ns(CLOCK_MONOTONIC);
	pid_t pid[256];

	EXPECT(rate > 0 && seconds > 0 && cpus <= 256, "%ld CPUs", cpus);
	for (long i = 0; i < cpus; i++) {
		pid[i] = fork();
		EXPECT(pid[i] >= 0, "fork: %s", strerror(errno));
		if (!pid[i])
			steadily(i, rate, (uint64_t)rate * seconds);
	}
	for (long i = 0; i < cpus; i++)
		wait_well(pid[i], "a pair");
	printf("%ld %" PRIu64 "\n", rate * seconds * cpus,
	       (now_ns(CLOCK_MONOTONIC) - began) / 1000000);
	return 0;
}

/* fuzz SECONDS [SEED]: every ioctl with any argument, mixed with all other calls */

static uint64_t random_state;

static uint64_t rnd(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static unsigned long any_argument(uint8_t *room, size_t size)
{
	static const long numbers[] = { 0, 1, -1, 4096, 8192, 65536, 1 << 20, LONG_MAX, LONG_MIN };
	long value = numbers[rnd() % (sizeof(numbers) / sizeof(numbers[0]))];

	switch (rnd() % 6) {
	case 0:
		/* an address where this program has no memory */
		return rnd() | 1UL << 48;
	case 1:
		return rnd() % 65536;
	case 2:
		/* ends at the end of the mapping */
		return (unsigned long)room + size - rnd() % 16;
	case 3:
		/* somewhere in the mapping, after it, or in the kernel */
		return (unsigned long)room + rnd() % (size + 65536) + (rnd() & 1UL << 63);
	default:
		if (rnd() % 4 == 0)
			value = 1L << (rnd() % 64);
		/* a request for all memory would start the OOM killer */
		if (value > 1 << 24 && value <= KMON_BUFFSIZE_MAX)
			value = 1 << 24;
		memcpy(room, &value, sizeof(value));
		return (unsigned long)room;
	}
}

static unsigned long any_command(void)
{
	static const unsigned long known[] = {
		KMON_START, KMON_STOP, KMON_BUFFSIZE, KMON_SOURCES, KMON_STATS,
	};

	switch (rnd() % 8) {
	case 0:
		return rnd();
	case 1:
		return _IOC(rnd() % 4, KMON_IOC_MAGIC, rnd() % 256, rnd() % 16384);
	case 2:
		/* each valid number in turn */
		return (KMON_IOC_MAGIC << 8) | (rnd() & 0xff);
	default:
		return known[rnd() % 5];
	}
}

#define FUZZ_FILES	5
#define FUZZ_AT_ONCE	100

static void fuzz_once(int *fds, uint8_t *room, size_t size)
{
	int *fd = &fds[rnd() % FUZZ_FILES];

	switch (rnd() % 16) {
	case 0:
		close(*fd);
		*fd = open(DEVICE, O_RDWR | (rnd() & 1 ? O_NONBLOCK : 0));
		break;
	case 1:
		polled(*fd, 0);
		break;
	case 2:
		fcntl(*fd, F_SETFL, O_NONBLOCK);
		(void)!read(*fd, (void *)any_argument(room, size), rnd() % 200000);
		break;
	case 3:
		fcntl(*fd, F_SETFL, O_NONBLOCK);
		(void)!read(*fd, room, size);
		break;
	case 4: {
		pid_t pid = fork();

		if (!pid) {
			ioctl(*fd, any_command(), any_argument(room, size));
			_exit(0);
		}
		waitpid(pid, NULL, 0);
		break;
	}
	default:
		ioctl(*fd, any_command(), any_argument(room, size));
	}
}

static void fuzz_some(int *fds, uint8_t *room, size_t size)
{
	for (int i = 0; i < FUZZ_AT_ONCE; i++)
		fuzz_once(fds, room, size);
}

/* A process and its child use the same open files at the same time. */
static void fuzz_both(int *fds, uint8_t *room, size_t size)
{
	pid_t pid = fork();

	EXPECT(pid >= 0, "fork: %s", strerror(errno));
	if (!pid) {
		/* another seed for the child; never 0 */
		random_state += random_state >> 1;
		random_state |= 1;
		fuzz_some(fds, room, size);
		_exit(0);
	}
	fuzz_some(fds, room, size);
	wait_well(pid, "the other one");
}

static int do_fuzz(long seconds, uint64_t seed)
{
	uint64_t end = now_ns(CLOCK_MONOTONIC) + seconds * UINT64_C(1000000000);
	size_t size = 1 << 20;
	uint64_t rounds = 0;
	int fds[FUZZ_FILES];
	uint8_t *room;

	random_state = seed ? seed : 1;
	room = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	EXPECT(room != MAP_FAILED && !munmap(room + size, 4096), "mmap: %s", strerror(errno));
	for (int i = 0; i < FUZZ_FILES; i++)
		fds[i] = open_kmon(O_NONBLOCK);
	while (now_ns(CLOCK_MONOTONIC) < end) {
		fuzz_both(fds, room, size);
		rounds += 2 * FUZZ_AT_ONCE;
	}
	printf("%" PRIu64 "\n", rounds);
	return 0;
}

/*
 * hold N MS: starts N instances with large buffers, which nobody reads. At the end, or at
 * SIGINT, prints the number of records that the first one has lost.
 */
static int do_hold(long n, long ms)
{
	struct sigaction sa = { .sa_handler = on_signal };
	long size = 16 << 20;
	int first = -1, fd;

	sigaction(SIGINT, &sa, NULL);
	while (n--) {
		fd = open_kmon(0);
		if (first < 0) {
			first = fd;
			must(fd, KMON_BUFFSIZE, &size, "KMON_BUFFSIZE");
		}
		must(fd, KMON_START, NULL, "KMON_START");
	}
	printf("ready\n");
	fflush(stdout);
	usleep(ms * 1000);
	must(first, KMON_STOP, NULL, "KMON_STOP");
	printf("lost %llu\n", stats(first).lost);
	return 0;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: kmon bounds | check FILE [moved] | pingpong ROUNDS CPU [PID] | burn MS |\n"
		"            woken TIMES CPU | rate MS | shared | rounds RATE SECONDS |\n"
		"            fuzz SECONDS [SEED] | hold INSTANCES MS\n");
	return 2;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long number = argc > 2 ? atol(argv[2]) : 0;

	if (!strcmp(what, "bounds"))
		return do_bounds();
	if (!strcmp(what, "check") && argc >= 3)
		return do_check(argv[2], argc > 3 && !strcmp(argv[3], "moved"));
	if (!strcmp(what, "pingpong") && argc >= 4)
		return do_pingpong(number, atoi(argv[3]), argc > 4 ? atoi(argv[4]) : 0);
	if (!strcmp(what, "burn") && argc == 3)
		return do_burn(number);
	if (!strcmp(what, "woken") && argc == 4)
		return do_woken(number, atoi(argv[3]));
	if (!strcmp(what, "rate") && argc == 3)
		return do_rate(number);
	if (!strcmp(what, "shared"))
		return do_shared();
	if (!strcmp(what, "rounds") && argc == 4)
		return do_rounds(number, atol(argv[3]));
	if (!strcmp(what, "fuzz") && argc >= 3)
		return do_fuzz(number, argc > 3 ? strtoull(argv[3], NULL, 0) : 1);
	if (!strcmp(what, "hold") && argc == 4)
		return do_hold(number, atol(argv[3]));
	return usage();
}
