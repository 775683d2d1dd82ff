// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload exec: processes, threads, programs, and memory of all kinds.
 */
#include "faultwalk.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRAM		"/tmp/" FAULTED
#define SCRIPT_DIR	"/tmp/.faultwalk"
#define SCRIPT		SCRIPT_DIR "/" FAULTED

static char *no_words[] = { NULL };

static void copy_program(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	ssize_t n;

	while ((n = read(in, data, sizeof(data))) > 0)
		if (write(out, data, n) != n)
			n = -1;
	if (in < 0 || out < 0 || n < 0 || close(out))
		die("%s to %s: %s", from, to, strerror(errno));
	close(in);
}

/* exec() renames the task to the file: program and script are called FAULTED, too. */
static void exec_set_up(void)
{
	static const char text[] = "#!" PROGRAM " " QUIT "\n";
	int fd;

	copy_program("/proc/self/exe", PROGRAM);
	mkdir(SCRIPT_DIR, 0700);
	fd = open(SCRIPT, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	if (fd < 0 || write(fd, text, sizeof(text) - 1) < 0 || close(fd))
		die("%s: %s", SCRIPT, strerror(errno));
}

static void exec_tear_down(void)
{
	unlink(SCRIPT);
	rmdir(SCRIPT_DIR);
	unlink(PROGRAM);
}

/*
 * A signal is a failure, too: an exec that fails past the point of no return kills the
 * task, and so does running out of memory when the program starts.
 */
static bool ended_well(const char *call, pid_t pid)
{
	int status;

	if (!ok("waitpid", waitpid(pid, &status, 0)))
		return false;
	if (WIFSIGNALED(status)) {
		char why[32];

		snprintf(why, sizeof(why), "SIG%s", sigabbrev_np(WTERMSIG(status)) ?: "?");
		return failed(call, why);
	}
	return !WEXITSTATUS(status) || failed(call, "exit");
}

static bool exec_fork(void)
{
	pid_t a, b;
	bool good;

	if (!ok("fork", a = fork()))
		return false;
	if (!a)
		_exit(0);
	if (!ok("fork", b = fork())) {
		waitpid(a, NULL, 0);
		return false;
	}
	if (!b)
		_exit(0);
	good = ended_well("child", a);
	return ended_well("child", b) && good;
}

static bool exec_program(char *path)
{
	char *words[] = { path, QUIT, NULL };
	pid_t pid;

	if (!ok("fork", pid = fork()))
		return false;
	if (!pid) {
		ok("execve", execve(path, words, no_words));
		_exit(1);
	}
	return ended_well("execve", pid);
}

static bool exec_spawn(void)
{
	char *words[] = { PROGRAM, QUIT, NULL };
	pid_t pid;

	return ok_error("posix_spawn", posix_spawn(&pid, PROGRAM, NULL, NULL, words,
						   no_words)) &&
	       ended_well("posix_spawn", pid);
}

static void *thread(void *unused)
{
	return unused;
}

static bool exec_threads(void)
{
	pthread_t a, b;
	bool good;

	if (!ok_error("pthread_create", pthread_create(&a, NULL, thread, NULL)))
		return false;
	good = ok_error("pthread_create", pthread_create(&b, NULL, thread, NULL)) &&
	       ok_error("pthread_join", pthread_join(b, NULL));
	return ok_error("pthread_join", pthread_join(a, NULL)) && good;
}

static bool exec_anonymous(void)
{
	char *p, *q;

	return ok_map("mmap", p = mmap(NULL, 4 * MIB, PROT_READ | PROT_WRITE,
				       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) &&
	       ok("madvise", madvise(p, 256 * KIB, MADV_POPULATE_WRITE)) &&
	       ok("mprotect", mprotect(p + 64 * KIB, 64 * KIB, PROT_READ)) &&
	       ok("munmap", munmap(p + 192 * KIB, 4096)) &&
	       ok("mlock", mlock(p + 8 * KIB, 8 * KIB)) &&
	       ok_map("mremap", q = mremap(p + MIB, 64 * KIB, 8 * MIB, MREMAP_MAYMOVE)) &&
	       /* has room for an aligned huge page, which is split */
	       ok("madvise", madvise(q, 8 * MIB, MADV_HUGEPAGE)) &&
	       ok("madvise", madvise(q, 4 * MIB, MADV_POPULATE_WRITE)) &&
	       ok("madvise", madvise(q + 64 * KIB, 3 * MIB, MADV_DONTNEED));
}

static bool exec_shared(void)
{
	void *p;
	int fd, id;

	if (!ok("memfd_create", fd = keep(memfd_create("walk", 0))) ||
	    !ok_all("write", write(fd, data, sizeof(data)), sizeof(data)) ||
	    !ok_map("mmap", p = mmap(NULL, sizeof(data), PROT_READ | PROT_WRITE, MAP_SHARED,
				     fd, 0)) ||
	    !ok("madvise", madvise(p, sizeof(data), MADV_POPULATE_WRITE)) ||
	    !ok_map("mmap", p = mmap(NULL, 64 * KIB, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0)) ||
	    !ok("shmget", id = shmget(IPC_PRIVATE, 64 * KIB, IPC_CREAT | 0600)))
		return false;
	p = shmat(id, NULL, 0);
	return ok("shmctl", shmctl(id, IPC_RMID, NULL)) && ok_map("shmat", p) &&
	       ok("madvise", madvise(p, 64 * KIB, MADV_POPULATE_WRITE)) &&
	       ok("shmdt", shmdt(p)) && close_kept();
}

static bool exec_signals(void)
{
	struct timespec second = { .tv_sec = 1 };
	union sigval value = { .sival_int = 1 };
	struct sigevent none = { .sigev_notify = SIGEV_NONE };
	timer_t timer;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return ok("timer_create", timer_create(CLOCK_MONOTONIC, &none, &timer)) &&
	       ok("timer_delete", timer_delete(timer)) &&
	       ok("sigqueue", sigqueue(getpid(), SIGUSR1, value)) &&
	       ok("sigtimedwait", sigtimedwait(&set, NULL, &second));
}

static bool exec_self(void)
{
	gid_t groups[3] = { 1, 2, 3 };
	cpu_set_t cpus;

	return ok("sched_getaffinity", sched_getaffinity(0, sizeof(cpus), &cpus)) &&
	       ok("sched_setaffinity", sched_setaffinity(0, sizeof(cpus), &cpus)) &&
	       ok("setgroups", setgroups(3, groups)) && ok("setgid", setgid(0)) &&
	       ok("unshare", unshare(CLONE_NEWNS | CLONE_NEWUTS)) &&
	       ok("getcwd", syscall(SYS_getcwd, back, sizeof(back))) &&
	       ok("readlink", readlink("/proc/self/exe", back, sizeof(back))) &&
	       read_some("/proc/self/maps") && close_kept();
}

static void exec_work(void)
{
	(void)(exec_fork() && exec_program(PROGRAM) && exec_program(SCRIPT) && exec_spawn() &&
	       exec_threads() && exec_anonymous() && exec_shared() && exec_signals() &&
	       exec_self());
}

/* The end of the process frees the rest. */
static void exec_clean(void)
{
	close_kept();
}

const struct work exec_workload = {
	.name = "exec",
	.work = exec_work,
	.clean = exec_clean,
	.set_up = exec_set_up,
	.tear_down = exec_tear_down,
};
