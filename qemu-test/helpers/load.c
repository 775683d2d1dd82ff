// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes the kernel allocate memory, and holds it.
 *
 *	load KIND N READY
 *
 * does KIND N times, creates the file READY, and waits until it is killed, which frees
 * all memory. Kinds:
 *
 *	sockets	N TCP connections over loopback, with unread data in each
 *	udp	N UDP sockets, with two datagrams waiting in each
 *	unix	N pairs of unix sockets, with unread data in each
 *	forks	N child processes
 *	storm	N processes that end, up to 64 at a time; 64 of them stay
 *	threads	N threads
 *	pipes	N pipes, with data in each
 *	files	N open files in the working directory
 *	anon	N MiB of anonymous memory
 *	holes	N MiB of it; one page of every two, chosen at random, is freed
 *	thp	N MiB in huge pages; then the second half of each is freed
 *	hugetlb	N huge pages of hugetlb; then four are taken offline, so they move
 *
 * Exit code: 1 when something failed before READY; 2 for wrong usage.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef MADV_SOFT_OFFLINE
#define MADV_SOFT_OFFLINE	101
#endif

#define MIB	(1UL << 20)
#define HUGE	(2 * MIB)

static const char payload[1024] = "payload";

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void put(int fd)
{
	if (write(fd, payload, sizeof(payload)) != sizeof(payload))
		die("write");
}

static void sockets(unsigned long n)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	if (listener < 0 || bind(listener, (struct sockaddr *)&a, len) ||
	    listen(listener, 16) ||
	    getsockname(listener, (struct sockaddr *)&a, &len))
		die("listen");
	for (unsigned long i = 0; i < n; i++) {
		struct linger abort_on_close = { .l_onoff = 1 };
		int c = socket(AF_INET, SOCK_STREAM, 0);
		int s;

		if (c < 0 || connect(c, (struct sockaddr *)&a, len))
			die("connect");
		s = accept(listener, NULL, NULL);
		if (s < 0)
			die("accept");
		/* no TIME_WAIT, so that memory that is left afterwards is a leak */
		setsockopt(c, SOL_SOCKET, SO_LINGER, &abort_on_close,
			   sizeof(abort_on_close));
		put(c);
		put(s);
	}
}

static void udp(unsigned long n)
{
	while (n--) {
		struct sockaddr_in a = {
			.sin_family = AF_INET,
			.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		};
		socklen_t len = sizeof(a);
		int fd = socket(AF_INET, SOCK_DGRAM, 0);

		if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) ||
		    getsockname(fd, (struct sockaddr *)&a, &len) ||
		    connect(fd, (struct sockaddr *)&a, len))
			die("udp");
		put(fd);
		put(fd);
	}
}

static void unix_pairs(unsigned long n)
{
	int fd[2];

	while (n--) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd))
			die("socketpair");
		put(fd[0]);
	}
}

static void forks(unsigned long n)
{
	while (n--) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
	}
}

static void storm(unsigned long n)
{
	unsigned long alive = 0;

	forks(64);
	while (n--) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			_exit(0);
		if (++alive == 64)
			for (; alive; alive--)
				waitpid(-1, NULL, 0);
	}
	for (; alive; alive--)
		waitpid(-1, NULL, 0);
}

static void *sleeper(void *unused)
{
	while (pause())
		;
	return unused;
}

static void threads(unsigned long n)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	while (n--) {
		errno = pthread_create(&t, &attr, sleeper, NULL);
		if (errno)
			die("pthread_create");
	}
}

static void pipes(unsigned long n)
{
	int fd[2];

	while (n--) {
		if (pipe(fd))
			die("pipe");
		put(fd[1]);
	}
}

static void files(unsigned long n)
{
	char name[32];

	while (n--) {
		int fd;

		snprintf(name, sizeof(name), "load.%lu", n);
		fd = open(name, O_RDWR | O_CREAT, 0600);
		if (fd < 0)
			die(name);
		put(fd);
	}
}

static char *anon(unsigned long n)
{
	/* aligned to a huge page, so that "thp" gets all of them */
	char *p = mmap(NULL, n * MIB + HUGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	p += -(unsigned long)p % HUGE;
	return p;
}

static void touch(char *p, unsigned long bytes)
{
	for (unsigned long i = 0; i < bytes; i += 4096)
		p[i] = 1;
}

static void memory(unsigned long n)
{
	char *p = anon(n);

	madvise(p, n * MIB, MADV_NOHUGEPAGE);
	touch(p, n * MIB);
}

static void holes(unsigned long n)
{
	char *p = anon(n);

	madvise(p, n * MIB, MADV_NOHUGEPAGE);
	touch(p, n * MIB);
	for (unsigned long i = 0; i < n * MIB; i += 8192)
		if (madvise(p + i + random() % 2 * 4096, 4096, MADV_DONTNEED))
			die("madvise");
}

static void thp(unsigned long n)
{
	char *p = anon(n);

	if (madvise(p, n * MIB, MADV_HUGEPAGE))
		die("madvise");
	touch(p, n * MIB);
	for (unsigned long i = 0; i < n * MIB; i += HUGE)
		if (munmap(p + i + HUGE / 2, HUGE / 2))
			die("munmap");
}

static void hugetlb(unsigned long n)
{
	char *p = mmap(NULL, n * HUGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);

	if (p == MAP_FAILED)
		die("mmap");
	for (unsigned long i = 0; i < n; i++)
		p[i * HUGE] = 1;
	for (unsigned long i = 0; i < 4 && i < n; i++)
		if (madvise(p + i * HUGE, 4096, MADV_SOFT_OFFLINE))
			die("madvise");
}

static const struct {
	const char *name;
	void (*make)(unsigned long n);
} kinds[] = {
	{ "sockets", sockets }, { "udp", udp }, { "unix", unix_pairs },
	{ "forks", forks }, { "storm", storm },
	{ "threads", threads }, { "pipes", pipes }, { "files", files },
	{ "anon", memory }, { "holes", holes }, { "thp", thp },
	{ "hugetlb", hugetlb },
};

int main(int argc, char **argv)
{
	struct rlimit most = { 65536, 65536 };
	int fd;

	if (argc != 4) {
		fprintf(stderr, "usage: load KIND N READY\n");
		return 2;
	}
	setrlimit(RLIMIT_NOFILE, &most);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, argv[1]))
			continue;
		kinds[i].make(strtoul(argv[2], NULL, 0));
		fd = open(argv[3], O_WRONLY | O_CREAT, 0600);
		if (fd < 0)
			die(argv[3]);
		close(fd);
		for (;;)
			pause();
	}
	fprintf(stderr, "load: no kind %s\n", argv[1]);
	return 2;
}
