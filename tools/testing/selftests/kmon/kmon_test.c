// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test /dev/kmon: permissions, the arguments that each ioctl accepts and refuses in each
 * state, the format of the records, and that read + lost + unread is the number of records.
 *
 * The test also passes while another program has the device open; then it also reads the
 * records of that program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/kmon.h>

#include "../kselftest_harness.h"

#define DEVICE		"/dev/kmon"
#define NOBODY		65534
#define MAX_CPUS	(KMON_WIDE_CPU_MAX + 1)
#define TYPES		256

/* The clock of the records may differ by this many nanoseconds when it is adjusted. */
#define SLACK		1000000

/* Helpers */

static int ask(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static int set_size(int fd, long size)
{
	return ask(fd, KMON_BUFFSIZE, &size);
}

static int set_sources(int fd, __u32 sources)
{
	return ask(fd, KMON_SOURCES, &sources);
}

static struct kmon_stats stats_of(int fd)
{
	struct kmon_stats stats = { };

	if (ask(fd, KMON_STATS, &stats))
		stats.started = -1;
	return stats;
}

static short polled(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) < 0 ? -1 : p.revents;
}

static int open_as_nobody(void)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(255);
		_exit(open(DEVICE, O_RDONLY) < 0 ? errno : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* Start and end tasks, so that the scheduler logs them. Returns the last pid. */
static pid_t make_noise(int times)
{
	pid_t pid = -1;

	while (times--) {
		pid = fork();
		if (!pid)
			_exit(0);
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	return pid;
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static uint64_t number(const uint8_t *p, int size)
{
	return size ? p[0] | number(p + 1, size - 1) << 8 : 0;
}

/* Returns the size of a blob by its type; 0 if the type does not determine it. */
static unsigned int size_of(uint8_t type)
{
	static const uint8_t sizes[TYPES] = {
		[KMON_DT_TSKQUEUE] = 3, [KMON_DT_TSKDEQUEUE] = 3,
		[KMON_DT_TSKSWITCH] = 5, [KMON_DT_TSKWAKEUP] = 5,
		[KMON_DT_TSKQUEUE32] = 5, [KMON_DT_TSKDEQUEUE32] = 5,
		[KMON_DT_TSKSWITCH32] = 9, [KMON_DT_TSKWAKEUP32] = 9,
		[KMON_DT_ALLOC] = 19, [KMON_DT_FREE] = 9,
	};

	return sizes[type];
}

/**
 * struct walk - sums over whole records
 * @records: number of records
 * @types: number of records of each type
 * @first: least time in a header
 * @last: greatest time in a header
 * @last_of: time of the last record of each CPU
 * @seen: number of records that queue @pid
 * @pid: pid to look for, set by the caller
 * @wrong: what is wrong with a record, or NULL
 */
struct walk {
	uint64_t records;
	uint64_t types[TYPES];
	uint64_t first;
	uint64_t last;
	uint64_t *last_of;
	uint64_t seen;
	pid_t pid;
	const char *wrong;
};

static void walk_blob(struct walk *w, uint8_t type, const uint8_t *blob, unsigned int size)
{
	w->types[type]++;
	if (size_of(type) && size != size_of(type))
		w->wrong = "a blob whose size does not fit its type";
	else if ((type == KMON_DT_TSKQUEUE && number(blob + 1, 2) == (uint64_t)w->pid) ||
		 (type == KMON_DT_TSKQUEUE32 && number(blob + 1, 4) == (uint64_t)w->pid))
		w->seen++;
}

static void walk_time(struct walk *w, unsigned int cpu, uint64_t time)
{
	if (time + SLACK < w->last_of[cpu])
		w->wrong = "a time that goes back on its CPU";
	w->last_of[cpu] = time;
	if (!w->records || time < w->first)
		w->first = time;
	if (time > w->last)
		w->last = time;
	w->records++;
}

static void walk(struct walk *w, const uint8_t *p, size_t len)
{
	unsigned int cpu, size;

	while (len && !w->wrong) {
		size = len < KMON_HDR_SIZE ? 0 : number(p + KMON_HDR_SIZE_OF_BLOB, 2);
		if (len < KMON_HDR_SIZE + size || !size) {
			w->wrong = "a record that is not whole, or empty";
			return;
		}
		cpu = p[KMON_HDR_CPU];
		if (p[KMON_HDR_SIZE] == KMON_DT_WIDE) {
			if (cpu != KMON_CPU_MAX || size <= KMON_WIDE_SIZE) {
				w->wrong = "an invalid wide record";
				return;
			}
			cpu = number(p + KMON_HDR_SIZE + 1, 2);
			walk_blob(w, p[KMON_HDR_SIZE + KMON_WIDE_SIZE],
				  p + KMON_HDR_SIZE + KMON_WIDE_SIZE, size - KMON_WIDE_SIZE);
		} else {
			walk_blob(w, p[KMON_HDR_SIZE], p + KMON_HDR_SIZE, size);
		}
		if (cpu >= sysconf(_SC_NPROCESSORS_CONF))
			w->wrong = "a CPU that does not exist";
		walk_time(w, cpu, number(p + KMON_HDR_TIME, 8));
		p += KMON_HDR_SIZE + size;
		len -= KMON_HDR_SIZE + size;
	}
}

/* Read until the device is empty, @room bytes at a time. */
static int drain(int fd, struct walk *w, size_t room)
{
	uint8_t *buf = malloc(room);
	ssize_t n;

	while ((n = read(fd, buf, room)) > 0 && !w->wrong)
		walk(w, buf, n);
	free(buf);
	return n < 0 && errno != EAGAIN ? errno : 0;
}

/* Tests */

FIXTURE(kmon)
{
	int fd;
	struct walk walk;
};

FIXTURE_SETUP(kmon)
{
	self->fd = open(DEVICE, O_RDWR | O_NONBLOCK);
	ASSERT_LE(0, self->fd);
	self->walk.last_of = calloc(MAX_CPUS, sizeof(uint64_t));
	ASSERT_NE(NULL, self->walk.last_of);
}

FIXTURE_TEARDOWN(kmon)
{
	close(self->fd);
	free(self->walk.last_of);
}

TEST_F(kmon, is_for_root)
{
	struct stat st;

	ASSERT_EQ(0, stat(DEVICE, &st));
	EXPECT_EQ(S_IFCHR | 0600, st.st_mode);
	EXPECT_EQ(0, st.st_uid);
	EXPECT_EQ(EACCES, open_as_nobody());
}

TEST_F(kmon, is_stopped_at_first)
{
	struct kmon_stats s = stats_of(self->fd);
	char byte;

	EXPECT_EQ(0, s.started);
	EXPECT_EQ(KMON_SOURCES_DEFAULT, s.sources);
	EXPECT_EQ(KMON_BUFFSIZE_DEFAULT, s.buff_size);
	EXPECT_EQ(0, s.read + s.lost + s.unread + s.unread_bytes);
	EXPECT_EQ(0, polled(self->fd));
	EXPECT_EQ(0, read(self->fd, &byte, 1));
}

TEST_F(kmon, starts_and_stops)
{
	for (int i = 0; i < 3; i++) {
		EXPECT_EQ(0, ask(self->fd, KMON_START, NULL));
		EXPECT_EQ(0, ask(self->fd, KMON_START, NULL));
		EXPECT_EQ(1, stats_of(self->fd).started);
		EXPECT_EQ(0, ask(self->fd, KMON_STOP, NULL));
		EXPECT_EQ(0, ask(self->fd, KMON_STOP, NULL));
		EXPECT_EQ(0, stats_of(self->fd).started);
	}
	EXPECT_EQ(0, drain(self->fd, &self->walk, 65536));
	EXPECT_EQ(POLLHUP, polled(self->fd));
}

TEST_F(kmon, has_whole_records_in_order)
{
	struct kmon_stats s;
	uint64_t before, after;

	ASSERT_EQ(0, set_size(self->fd, 16 << 20));
	before = now();
	ASSERT_EQ(0, ask(self->fd, KMON_START, NULL));
	self->walk.pid = make_noise(100);
	ASSERT_EQ(0, ask(self->fd, KMON_STOP, NULL));
	after = now();
	EXPECT_EQ(POLLIN, polled(self->fd) & (POLLIN | POLLHUP));
	/* Use a small buffer, so that records reach its end. */
	ASSERT_EQ(0, drain(self->fd, &self->walk, 100));
	ASSERT_EQ(NULL, self->walk.wrong) {
		TH_LOG("%s", self->walk.wrong);
	}
	EXPECT_LT(100, self->walk.types[KMON_DT_TSKSWITCH] +
		       self->walk.types[KMON_DT_TSKSWITCH32]);
	EXPECT_LT(100, self->walk.types[KMON_DT_TSKQUEUE] +
		       self->walk.types[KMON_DT_TSKQUEUE32]);
	EXPECT_LT(0, self->walk.seen);
	EXPECT_LE(before, self->walk.first + SLACK);
	EXPECT_GE(after + SLACK, self->walk.last);
	s = stats_of(self->fd);
	EXPECT_EQ(self->walk.records, s.read);
	EXPECT_EQ(0, s.unread + s.unread_bytes);
	EXPECT_EQ(POLLHUP, polled(self->fd) & (POLLIN | POLLHUP));
}

TEST_F(kmon, counts_what_is_lost)
{
	struct kmon_stats s;
	uint64_t all;

	ASSERT_EQ(0, set_size(self->fd, KMON_BUFFSIZE_MIN));
	ASSERT_EQ(0, ask(self->fd, KMON_START, NULL));
	make_noise(200);
	ASSERT_EQ(0, ask(self->fd, KMON_STOP, NULL));
	s = stats_of(self->fd);
	EXPECT_EQ(0, s.read);
	EXPECT_LT(0, s.lost);
	EXPECT_GE(KMON_BUFFSIZE_MIN, s.unread_bytes);
	all = s.lost + s.unread;
	EXPECT_EQ(POLLERR, polled(self->fd) & POLLERR);
	ASSERT_EQ(0, drain(self->fd, &self->walk, 65536));
	EXPECT_EQ(NULL, self->walk.wrong);
	EXPECT_EQ(0, polled(self->fd) & POLLERR);
	s = stats_of(self->fd);
	EXPECT_EQ(self->walk.records, s.read);
	EXPECT_EQ(all, s.read + s.lost);
	EXPECT_EQ(0, s.unread);
}

TEST_F(kmon, reads_no_part_of_a_record)
{
	uint8_t buf[KMON_HDR_SIZE];
	void *nowhere = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, nowhere);
	ASSERT_EQ(0, ask(self->fd, KMON_START, NULL));
	make_noise(10);
	ASSERT_EQ(0, ask(self->fd, KMON_STOP, NULL));
	EXPECT_EQ(0, read(self->fd, buf, 0));
	EXPECT_EQ(-1, read(self->fd, buf, sizeof(buf)));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, read(self->fd, nowhere, 65536));
	EXPECT_EQ(EFAULT, errno);
	/* The failed calls of read() must not lose a record. */
	EXPECT_EQ(0, stats_of(self->fd).read);
	ASSERT_EQ(0, drain(self->fd, &self->walk, 65536));
	EXPECT_EQ(NULL, self->walk.wrong);
	EXPECT_EQ(self->walk.records, stats_of(self->fd).read);
}

TEST_F(kmon, has_sizes_from_4k_to_1g)
{
	static const long bad[] = {
		0, 1, -1, KMON_BUFFSIZE_MIN - 1, KMON_BUFFSIZE_MAX + 1,
		-KMON_BUFFSIZE_MIN, LONG_MIN, LONG_MAX,
	};

	ASSERT_EQ(0, set_size(self->fd, KMON_BUFFSIZE_MIN));
	EXPECT_EQ(KMON_BUFFSIZE_MIN, stats_of(self->fd).buff_size);
	ASSERT_EQ(0, set_size(self->fd, KMON_BUFFSIZE_MIN + 1));
	EXPECT_EQ(2 * KMON_BUFFSIZE_MIN, stats_of(self->fd).buff_size);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(EINVAL, set_size(self->fd, bad[i])) {
			TH_LOG("size: %ld", bad[i]);
		}
	}
	EXPECT_EQ(2 * KMON_BUFFSIZE_MIN, stats_of(self->fd).buff_size);
}

