// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's part of "perf record -a -e kmem:...", to measure the cost of its events.
 *
 *	kmemtrace_perf PROGRAM [ARG ...]
 *
 * Runs the program while CPU 0 records each of the events below, with the same data as
 * perf record. The program may fail. The buffer is so large that it need not be read; a
 * check at the end ensures that it had room for all events, because an event without
 * room costs less.
 *
 * Exit code: 0; 1 if the buffer was too small, or after an error; 4 if this kernel does
 * not have these events.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER	"kmemtrace_perf"
#include "expect.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define EVENTS		"/sys/kernel/tracing/events/kmem/"
#define PAGE		4096ul
#define ROOM		(64ul << 20)

static const char * const names[] = {
	"kmalloc", "kfree", "kmem_cache_alloc", "kmem_cache_free",
	"mm_page_alloc", "mm_page_free",
};

static void __attribute__((noreturn)) no_events(const char *what)
{
	printf("%s: %s\n", what, strerror(errno));
	exit(4);
}

static unsigned long event_id(const char *name)
{
	char text[256];
	ssize_t n;
	int fd;

	snprintf(text, sizeof(text), EVENTS "%s/id", name);
	fd = open(text, O_RDONLY);
	if (fd < 0)
		no_events(text);
	n = read(fd, text, sizeof(text) - 1);
	EXPECT(n > 0, "%s: no id", name);
	text[n] = '\0';
	close(fd);
	return strtoul(text, NULL, 10);
}

static int open_event(const char *name)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = event_id(name),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_RAW,
		.read_format = PERF_FORMAT_ID,
		.disabled = 1,
		.sample_id_all = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1,
			 PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		no_events(name);
	return fd;
}

static void run(char **argv)
{
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	EXPECT(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct perf_event_mmap_page *page;
	int fds[ARRAY_SIZE(names)];
	size_t i;

	EXPECT(argc > 1, "what shall run?");
	for (i = 0; i < ARRAY_SIZE(names); i++)
		fds[i] = open_event(names[i]);
	page = mmap(NULL, PAGE + ROOM, PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	EXPECT(page != MAP_FAILED, "mmap: %s", strerror(errno));
	for (i = 1; i < ARRAY_SIZE(names); i++)
		EXPECT(!ioctl(fds[i], PERF_EVENT_IOC_SET_OUTPUT, fds[0]), "%s: %s",
		       names[i], strerror(errno));
	for (i = 0; i < ARRAY_SIZE(names); i++)
		EXPECT(!ioctl(fds[i], PERF_EVENT_IOC_ENABLE, 0), "%s: %s",
		       names[i], strerror(errno));
	run(argv + 1);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		ioctl(fds[i], PERF_EVENT_IOC_DISABLE, 0);
	EXPECT(page->data_head + PAGE < ROOM, "%llu bytes, there is no room for more",
	       (unsigned long long)page->data_head);
	return 0;
}
