// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleeps in several system calls, at least a tenth of a second in each:
 *
 *	sleeps		prints for each call the function of the kernel that sleeps
 *
 * Exit code 0: all of them slept; 1: one did not, with a note.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER "sleeps"
#include "expect.h"

#define NAP 150		/* milliseconds */

static int efd, sfd, listener;
static struct sockaddr_in address;

static void nap(void)
{
	usleep(NAP * 1000);
}

static void call_poll(void)
{
	EXPECT(!poll(NULL, 0, NAP), "poll: %s", strerror(errno));
}

static void call_select(void)
{
	struct timeval time = { .tv_usec = NAP * 1000 };

	EXPECT(!select(0, NULL, NULL, NULL, &time), "select: %s", strerror(errno));
}

static void call_epoll(void)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	EXPECT(fd >= 0 && !epoll_wait(fd, &event, 1, NAP), "epoll_wait: %s", strerror(errno));
	close(fd);
}

static void call_wait(void)
{
	EXPECT(wait(NULL) > 0, "wait: %s", strerror(errno));
}

static void wake_reader(void)
{
	uint64_t one = 1;

	nap();
	EXPECT(write(efd, &one, sizeof(one)) == sizeof(one), "eventfd, write: %s", strerror(errno));
}

static void read_eventfd(void)
{
	uint64_t n;

	EXPECT(read(efd, &n, sizeof(n)) == sizeof(n), "eventfd, read: %s", strerror(errno));
}

static void wake_writer(void)
{
	nap();
	read_eventfd();
}

static void write_eventfd(void)
{
	uint64_t most = UINT64_MAX - 1;

	EXPECT(write(efd, &most, sizeof(most)) == sizeof(most) &&
	       write(efd, &most, sizeof(most)) == sizeof(most), "eventfd, write: %s", strerror(errno));
	read_eventfd();
}

static void send_signal(void)
{
	nap();
	kill(getppid(), SIGUSR1);
}

static void read_signalfd(void)
{
	struct signalfd_siginfo info;

	EXPECT(read(sfd, &info, sizeof(info)) == sizeof(info), "signalfd: %s", strerror(errno));
}

static void call_connect(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	nap();
	EXPECT(!connect(fd, (void *)&address, sizeof(address)), "connect: %s", strerror(errno));
	nap();
	EXPECT(write(fd, "x", 1) == 1, "socket, write: %s", strerror(errno));
}

static void call_accept(void)
{
	int fd = accept(listener, NULL, NULL);
	char c;

	EXPECT(fd >= 0, "accept: %s", strerror(errno));
	EXPECT(read(fd, &c, 1) == 1, "socket, read: %s", strerror(errno));
	close(fd);
}

static const struct {
	const char *functions;
	void (*sleep)(void);
	void (*child)(void);	/* another process runs this meanwhile */
} ways[] = {
	{ "poll_schedule_timeout", call_poll, NULL },
	{ "poll_schedule_timeout", call_select, NULL },
	{ "ep_poll", call_epoll, NULL },
	{ "do_wait", call_wait, nap },
	{ "eventfd_read", read_eventfd, wake_reader },
	{ "eventfd_write", write_eventfd, wake_writer },
	{ "signalfd_dequeue", read_signalfd, send_signal },
	{ "inet_csk_wait_for_connect\nsk_wait_data", call_accept, call_connect },
};

static void prepare(void)
{
	socklen_t len = sizeof(address);
	sigset_t set;

	efd = eventfd(0, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sfd = signalfd(-1, &set, 0);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	EXPECT(efd >= 0 && sfd >= 0 && listener >= 0 &&
	       !bind(listener, (void *)&address, sizeof(address)) &&
	       !getsockname(listener, (void *)&address, &len) && !listen(listener, 1),
	       "preparing: %s", strerror(errno));
}

int main(void)
{
	unsigned int i;
	pid_t pid;

	prepare();
	for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		pid = -1;
		if (ways[i].child) {
			pid = fork();
			EXPECT(pid >= 0, "fork: %s", strerror(errno));
			if (!pid) {
				ways[i].child();
				_exit(0);
			}
		}
		ways[i].sleep();
		if (pid > 0)
			waitpid(pid, NULL, 0);
		puts(ways[i].functions);
	}
	return 0;
}
