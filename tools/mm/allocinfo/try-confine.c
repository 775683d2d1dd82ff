// SPDX-License-Identifier: GPL-2.0-only
/*
 * What code of a client could try in allocinfod, after confine(): to connect to something with
 * the sockets that are open, and to send a signal.
 *
 * A socket that listens becomes one that can connect after shutdown().
 */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "expect.h"
#include "serve.h"
#include "status.h"

static struct sockaddr_storage target;
static socklen_t target_size = sizeof(target);

static int open_listener(void)
{
	struct address any;
	int fd;

	EXPECT(address_parse("127.0.0.1:0", &any));
	fd = listen_open(&any);
	EXPECT(fd >= 0);
	return fd;
}

static ssize_t send_message(int fd, int flags)
{
	struct iovec part = { .iov_base = "x", .iov_len = 1 };
	const struct msghdr message = { .msg_name = &target, .msg_namelen = target_size,
					.msg_iov = &part, .msg_iovlen = 1 };

	return sendmsg(fd, &message, flags);
}

static void try_to_connect(int fd)
{
	const struct sockaddr *to = (const struct sockaddr *)&target;

	EXPECT(!shutdown(fd, SHUT_RDWR));
	EXPECT(socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == ENOSYS);
	EXPECT(connect(fd, to, target_size) < 0 && errno == ENOSYS);
	EXPECT(sendto(fd, "x", 1, MSG_FASTOPEN, to, target_size) < 0 && errno == ENOSYS);
	EXPECT(sendto(fd, "x", 1, 0, to, target_size) < 0 && errno == ENOSYS);
	EXPECT(send(fd, "x", 1, MSG_FASTOPEN) < 0 && errno == ENOSYS);
	EXPECT(send_message(fd, MSG_FASTOPEN) < 0 && errno == ENOSYS);
	EXPECT(send_message(fd, MSG_NOSIGNAL) < 0 && errno == EPIPE);
}

int main(void)
{
	int other = open_listener(), fd = open_listener();
	pid_t parent = getppid();

	EXPECT(!getsockname(other, (struct sockaddr *)&target, &target_size));
	EXPECT(confine("nobody", 64));
	try_to_connect(fd);
	EXPECT(syscall(SYS_tgkill, parent, parent, 0) < 0 && errno == ENOSYS);
	EXPECT(!syscall(SYS_tgkill, getpid(), getpid(), 0));
	EXPECT(accept4(other, NULL, NULL, 0) < 0 && errno == EAGAIN);
	return EXIT_GOOD;
}