TEST_F(kmon, keeps_what_does_not_fit_another_size)
{
	struct kmon_stats s;

	ASSERT_EQ(0, ask(self->fd, KMON_START, NULL));
	make_noise(200);
	ASSERT_EQ(0, ask(self->fd, KMON_STOP, NULL));
	s = stats_of(self->fd);
	ASSERT_LT(KMON_BUFFSIZE_MIN, s.unread_bytes);
	EXPECT_EQ(EBUSY, set_size(self->fd, KMON_BUFFSIZE_MIN));
	EXPECT_EQ(s.unread, stats_of(self->fd).unread);
	EXPECT_EQ(s.buff_size, stats_of(self->fd).buff_size);
}

TEST_F(kmon, has_known_sources)
{
	for (__u32 sources = 0; sources <= KMON_SOURCES_ALL; sources++) {
		EXPECT_EQ(0, set_sources(self->fd, sources));
		EXPECT_EQ(sources, stats_of(self->fd).sources);
	}
	for (int bit = 0; bit < 32; bit++) {
		if ((1U << bit) & KMON_SOURCES_ALL)
			continue;
		EXPECT_EQ(EINVAL, set_sources(self->fd, 1U << bit));
	}
	EXPECT_EQ(KMON_SOURCES_ALL, stats_of(self->fd).sources);
}

