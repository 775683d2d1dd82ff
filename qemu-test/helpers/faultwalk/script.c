// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload script: a shell runs work() and clean() of the script of -s.  It does so in a
 * subshell for each run, so that prepare() runs once, and no program has to be started for
 * the shell.
 *
 * serve.sh in the guest describes the requests and the answers.  Only programs that work()
 * starts by F are called FAULTED; the shell never is.
 */
#include "faultwalk.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SERVER		"/qt/serve.sh"
#define PREPARE_MS	600000
#define KILLED_MS	10000	/* time to end after SIGKILL */
#define SLOW		20	/* a run that takes so many times as long as the first hangs */

static pid_t server;
static int requests, answers, messages;
static long limit_ms = 60000;
static bool measured;

static char answer[128];	/* "WORK CLEAN COMMAND:STATUS" */
static size_t answer_len;
static char message[160];	/* the first line that the programs of work() printed */
static size_t message_len;
static bool message_ends;

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void __attribute__((noreturn)) serve(int request, int reply, int said)
{
	int null = open("/dev/null", O_RDONLY);
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, 0);
	dup2(said, 1);
	dup2(said, 2);
	/* above all numbers that are in use, then to their places */
	request = fcntl(request, F_DUPFD, 20);
	reply = fcntl(reply, F_DUPFD, 20);
	dup2(request, 3);
	dup2(reply, 4);
	for (int fd = 5; fd < 64; fd++)
		close(fd);
	execl("/bin/sh", "sh", SERVER, script, NULL);
	_exit(127);
}

static void take_message(const char *p, ssize_t n)
{
	for (ssize_t i = 0; i < n; i++) {
		if (p[i] == '\n') {
			message_ends = message_len;
		} else if (!message_ends && message_len < sizeof(message) - 1) {
			message[message_len++] = p[i];
			message[message_len] = '\0';
		}
	}
}

/* Print what the programs print, to show why a workload fails without a fault. */
static void show(const char *p, ssize_t n)
{
	static bool in_line;

	for (ssize_t i = 0; i < n; i++) {
		if (!in_line)
			printf("# ");
		putchar(p[i]);
		in_line = p[i] != '\n';
	}
}

static void read_messages(void)
{
	char room[4096];
	ssize_t n;

	while ((n = read(messages, room, sizeof(room))) > 0) {
		take_message(room, n);
		if (!measured)
			show(room, n);
	}
}

/* Returns whether the answer is complete. */
static bool read_answer(void)
{
	ssize_t n = read(answers, answer + answer_len, sizeof(answer) - 1 - answer_len);
	char *end;

	if (!n)
		die("the shell of %s has ended: %s", script, message);
	if (n < 0)
		return false;
	answer_len += n;
	answer[answer_len] = '\0';
	end = strchr(answer, '\n');
	if (end)
		*end = '\0';
	else if (answer_len == sizeof(answer) - 1)
		die("too long an answer: %s", answer);
	return end;
}

/* Wait for the answer. */
static bool answered(long ms)
{
	long end = now_ms() + ms, left;
	struct pollfd p[2] = { { .fd = answers, .events = POLLIN },
			       { .fd = messages, .events = POLLIN } };

	while ((left = end - now_ms()) > 0) {
		if (poll(p, 2, left) < 0 && errno != EINTR)
			die("poll: %s", strerror(errno));
		read_messages();
		if (p[0].revents && read_answer()) {
			read_messages();
			return true;
		}
		/* a pipe that all have closed would make poll() return at once */
		if (p[1].revents & POLLHUP)
			p[1].fd = -1;
	}
	return false;
}

static void request(const char *what)
{
	answer_len = message_len = 0;
	*answer = *message = '\0';
	message_ends = false;
	if (write(requests, what, strlen(what)) != (ssize_t)strlen(what))
		die("the shell of %s: %s", script, strerror(errno));
}

/* Processes that existed after prepare() */
static pid_t old[1024];
static size_t nr_old;

static bool is_old(pid_t pid)
{
	for (size_t i = 0; i < nr_old; i++)
		if (old[i] == pid)
			return true;
	return false;
}

static bool is_kernel_thread(const char *pid)
{
	char path[64], c;
	int fd;
	bool none;

	snprintf(path, sizeof(path), "/proc/%.20s/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	none = fd >= 0 && read(fd, &c, 1) <= 0;
	if (fd >= 0)
		close(fd);
	return none;
}

/* Calls the function for each process. */
static void for_each_process(void (*function)(const char *pid))
{
	DIR *dir = opendir("/proc");
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)*d->d_name))
			function(d->d_name);
	if (dir)
		closedir(dir);
}

