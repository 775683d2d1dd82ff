// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test /proc/allocinfo, its ioctls, and vm.mem_profiling: format, permissions,
 * errors, and that memory of this program is accounted and released.
 *
 * Boot with sysctl.vm.mem_profiling=1 or =0. After "never" the file has only the
 * heading, and with CONFIG_MEM_ALLOC_PROFILING_DEBUG the sysctl is read-only: then
 * the tests that need more are skipped. The value of the sysctl is restored.
 *
 * Other programs allocate and free at the same time, so the comparisons of counts
 * leave room for that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <regex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/alloc_tag.h>

#include "../kselftest_harness.h"

#define INFO		"/proc/allocinfo"
#define SYSCTL		"/proc/sys/vm/mem_profiling"
#define HEADING		"allocinfo - version: 2.0\n" \
			"#     <size>  <calls> <tag info>\n"
#define ROW		"^ *[0-9]+ +[0-9]+ [^ :]+:[0-9]+( \\[[A-Za-z0-9_]+\\])? " \
			"func:[A-Za-z0-9_.]+( accurate:no)? \n$"
#define READ_ONLY	"vm.mem_profiling is read-only here"
#define OFF		"profiling is off, and cannot be switched on"
#define UNAVAILABLE	"profiling is unavailable since boot"

#define NOBODY		65534
#define NR_PIPES	128
#define NR_PAGES	512

/* Helpers */