TEST_F(kmon, records_allocations)
{
	int fds[2];

	ASSERT_EQ(0, set_sources(self->fd, KMON_SOURCE_ALLOC));
	ASSERT_EQ(0, set_size(self->fd, 4 << 20));
	ASSERT_EQ(0, ask(self->fd, KMON_START, NULL));
	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, pipe(fds));
		close(fds[0]);
		close(fds[1]);
	}
	ASSERT_EQ(0, ask(self->fd, KMON_STOP, NULL));
	ASSERT_EQ(0, drain(self->fd, &self->walk, 65536));
	ASSERT_EQ(NULL, self->walk.wrong) {
		TH_LOG("%s", self->walk.wrong);
	}
	EXPECT_LE(40, self->walk.types[KMON_DT_ALLOC]);
	EXPECT_LE(20, self->walk.types[KMON_DT_FREE]);
}

TEST_F(kmon, changes_nothing_while_started)
{
	ASSERT_EQ(0, ask(self->fd, KMON_START, NULL));
	EXPECT_EQ(EBUSY, set_size(self->fd, KMON_BUFFSIZE_MIN));
	EXPECT_EQ(EBUSY, set_sources(self->fd, 0));
	EXPECT_EQ(KMON_BUFFSIZE_DEFAULT, stats_of(self->fd).buff_size);
	EXPECT_EQ(KMON_SOURCES_DEFAULT, stats_of(self->fd).sources);
	ASSERT_EQ(0, ask(self->fd, KMON_STOP, NULL));
	EXPECT_EQ(0, set_sources(self->fd, 0));
}

