// SPDX-License-Identifier: GPL-2.0-only
/*
 * Shared by all workloads: how a call that fails is reported, which files are open,
 * and how one run of a workload starts and ends.
 */
#include "faultwalk.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HANGS		20	/* seconds that a run may take */

struct report *report;
const struct work *work;

bool failed(const char *call, const char *why)
{
	if (!*report->call) {
		snprintf(report->why, sizeof(report->why), "%s", why ?: "?");
		snprintf(report->call, sizeof(report->call), "%s", call);
	}
	return false;
}

bool ok(const char *call, long ret)
{
	return ret >= 0 || failed(call, strerrorname_np(errno));
}

/* For functions that return an error number, as those of pthreads do. */
bool ok_error(const char *call, int error)
{
	return !error || failed(call, strerrorname_np(error));
}

bool ok_all(const char *call, long got, long want)
{
	return ok(call, got) && (got == want || failed(call, "short"));
}

bool ok_map(const char *call, const void *p)
{
	return p != MAP_FAILED || failed(call, strerrorname_np(errno));
}

/* Files that a workload has opened and not closed yet. */
static int kept[64];
static unsigned int nr_kept;

int keep(int fd)
{
	if (fd >= 0)
		kept[nr_kept++] = fd;
	return fd;
}

/* A file is closed even if close() fails. */
bool close_kept(void)
{
	bool good = true;

	while (nr_kept)
		good &= ok("close", close(kept[--nr_kept]));
	return good;
}

_Alignas(4096) char data[64 * KIB];
_Alignas(4096) char back[64 * KIB];

bool read_some(const char *path)
{
	int fd;

	return ok("open", fd = keep(open(path, O_RDONLY))) &&
	       ok("read", read(fd, back, sizeof(back)));
}

/* One run */

static const struct work * const works[] = {
	&ext4_workload, &sockets_workload, &module_workload, &exec_workload,
	&script_workload, &sweep_workload,
};

bool choose_work(const char *name)
{
	for (size_t i = 0; i < sizeof(works) / sizeof(works[0]); i++)
		if (!strcmp(works[i]->name, name))
			work = works[i];
	return work;
}

void set_up_work(void)
{
	memset(data, 'f', sizeof(data));
	memset(back, 'b', sizeof(back));
	report = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (report == MAP_FAILED)
		die("memory shared with the workload: %s", strerror(errno));
	memset(report, 0, sizeof(*report));
	if (work->set_up)
		work->set_up();
}

static void __attribute__((noreturn)) child(void)
{
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, FAULTED);
	alarm(HANGS);
	work->work();
	work->clean();
	_exit(0);
}

/* Wait for the process, at most that many seconds. Return whether it has ended. */
static bool reap(pid_t pid, int *status, unsigned int seconds)
{
	const struct timespec tick = { .tv_sec = 1 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (unsigned int i = 0; i <= seconds; ) {
		if (waitpid(pid, status, WNOHANG) == pid)
			return true;
		/* SIGCHLD of another process does not count as a second */
		if (sigtimedwait(&set, NULL, &tick) < 0 && errno == EAGAIN)
			i++;
	}
	return false;
}

/* Its children became ours when it ended: kill and reap them. */
static void reap_all(pid_t group)
{
	kill(-group, SIGKILL);
	for (unsigned int i = 0; i < 100; i++) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0)
			return;
		if (!pid)
			pause_ms(10);
	}
}

/* Write the kernel stack of a task to the log, a line for each frame. */
static void log_stack(const char *pid)
{
	char path[64], text[4096], line[200];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%.20s/stack", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (char *p = strtok(text, "\n"); p; p = strtok(NULL, "\n")) {
		snprintf(line, sizeof(line), "<6>stack of %.20s: %.150s\n", pid, p);
		write_text("/dev/kmsg", line);
	}
}

/* Before hanging tasks are killed: where do they wait? */
void log_hang(void)
{
	struct dirent *d;
	DIR *dir;

	write_text("/proc/sysrq-trigger", "w");
	dir = opendir("/proc");
	while (dir && (d = readdir(dir)))
		if (task_is_called(d->d_name, FAULTED))
			log_stack(d->d_name);
	if (dir)
		closedir(dir);
}

/* Is this entry of /proc a task of that name? */
bool task_is_called(const char *pid, const char *name)
{
	char path[64], comm[32];
	ssize_t n;
	int fd;

	if (strspn(pid, "0123456789") != strlen(pid))
		return false;
	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, comm, sizeof(comm) - 1);
	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	comm[n - 1] = '\0';
	return !strcmp(comm, name);
}

/* The host takes a guest that prints nothing for dead. */
static void show_life(void)
{
	static time_t last;

	if (time(NULL) < last + 10)
		return;
	last = time(NULL);
	printf("tick\n");
	fflush(stdout);
}

struct outcome run(void)
{
	struct outcome o = { 0 };
	int status = 0;
	pid_t pid;

	show_life();

	*report->call = *report->why = '\0';
	report->left = false;
	if (work->run)
		return work->run();
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (!pid)
		child();
	if (!reap(pid, &status, HANGS + 5)) {
		log_hang();
		kill(pid, SIGKILL);
		o.hung = true;
		o.stuck = !reap(pid, &status, 5);
	}
	reap_all(pid);
	if (!o.hung && WIFSIGNALED(status)) {
		o.hung = WTERMSIG(status) == SIGALRM;
		o.sig = o.hung ? 0 : WTERMSIG(status);
	}
	return o;
}
