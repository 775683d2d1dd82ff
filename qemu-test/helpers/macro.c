// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures a whole workload: runs it a number of times and prints a line for each run,
 * "macro: NAME CYCLES".
 *
 *	macro NAME ROUNDS forks N	N children, each executes a program
 *	macro NAME ROUNDS files N	N files made in the working directory,
 *					then removed, then synced
 *	macro NAME ROUNDS paths N	a path of many folders looked up, then its
 *					file opened, N times
 *	macro NAME ROUNDS tcp N		a message of 64 bytes there and back,
 *					N times, between two processes
 *	macro NAME ROUNDS run PROGRAM [ARG ...]
 *					a program, whose output is discarded
 *	macro NAME ROUNDS fifo PROGRAM [ARG ...]
 *					the same under SCHED_FIFO
 *	macro NAME ROUNDS cold PROGRAM [ARG ...]
 *					the same with empty caches
 *
 * For a guest with one CPU under -icount, where a cycle is an instruction. The first
 * round does not count, because it fills caches. Deferred work of a round (RCU,
 * writeback) gets time to finish before the next one.
 *
 * Exit code: 1 when something failed, 2 for wrong usage.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cycles.h"
#include "marks.h"

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "macro: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void reap(pid_t pid)
{
	int status;

	if (pid < 0)
		die("fork");
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid");
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "macro: a child failed\n");
		exit(1);
	}
}

static void run(char **argv, bool fifo)
{
	const struct sched_param first = { .sched_priority = 1 };
	pid_t pid = fork();

	if (!pid) {
		int null = open("/dev/null", O_WRONLY);

		if (fifo && sched_setscheduler(0, SCHED_FIFO, &first))
			die("SCHED_FIFO");
		if (null >= 0)
			dup2(null, STDOUT_FILENO);
		execvp(argv[0], argv);
		die(argv[0]);
	}
	reap(pid);
}

/* The program is this one without arguments: see main(). */
static void forks(unsigned long n)
{
	char *argv[] = { "/proc/self/exe", NULL };

	while (n--)
		run(argv, false);
}

static void files(unsigned long n)
{
	char name[32];

	for (unsigned long i = 0; i < n; i++) {
		int fd;

		snprintf(name, sizeof(name), "file-%lu", i);
		fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
		if (fd < 0 || write(fd, name, 1) != 1)
			die(name);
		close(fd);
	}
	for (unsigned long i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "file-%lu", i);
		if (unlink(name))
			die(name);
	}
	sync();
}

/* Twenty folders below the working directory, with names of fifty characters. */
static void paths(unsigned long n)
{
	char path[20 * 51 + sizeof("file")] = "";
	struct stat st;
	size_t len = 0;

	while (len < 20 * 51) {
		len += sprintf(path + len, "%050zu", len);
		if (mkdir(path, 0700) && errno != EEXIST)
			die(path);
		path[len++] = '/';
	}
	strcpy(path + len, "file");
	close(open(path, O_CREAT | O_WRONLY, 0600));
	while (n--) {
		int fd;

		if (stat(path, &st))
			die(path);
		fd = open(path, O_RDONLY);
		if (fd < 0)
			die(path);
		close(fd);
	}
}

static void send_all(int fd, char *message, size_t size)
{
	if (send(fd, message, size, 0) != (ssize_t)size)
		die("send");
}

static void receive_all(int fd, char *message, size_t size)
{
	if (recv(fd, message, size, MSG_WAITALL) != (ssize_t)size)
		die("recv");
}

static void no_delay(int fd)
{
	int on = 1;

	if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)))
		die("TCP_NODELAY");
}

static void tcp(unsigned long n)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(a);
	int server = socket(AF_INET, SOCK_STREAM, 0), fd;
	char message[64] = "";
	pid_t pid;

	if (server < 0 || bind(server, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(server, 1) ||
	    getsockname(server, (struct sockaddr *)&a, &len))
		die("listen");
	pid = fork();
	if (!pid) {
		fd = accept(server, NULL, NULL);
		if (fd < 0)
			die("accept");
		no_delay(fd);
		while (n--) {
			receive_all(fd, message, sizeof(message));
			send_all(fd, message, sizeof(message));
		}
		_exit(0);
	}
	fd = socket(AF_INET, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		die("connect");
	no_delay(fd);
	while (n--) {
		send_all(fd, message, sizeof(message));
		receive_all(fd, message, sizeof(message));
	}
	reap(pid);
	close(fd);
	close(server);
}

static void drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	if (fd < 0 || write(fd, "3", 1) != 1)
		die("drop_caches");
	close(fd);
}

static void settle(void)
{
	sync();
	usleep(200 * 1000);
}

static void one_round(const char *kind, char **args)
{
	if (!strcmp(kind, "run") || !strcmp(kind, "cold"))
		run(args, false);
	else if (!strcmp(kind, "fifo"))
		run(args, true);
	else if (!strcmp(kind, "forks"))
		forks(strtoul(args[0], NULL, 0));
	else if (!strcmp(kind, "files"))
		files(strtoul(args[0], NULL, 0));
	else if (!strcmp(kind, "paths"))
		paths(strtoul(args[0], NULL, 0));
	else
		tcp(strtoul(args[0], NULL, 0));
}

static bool known(const char *kind)
{
	static const char * const kinds[] = {
		"run", "fifo", "cold", "forks", "files", "paths", "tcp",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	unsigned long rounds;

	if (argc < 2)
		return 0;
	if (argc < 5 || !known(argv[3])) {
		fprintf(stderr, "usage: macro NAME ROUNDS forks|files|paths|tcp N\n"
			"       macro NAME ROUNDS run|fifo|cold PROGRAM [ARG ...]\n");
		return 2;
	}
	rounds = strtoul(argv[2], NULL, 0);
	for (unsigned long i = 0; i <= rounds; i++) {
		unsigned long long start, took;

		if (!strcmp(argv[3], "cold")) {
			settle();
			drop_caches();
		}
		settle();
		MARK_BEGIN();
		start = cycles();
		one_round(argv[3], argv + 4);
		took = cycles() - start;
		MARK_END();
		if (i)
			printf("macro: %s %llu\n", argv[1], took);
	}
	return 0;
}
