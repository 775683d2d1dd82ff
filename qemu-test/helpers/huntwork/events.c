// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: of performance counters and traces, and of files.
 */
#define _GNU_SOURCE
#include "huntwork.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int event(struct perf_event_attr *a, pid_t pid, int cpu, int group)
{
	a->size = sizeof(*a);
	return syscall(SYS_perf_event_open, a, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
}

static long text_of(const char *path)
{
	char text[32] = "";
	int fd = open(path, O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0) {
		may(path, -1);
		return -1;
	}
	close(fd);
	return strtol(text, NULL, 0);
}

static void map_and_close(int fd)
{
	void *p = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED) {
		may("mmap of an event", -1);
	} else {
		usleep(1000);
		munmap(p, 5 * 4096);
	}
	close(fd);
}

/* A probe in a function of the kernel or of this program */
static void probe(const char *kind, struct perf_event_attr a)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", kind);
	a.type = text_of(path);
	if ((int)a.type < 0)
		return;
	for (int back = 0; back < 2; back++) {
		int fd;

		a.config = back;
		fd = event(&a, -1, 0, -1);
		if (may(kind, fd))
			map_and_close(fd);
	}
}

/* perf: counters, samples, groups, breakpoints, trace points, probes */
void do_perf(char **args)
{
	static const struct { unsigned int type, config; } plain[] = {
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
		{ PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	};
	static char watched[8];
	struct perf_event_attr a;
	int fd, leader = -1;
	char name[] = "do_sys_openat2";
	long id;

	(void)args;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		a = (struct perf_event_attr){
			.type = plain[i].type, .config = plain[i].config, .sample_period = 100000,
			.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
				       PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER,
			.sample_stack_user = 1024, .sample_regs_user = 0xff, .inherit = i & 1,
			.mmap = 1, .comm = 1, .task = 1, .context_switch = 1,
		};
		fd = event(&a, 0, -1, -1);
		if (may("event", fd))
			map_and_close(fd);
	}
	for (int i = 0; i < 3; i++) {
		a = (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE, .config = i,
					      .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID };
		fd = event(&a, -1, 0, leader);
		must("group", fd);
		leader = leader < 0 ? fd : leader;
	}
	a = (struct perf_event_attr){ .type = PERF_TYPE_BREAKPOINT, .bp_type = HW_BREAKPOINT_W,
				      .bp_addr = (unsigned long)watched, .bp_len = 4, .sample_period = 1 };
	fd = event(&a, 0, -1, -1);
	if (may("breakpoint", fd)) {
		watched[0] = 1;
		close(fd);
	}
	id = text_of("/sys/kernel/debug/tracing/events/sched/sched_switch/id");
	if (id >= 0) {
		a = (struct perf_event_attr){ .type = PERF_TYPE_TRACEPOINT, .config = id, .sample_period = 1,
					      .sample_type = PERF_SAMPLE_RAW };
		fd = event(&a, -1, 0, -1);
		must("trace point", fd);
		may("filter", ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "prev_pid == 1 && next_comm ~ \"x*\""));
		map_and_close(fd);
	}
	probe("kprobe", (struct perf_event_attr){ .config1 = (unsigned long)name });
	probe("uprobe", (struct perf_event_attr){ .config1 = (unsigned long)"/proc/self/exe", .config2 = 0x1000 });
}

static void use_fanotify(const char *folder)
{
	static const unsigned int kinds[] = {
		FAN_CLASS_NOTIF, FAN_CLASS_CONTENT, FAN_CLASS_NOTIF | FAN_REPORT_FID | FAN_REPORT_DFID_NAME,
	};
	char text[8192];

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int fd = fanotify_init(kinds[i] | FAN_NONBLOCK | FAN_CLOEXEC, O_RDONLY), file;
		unsigned long mask = FAN_OPEN | FAN_CLOSE | FAN_ONDIR | FAN_EVENT_ON_CHILD;

		if (!may("fanotify_init", fd))
			continue;
		if (i == 2)
			mask |= FAN_CREATE | FAN_DELETE | FAN_MOVED_FROM;
		may("fanotify_mark", fanotify_mark(fd, FAN_MARK_ADD, mask, AT_FDCWD, folder));
		may("fanotify_mark", fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_MOUNT, FAN_MODIFY, AT_FDCWD, folder));
		may("fanotify_mark", fanotify_mark(fd, FAN_MARK_ADD | FAN_MARK_FILESYSTEM, FAN_ACCESS, AT_FDCWD, folder));
		file = open_or_fail("watched", O_RDWR | O_CREAT);
		close(file);
		unlink("watched");
		if (i != 1)
			may("read", read(fd, text, sizeof(text)) < 0 && errno == EAGAIN ? 0 : 0);
		close(fd);
	}
}