/* Read a whole file, @step bytes at a time, and add a NUL byte. Returns NULL on failure. */
static char *read_file(const char *path, size_t step)
{
	size_t room = 1 << 20, len = 0;
	char *text = malloc(room);
	int fd = open(path, O_RDONLY);
	ssize_t n = -1;

	while (fd >= 0 && text) {
		n = read(fd, text + len, step);
		if (n <= 0)
			break;
		len += n;
		if (len + step >= room)
			text = realloc(text, room *= 2);
	}
	if (fd >= 0)
		close(fd);
	if (!text || n) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

/* Returns 0 or an errno, like ask(), held_by() and open_pipes(). */
static int write_sysctl(const char *value)
{
	ssize_t len = strlen(value);
	int fd = open(SYSCTL, O_WRONLY);
	int err = 0;

	if (fd < 0)
		return errno;
	if (write(fd, value, len) != len)
		err = errno;
	close(fd);
	return err;
}

static int read_sysctl(void)
{
	char *text = read_file(SYSCTL, 64);
	int value = text ? atoi(text) : -1;

	free(text);
	return value;
}

static bool sysctl_is_writable(void)
{
	struct stat st;

	return !stat(SYSCTL, &st) && (st.st_mode & 0200);
}

/* Does the file contain rows, or only the heading? */
static bool has_rows(void)
{
	char *text = read_file(INFO, 1 << 16);
	bool has = text && strlen(text) > strlen(HEADING);

	free(text);
	return has;
}

/* Returns the errno that an ordinary user gets from open(), or 0. */
static int open_as_nobody(const char *path, int flags)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
			_exit(255);
		_exit(open(path, flags) < 0 ? errno : 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static int ask(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static uint64_t content_id(int fd)
{
	struct allocinfo_content_id content = { };

	return ask(fd, ALLOCINFO_IOC_CONTENT_ID, &content) ? 0 : content.id;
}

struct held {
	uint64_t bytes;
	uint64_t calls;
	unsigned int records;
};

/* Sum up the memory that all call sites in a source file hold. */
static int held_by(const char *file, struct held *held)
{
	struct allocinfo_get_at at = {
		.filter.mask = ALLOCINFO_FILTER_MASK_FILENAME,
	};
	int fd = open(INFO, O_RDONLY);
	int err;

	memset(held, 0, sizeof(*held));
	if (fd < 0)
		return errno;
	strncpy(at.filter.fields.filename, file, ALLOCINFO_STR_SIZE - 1);
	err = ask(fd, ALLOCINFO_IOC_GET_AT, &at);
	while (!err) {
		held->bytes += at.data.counter.bytes;
		held->calls += at.data.counter.calls;
		held->records++;
		err = ask(fd, ALLOCINFO_IOC_GET_NEXT, &at.data);
	}
	close(fd);
	return err == ENOENT ? 0 : err;
}

static int open_pipes(int fds[NR_PIPES][2])
{
	for (int i = 0; i < NR_PIPES; i++)
		if (pipe(fds[i]))
			return errno;
	return 0;
}

static void close_pipes(int fds[NR_PIPES][2])
{
	for (int i = 0; i < NR_PIPES; i++) {
		close(fds[i][0]);
		close(fds[i][1]);
	}
}

/* Copy the next row of a text and add a NUL byte. Returns NULL after the last row. */
static char *next_row(char **text, char row[1024])
{
	char *end = strchr(*text, '\n');
	size_t len = end ? end + 1 - *text : 0;

	if (!len || len >= 1024)
		return NULL;
	memcpy(row, *text, len);
	row[len] = '\0';
	*text += len;
	return row;
}

/* Returns a row without its counts. */
static const char *names_of(const char *row)
{
	row += strspn(row, " ");
	row += strspn(row, "0123456789");
	row += strspn(row, " ");
	row += strspn(row, "0123456789");
	return row;
}

/* Do both texts have the same call sites in the same order? */
static bool same_names(char *a, char *b)
{
	char row_a[1024], row_b[1024], *ra, *rb;

	do {
		ra = next_row(&a, row_a);
		rb = next_row(&b, row_b);
		if (!ra != !rb || (ra && strcmp(names_of(ra), names_of(rb))))
			return false;
	} while (ra);
	return !*a && !*b;
}

/* A record contains only the end of a name that is too long for its field. */
static bool may_be_cut(const struct allocinfo_tag *tag)
{
	const size_t most = ALLOCINFO_STR_SIZE - 1;

	return strlen(tag->modname) == most || strlen(tag->function) == most ||
	       strlen(tag->filename) == most;
}

/* The file: permissions and format */

TEST(is_for_root)
{
	struct stat st;

	ASSERT_EQ(0, stat(INFO, &st));
	EXPECT_EQ(S_IFREG | 0400, st.st_mode);
	EXPECT_EQ(0, st.st_uid);
	EXPECT_EQ(EACCES, open_as_nobody(INFO, O_RDONLY));
}

TEST(begins_with_the_heading)
{
	char *text = read_file(INFO, 1 << 16);

	ASSERT_NE(NULL, text);
	EXPECT_EQ(0, strncmp(text, HEADING, strlen(HEADING)));
	free(text);
}

TEST(rows_have_the_form)
{
	char *text = read_file(INFO, 1 << 16), *at = text, row[1024];
	uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * getpagesize();
	unsigned int rows = 0;
	regex_t form;

	if (!has_rows())
		SKIP(return, UNAVAILABLE);
	ASSERT_NE(NULL, text);
	ASSERT_EQ(0, regcomp(&form, ROW, REG_EXTENDED | REG_NOSUB));
	next_row(&at, row);
	next_row(&at, row);
	while (next_row(&at, row)) {
		ASSERT_EQ(0, regexec(&form, row, 0, NULL, 0)) {
			TH_LOG("no row: %s", row);
		}
		/* a sum below zero would be a very large number */
		ASSERT_LE(strtoull(row, NULL, 10), all) {
			TH_LOG("more than there is: %s", row);
		}
		rows++;
	}
	EXPECT_EQ('\0', *at);
	EXPECT_LT(100, rows);
	regfree(&form);
	free(text);
}

TEST(small_reads_read_the_same)
{
	int fd = open(INFO, O_RDONLY);
	char *whole, *parts;
	bool same = false;
	uint64_t id;

	ASSERT_LE(0, fd);
	/* Try again if a module was loaded or unloaded meanwhile. */
	for (int i = 0; i < 5 && !same; i++) {
		id = content_id(fd);
		whole = read_file(INFO, 1 << 16);
		parts = read_file(INFO, 37);
		ASSERT_TRUE(whole && parts);
		same = same_names(whole, parts);
		free(whole);
		free(parts);
		if (id == content_id(fd))
			break;
	}
	EXPECT_TRUE(same);
	close(fd);
}

TEST(seeks)
{
	char head[sizeof(HEADING)] = "", part[16] = "";
	int fd = open(INFO, O_RDONLY);
	const off_t second = strchr(HEADING, '\n') + 1 - HEADING;

	ASSERT_LE(0, fd);
	ASSERT_EQ(strlen(HEADING), read(fd, head, strlen(HEADING)));
	EXPECT_STREQ(HEADING, head);
	ASSERT_EQ(second, lseek(fd, second, SEEK_SET));
	ASSERT_EQ(10, read(fd, part, 10));
	EXPECT_EQ(0, strncmp(part, &HEADING[second], 10));
	EXPECT_EQ(0, lseek(fd, 0, SEEK_SET));
	ASSERT_EQ(10, read(fd, part, 10));
	EXPECT_EQ(0, strncmp(part, HEADING, 10));
	EXPECT_EQ(10, pread(fd, part, 10, second));
	EXPECT_EQ(0, strncmp(part, &HEADING[second], 10));
	EXPECT_EQ(-1, lseek(fd, -1, SEEK_SET));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, lseek(fd, 0, SEEK_END));
	EXPECT_EQ(EINVAL, errno);
	close(fd);
}

/* vm.mem_profiling */

FIXTURE(sysctl)
{
	int before;
};

FIXTURE_SETUP(sysctl)
{
	self->before = read_sysctl();
}

FIXTURE_TEARDOWN(sysctl)
{
	if (sysctl_is_writable())
		write_sysctl(self->before ? "1" : "0");
}

TEST_F(sysctl, is_a_switch)
{
	if (!sysctl_is_writable())
		SKIP(return, READ_ONLY);
	for (int i = 0; i < 3; i++) {
		ASSERT_EQ(0, write_sysctl("0\n"));
		EXPECT_EQ(0, read_sysctl());
		ASSERT_EQ(0, write_sysctl("1\n"));
		EXPECT_EQ(1, read_sysctl());
	}
}

TEST_F(sysctl, refuses_other_values)
{
	static const char * const bad[] = {
		"2\n", "-1\n", "x\n", "1x\n", "never\n", "4294967296\n",
		"18446744073709551617\n",
	};

	if (!sysctl_is_writable())
		SKIP(return, READ_ONLY);
	for (int value = 0; value <= 1; value++) {
		ASSERT_EQ(0, write_sysctl(value ? "1\n" : "0\n"));
		for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
			EXPECT_EQ(EINVAL, write_sysctl(bad[i])) {
				TH_LOG("written: %s", bad[i]);
			}
			EXPECT_EQ(value, read_sysctl());
		}
	}
}

TEST_F(sysctl, is_for_root_to_write)
{
	EXPECT_EQ(0, open_as_nobody(SYSCTL, O_RDONLY));
	EXPECT_EQ(EACCES, open_as_nobody(SYSCTL, O_WRONLY));
}

TEST_F(sysctl, read_only_means_that)
{
	if (sysctl_is_writable())
		SKIP(return, "vm.mem_profiling is a switch here");
	EXPECT_NE(0, write_sysctl(self->before ? "0\n" : "1\n"));
	EXPECT_EQ(self->before, read_sysctl());
}

/* Allocations are accounted and released */

TEST_F(sysctl, accounts_pages)
{
	const uint64_t size = (uint64_t)NR_PAGES * getpagesize();
	struct held before, with, after;
	char *page = calloc(1, getpagesize());
	int fd = memfd_create("allocinfo_test", 0);

	if (fd < 0)
		SKIP(return, "no memfd_create()");
	if (sysctl_is_writable())
		ASSERT_EQ(0, write_sysctl("1\n"));
	if (read_sysctl() != 1)
		SKIP(return, OFF);

	ASSERT_EQ(0, held_by("mm/shmem.c", &before));
	ASSERT_NE(0, before.records);
	for (int i = 0; i < NR_PAGES; i++)
		ASSERT_EQ(getpagesize(), write(fd, page, getpagesize()));
	ASSERT_EQ(0, held_by("mm/shmem.c", &with));
	close(fd);
	ASSERT_EQ(0, held_by("mm/shmem.c", &after));
	EXPECT_LE(before.bytes + size, with.bytes + size / 8);
	EXPECT_LE(after.bytes + size, with.bytes + size / 8);
	EXPECT_LT(before.calls, with.calls);
	free(page);
}

TEST_F(sysctl, accounts_objects)
{
	int fds[NR_PIPES][2];
	struct held before, with, after;

	if (sysctl_is_writable())
		ASSERT_EQ(0, write_sysctl("1\n"));
	if (read_sysctl() != 1)
		SKIP(return, OFF);

	ASSERT_EQ(0, held_by("fs/pipe.c", &before));
	ASSERT_NE(0, before.records);
	ASSERT_EQ(0, open_pipes(fds));
	ASSERT_EQ(0, held_by("fs/pipe.c", &with));
	close_pipes(fds);
	ASSERT_EQ(0, held_by("fs/pipe.c", &after));
	/* A pipe and its buffers are two allocations. Leave room for other programs. */
	EXPECT_LE(before.calls + 2 * NR_PIPES, with.calls + NR_PIPES / 4);
	EXPECT_LE(after.calls + 2 * NR_PIPES, with.calls + NR_PIPES / 4);
	EXPECT_LE(before.bytes + 64 * NR_PIPES, with.bytes);
	EXPECT_LE(after.bytes + 64 * NR_PIPES, with.bytes);
}

TEST_F(sysctl, releases_while_off)
{
	int fds[NR_PIPES][2];
	struct held with, after;

	if (!sysctl_is_writable())
		SKIP(return, READ_ONLY);
	ASSERT_EQ(0, write_sysctl("1\n"));
	ASSERT_EQ(0, open_pipes(fds));
	ASSERT_EQ(0, held_by("fs/pipe.c", &with));
	ASSERT_EQ(0, write_sysctl("0\n"));
	close_pipes(fds);
	ASSERT_EQ(0, held_by("fs/pipe.c", &after));
	EXPECT_LE(after.calls + 2 * NR_PIPES, with.calls + NR_PIPES / 4);
}

TEST_F(sysctl, accounts_nothing_while_off)
{
	int fds[NR_PIPES][2];
	struct held before, with, after;

	if (!sysctl_is_writable())
		SKIP(return, READ_ONLY);
	ASSERT_EQ(0, write_sysctl("0\n"));
	ASSERT_EQ(0, held_by("fs/pipe.c", &before));
	ASSERT_NE(0, before.records);
	ASSERT_EQ(0, open_pipes(fds));
	ASSERT_EQ(0, held_by("fs/pipe.c", &with));
	EXPECT_LE(with.calls, before.calls);
	/* Memory that was not accounted must not be released later. */
	ASSERT_EQ(0, write_sysctl("1\n"));
	close_pipes(fds);
	ASSERT_EQ(0, held_by("fs/pipe.c", &after));
	EXPECT_LE(with.calls, after.calls + NR_PIPES / 4);
}

/* ioctl() */

FIXTURE(ioctls)
{
	int fd;
	struct allocinfo_get_at at;
};

FIXTURE_SETUP(ioctls)
{
	self->fd = open(INFO, O_RDONLY);
	ASSERT_LE(0, self->fd);
}

FIXTURE_TEARDOWN(ioctls)
{
	close(self->fd);
}

TEST_F(ioctls, refuse_bad_arguments)
{
	void *nowhere = mmap(NULL, getpagesize(), PROT_NONE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ASSERT_NE(MAP_FAILED, nowhere);
	EXPECT_EQ(ENOTTY, ask(self->fd, _IO(ALLOCINFO_IOC_BASE, 0), NULL));
	EXPECT_EQ(ENOTTY, ask(self->fd, _IOR(ALLOCINFO_IOC_BASE, 1,
					     struct allocinfo_get_at), &self->at));
	EXPECT_EQ(ENOTTY, ask(self->fd, _IOWR(ALLOCINFO_IOC_BASE, 1,
					      struct allocinfo_tag_data), &self->at));
	EXPECT_EQ(ENOTTY, ask(self->fd, _IO(ALLOCINFO_IOC_BASE, 3), NULL));
	EXPECT_EQ(EFAULT, ask(self->fd, ALLOCINFO_IOC_CONTENT_ID, nowhere));
	EXPECT_EQ(EFAULT, ask(self->fd, ALLOCINFO_IOC_GET_AT, nowhere));
	if (has_rows())
		EXPECT_EQ(EFAULT, ask(self->fd, ALLOCINFO_IOC_GET_NEXT, nowhere));
	for (int bit = 0; bit < 64; bit++) {
		self->at.filter.mask = 1ULL << bit;
		if (!(self->at.filter.mask & ALLOCINFO_FILTER_MASKS))
			EXPECT_EQ(EINVAL, ask(self->fd, ALLOCINFO_IOC_GET_AT, &self->at));
	}
}

/* A call that fails does not change the position. */
TEST_F(ioctls, go_on_after_an_error)
{
	struct allocinfo_tag_data second, again;

	if (!has_rows())
		SKIP(return, UNAVAILABLE);
	ASSERT_EQ(0, ask(self->fd, ALLOCINFO_IOC_GET_AT, &self->at));
	ASSERT_EQ(0, ask(self->fd, ALLOCINFO_IOC_GET_NEXT, &second));
	ASSERT_EQ(0, ask(self->fd, ALLOCINFO_IOC_GET_AT, &self->at));
	EXPECT_EQ(EFAULT, ask(self->fd, ALLOCINFO_IOC_GET_NEXT, NULL));
	self->at.filter.mask = ~0ULL;
	EXPECT_EQ(EINVAL, ask(self->fd, ALLOCINFO_IOC_GET_AT, &self->at));
	ASSERT_EQ(0, ask(self->fd, ALLOCINFO_IOC_GET_NEXT, &again));
	EXPECT_EQ(0, memcmp(&second.tag, &again.tag, sizeof(second.tag)));
}

TEST_F(ioctls, return_what_the_text_has)
{
	struct allocinfo_tag_data r;
	char *text, *at, row[1024], names[1024], module[128];
	uint64_t id = content_id(self->fd);
	unsigned int records = 0;

	if (!has_rows())
		SKIP(return, UNAVAILABLE);
	text = read_file(INFO, 1 << 16);
	ASSERT_NE(NULL, text);
	at = text + strlen(HEADING);
	while (!ask(self->fd, ALLOCINFO_IOC_GET_NEXT, &r) && next_row(&at, row)) {
		ASSERT_LE(r.counter.accurate, 1);
		snprintf(module, sizeof(module), "[%s] ", r.tag.modname);
		snprintf(names, sizeof(names), " %s:%llu %sfunc:%s%s \n",
			 r.tag.filename, (unsigned long long)r.tag.lineno,
			 r.tag.modname[0] ? module : "", r.tag.function,
			 r.counter.accurate ? "" : " accurate:no");
		if (!may_be_cut(&r.tag))
			ASSERT_STREQ(names_of(row), names);
		records++;
	}
	EXPECT_LT(100, records);
	EXPECT_EQ(ENOENT, ask(self->fd, ALLOCINFO_IOC_GET_NEXT, &r));
	if (id == content_id(self->fd))
		EXPECT_EQ('\0', *at);
	free(text);
}

TEST_F(ioctls, filter_by_name)
{
	struct allocinfo_tag want;
	unsigned int records = 0;
	int err;

	if (!has_rows())
		SKIP(return, UNAVAILABLE);
	/* Take any record to search for. */
	self->at.pos = 50;
	ASSERT_EQ(0, ask(self->fd, ALLOCINFO_IOC_GET_AT, &self->at));
	want = self->at.data.tag;
	self->at.pos = 0;
	self->at.filter.fields = want;
	self->at.filter.mask = ALLOCINFO_FILTER_MASK_MODNAME |
			       ALLOCINFO_FILTER_MASK_FUNCTION |
			       ALLOCINFO_FILTER_MASK_FILENAME |
			       ALLOCINFO_FILTER_MASK_LINENO;
	for (err = ask(self->fd, ALLOCINFO_IOC_GET_AT, &self->at); !err;
	     err = ask(self->fd, ALLOCINFO_IOC_GET_NEXT, &self->at.data)) {
		EXPECT_EQ(0, memcmp(&want, &self->at.data.tag, sizeof(want)));
		records++;
	}
	EXPECT_EQ(ENOENT, err);
	EXPECT_LE(1, records);

	strcpy(self->at.filter.fields.filename, "no/such/file.c");
	EXPECT_EQ(ENOENT, ask(self->fd, ALLOCINFO_IOC_GET_AT, &self->at));
	/* The filter and the position also apply to the next call. */
	EXPECT_EQ(ENOENT, ask(self->fd, ALLOCINFO_IOC_GET_NEXT, &self->at.data));
}

TEST_F(ioctls, filter_by_size)
{
	const uint64_t least = 4096, most = 1 << 20;
	unsigned int records = 0;
	int err;

	if (!has_rows())
		SKIP(return, UNAVAILABLE);
	self->at.filter.mask = ALLOCINFO_FILTER_MASK_MIN_SIZE |
			       ALLOCINFO_FILTER_MASK_MAX_SIZE;
	self->at.filter.min_size = least;
	self->at.filter.max_size = most;
	for (err = ask(self->fd, ALLOCINFO_IOC_GET_AT, &self->at); !err;
	     err = ask(self->fd, ALLOCINFO_IOC_GET_NEXT, &self->at.data)) {
		EXPECT_LE(least, self->at.data.counter.bytes);
		EXPECT_GE(most, self->at.data.counter.bytes);
		records++;
	}
	EXPECT_EQ(ENOENT, err);
	if (read_sysctl() == 1)
		EXPECT_LT(0, records);

	self->at.filter.min_size = most;
	self->at.filter.max_size = least;
	EXPECT_EQ(ENOENT, ask(self->fd, ALLOCINFO_IOC_GET_AT, &self->at));
}

TEST_F(ioctls, end_at_the_last_record)
{
	self->at.pos = UINT64_MAX;
	EXPECT_EQ(ENOENT, ask(self->fd, ALLOCINFO_IOC_GET_AT, &self->at));
	EXPECT_EQ(ENOENT, ask(self->fd, ALLOCINFO_IOC_GET_NEXT, &self->at.data));
	EXPECT_EQ(ENOENT, ask(self->fd, ALLOCINFO_IOC_GET_NEXT, &self->at.data));
}

int main(int argc, char **argv)
{
	if (geteuid())
		ksft_exit_skip("only root may read " INFO "\n");
	if (access(INFO, F_OK))
		ksft_exit_skip("no " INFO ": CONFIG_MEM_ALLOC_PROFILING is not set\n");
	return test_harness_run(argc, argv);
}