static void note_old(const char *pid)
{
	if (nr_old < sizeof(old) / sizeof(old[0]))
		old[nr_old++] = atoi(pid);
}

static void kill_faulted(const char *pid)
{
	if (task_is_called(pid, FAULTED))
		kill(atoi(pid), SIGKILL);
}

static void kill_new(const char *pid)
{
	if (!is_old(atoi(pid)) && !is_kernel_thread(pid))
		kill(atoi(pid), SIGKILL);
}

static unsigned int nr_faulted;

static void count_faulted(const char *pid)
{
	nr_faulted += task_is_called(pid, FAULTED) && !is_kernel_thread(pid);
}

/*
 * First let the shell clean up, which it can if only its program hangs.  A program that
 * survives SIGKILL waits in the kernel.
 */
static bool ends_after_kill(void)
{
	log_hang();
	for_each_process(kill_faulted);
	if (!answered(KILLED_MS)) {
		for_each_process(kill_new);
		if (!answered(KILLED_MS))
			return false;
	}
	nr_faulted = 0;
	for_each_process(count_faulted);
	return !nr_faulted;
}

/* Programs that went to the background became children of the walker when they ended. */
static void reap_orphans(void)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == server)
			die("the shell of %s has ended: %s", script, message);
}

static void script_set_up(void)
{
	int r[2], a[2], m[2];

	if (!script)
		die("script needs a script, -s");
	if (pipe2(r, O_CLOEXEC) || pipe2(a, O_CLOEXEC) || pipe2(m, O_CLOEXEC))
		die("pipe: %s", strerror(errno));
	server = fork();
	if (server < 0)
		die("fork: %s", strerror(errno));
	if (!server)
		serve(r[0], a[1], m[1]);
	close(r[0]);
	close(a[1]);
	close(m[1]);
	requests = r[1];
	answers = a[0];
	messages = m[0];
	fcntl(messages, F_SETFL, O_NONBLOCK);
	signal(SIGPIPE, SIG_IGN);
	/* it prepares before it takes a request */
	if (!answered(PREPARE_MS))
		die("prepare() of %s hangs", script);
	if (strncmp(answer, "0 ", 2))
		die("prepare() of %s fails: %s", script, message);
	for_each_process(note_old);
}

/* "ip:2:RTNETLINK answers: ..." with _ for spaces */
static void note_failure(const char *command)
{
	const char *status = strchr(command, ':');

	snprintf(report->call, sizeof(report->call), "%.*s",
		 (int)strcspn(command, ":"), command);
	snprintf(report->why, sizeof(report->why), "%.20s:%.90s", status ? status + 1 : "?",
		 *message ? message : "-");
	for (char *p = report->why; *p; p++)
		if (*p <= ' ' || *p > '~')
			*p = '_';
}

static struct outcome script_run(void)
{
	struct outcome o = { 0 };
	char command[64] = "?";
	int worked, cleaned;
	long start = now_ms();

	request("run\n");
	if (!answered(limit_ms)) {
		o.hung = true;
		o.stuck = !ends_after_kill();
	}
	reap_orphans();
	if (o.stuck)
		return o;
	if (sscanf(answer, "%d %d %63s", &worked, &cleaned, command) != 3)
		die("not an answer: %s", answer);
	report->left = cleaned;
	if (worked)
		note_failure(command);
	if (!measured && !worked && !o.hung) {
		measured = true;
		limit_ms = 20000 + SLOW * (now_ms() - start);
	}
	return o;
}

/* Clean again and again: something may take its time to go away. */
static bool script_restore(void)
{
	for (unsigned int i = 0; i < 10; i++) {
		request("clean\n");
		if (!answered(limit_ms) && !ends_after_kill())
			return false;
		if (!strncmp(answer, "0 0 ", 4))
			return true;
		pause_ms(500);
	}
	return false;
}

static void script_idle(void)
{
	request("idle\n");
	if (!answered(limit_ms))
		die("a program that does nothing hangs");
}

static void script_tear_down(void)
{
	kill(-server, SIGKILL);
	kill(server, SIGKILL);
}

const struct work script_workload = {
	.name = "script",
	.run = script_run,
	.idle = script_idle,
	.set_up = script_set_up,
	.restore = script_restore,
	.tear_down = script_tear_down,
};