static void use_inotify(const char *folder)
{
	char text[4096];
	int fd = must("inotify_init", inotify_init1(IN_NONBLOCK)), file;
	int watch = must("inotify_add_watch", inotify_add_watch(fd, folder, IN_ALL_EVENTS));

	must("inotify_add_watch", inotify_add_watch(fd, folder, IN_CREATE | IN_MASK_ADD));
	file = open_or_fail("watched", O_RDWR | O_CREAT);
	close(file);
	must("rename", rename("watched", "moved"));
	unlink("moved");
	must("read", read(fd, text, sizeof(text)));
	must("inotify_rm_watch", inotify_rm_watch(fd, watch));
	close(fd);
}

static void use_userfaultfd(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	struct uffdio_copy copy = { .len = 4096 };
	struct uffdio_zeropage zero = { .range = { .len = 4096 } };
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	char *p;

	if (!may("userfaultfd", fd))
		return;
	must("api", ioctl(fd, UFFDIO_API, &api));
	p = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		fail("mmap");
	r.range = (struct uffdio_range){ (unsigned long)p, 4 * 4096 };
	must("register", ioctl(fd, UFFDIO_REGISTER, &r));
	copy.dst = (unsigned long)p;
	copy.src = (unsigned long)room(4096);
	must("copy", ioctl(fd, UFFDIO_COPY, &copy));
	zero.range.start = (unsigned long)p + 4096;
	must("zero", ioctl(fd, UFFDIO_ZEROPAGE, &zero));
	must("unregister", ioctl(fd, UFFDIO_UNREGISTER, &r.range));
	munmap(p, 4 * 4096);
	close(fd);
}

/* notify FOLDER: inotify, fanotify, userfaultfd, timers and other descriptors of events */
void do_notify(char **args)
{
	struct itimerspec t = { .it_value = { 0, 1000 } };
	struct epoll_event e = { .events = EPOLLIN | EPOLLET };
	struct sigevent to = { .sigev_notify = SIGEV_NONE };
	sigset_t set;
	timer_t timer;
	int poll_fd, fd, fds[3];

	must("chdir", chdir(args[0]));
	use_inotify(".");
	use_fanotify(".");
	use_userfaultfd();
	poll_fd = must("epoll_create", epoll_create1(0));
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	fds[0] = must("eventfd", eventfd(1, EFD_NONBLOCK));
	fds[1] = must("signalfd", signalfd(-1, &set, 0));
	fds[2] = must("timerfd", timerfd_create(CLOCK_BOOTTIME, 0));
	for (int i = 0; i < 3; i++)
		must("epoll_ctl", epoll_ctl(poll_fd, EPOLL_CTL_ADD, fds[i], &e));
	must("timerfd_settime", timerfd_settime(fds[2], 0, &t, NULL));
	must("epoll_wait", epoll_wait(poll_fd, &e, 1, 100));
	must("timer_create", timer_create(CLOCK_MONOTONIC, &to, &timer));
	must("timer_settime", timer_settime(timer, 0, &t, NULL));
	must("timer_delete", timer_delete(timer));
	fd = must("memfd_create", syscall(SYS_memfd_create, "memory", 3));
	must("ftruncate", ftruncate(fd, 8192));
	must("seals", fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW));
	close(fd);
	fd = must("pidfd_open", syscall(SYS_pidfd_open, getpid(), 0));
	close(fd);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
	close(poll_fd);
}