TEST_F(kmon, refuses_bad_calls)
{
	char byte = 0;

	EXPECT_EQ(ENOTTY, ask(self->fd, _IO(KMON_IOC_MAGIC, 5), NULL));
	EXPECT_EQ(ENOTTY, ask(self->fd, _IO(KMON_IOC_MAGIC, 2), NULL));
	EXPECT_EQ(ENOTTY, ask(self->fd, _IOR(KMON_IOC_MAGIC, 4, __u32), &byte));
	EXPECT_EQ(EFAULT, ask(self->fd, KMON_BUFFSIZE, NULL));
	EXPECT_EQ(EFAULT, ask(self->fd, KMON_SOURCES, NULL));
	EXPECT_EQ(EFAULT, ask(self->fd, KMON_STATS, NULL));
	EXPECT_EQ(-1, lseek(self->fd, 0, SEEK_SET));
	EXPECT_EQ(ESPIPE, errno);
	EXPECT_EQ(-1, write(self->fd, &byte, 1));
	EXPECT_EQ(EINVAL, errno);
}

/* Empty device: read() with O_NONBLOCK fails; a blocking read() returns after a stop. */
TEST_F(kmon, waits_only_when_asked_to)
{
	uint8_t buf[4096];
	ssize_t n;
	pid_t pid;

	ASSERT_EQ(0, set_sources(self->fd, 0));
	ASSERT_EQ(0, ask(self->fd, KMON_START, NULL));
	n = read(self->fd, buf, sizeof(buf));
	if (n > 0)
		SKIP(return, "somebody else asked for records");
	EXPECT_EQ(-1, n);
	EXPECT_EQ(EAGAIN, errno);

	ASSERT_EQ(0, fcntl(self->fd, F_SETFL, 0));
	pid = fork();
	ASSERT_LE(0, pid);
	if (!pid) {
		usleep(100000);
		_exit(ask(self->fd, KMON_STOP, NULL));
	}
	n = read(self->fd, buf, sizeof(buf));
	waitpid(pid, NULL, 0);
	if (n > 0)
		SKIP(return, "somebody else asked for records");
	EXPECT_EQ(0, n);
	EXPECT_EQ(0, stats_of(self->fd).started);
}

TEST_F(kmon, has_a_state_for_each_open)
{
	int other = open(DEVICE, O_RDWR | O_NONBLOCK);

	ASSERT_LE(0, other);
	ASSERT_EQ(0, ask(self->fd, KMON_START, NULL));
	EXPECT_EQ(0, stats_of(other).started);
	EXPECT_EQ(0, set_size(other, KMON_BUFFSIZE_MIN));
	EXPECT_EQ(KMON_BUFFSIZE_DEFAULT, stats_of(self->fd).buff_size);
	make_noise(10);
	ASSERT_EQ(0, ask(self->fd, KMON_STOP, NULL));
	EXPECT_LT(0, stats_of(self->fd).unread);
	EXPECT_EQ(0, stats_of(other).unread + stats_of(other).lost);
	close(other);
}

int main(int argc, char **argv)
{
	if (geteuid())
		ksft_exit_skip("only root may open " DEVICE "\n");
	if (access(DEVICE, F_OK))
		ksft_exit_skip("no " DEVICE ": CONFIG_KMON is not set\n");
	return test_harness_run(argc, argv);
}
