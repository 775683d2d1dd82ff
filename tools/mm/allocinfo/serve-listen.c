// SPDX-License-Identifier: GPL-2.0-only
/*
 * The socket on which the daemon listens, and its messages to systemd.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "number.h"
#include "serve.h"

/*
 * The kernel keeps at most twice this for a client that does not read, and for one that sends
 * more than a request. Without them, it takes megabytes, which count as memory of the unit.
 */
#define SEND_BUFFER	32768
#define RECEIVE_BUFFER	16384
#define BACKLOG		1024

/* Addresses */

static bool set_ipv4(struct address *address, const char *host, uint16_t port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&address->storage;

	*in = (struct sockaddr_in){ .sin_family = AF_INET, .sin_port = htons(port) };
	address->size = sizeof(*in);
	return inet_pton(AF_INET, host, &in->sin_addr) == 1;
}

static bool set_ipv6(struct address *address, const char *host, uint16_t port)
{
	struct sockaddr_in6 *in = (struct sockaddr_in6 *)&address->storage;

	*in = (struct sockaddr_in6){ .sin6_family = AF_INET6, .sin6_port = htons(port) };
	address->size = sizeof(*in);
	return inet_pton(AF_INET6, host, &in->sin6_addr) == 1;
}

/**
 * address_parse - read "127.0.0.1:9842" or "[::1]:9842"
 * @text: the text; names are not looked up
 * @address: result
 *
 * Return: false if it is not an address with a port.
 */
bool address_parse(const char *text, struct address *address)
{
	const char *colon = strrchr(text, ':');
	char host[INET6_ADDRSTRLEN + 2];
	uint64_t port;
	size_t len;

	if (!colon || colon - text >= (ptrdiff_t)sizeof(host) ||
	    !number_parse(colon + 1, UINT16_MAX, &port))
		return false;
	len = colon - text;
	memcpy(host, text, len);
	host[len] = '\0';
	if (*host != '[')
		return set_ipv4(address, host, port);
	if (len < 2 || host[len - 1] != ']')
		return false;
	host[len - 1] = '\0';
	return set_ipv6(address, host + 1, port);
}

/**
 * address_is_loopback - can only this machine connect?
 * @address: the address
 *
 * Return: true for 127.0.0.0/8 and ::1.
 */
bool address_is_loopback(const struct address *address)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&address->storage;
	const struct sockaddr_in *in = (const struct sockaddr_in *)&address->storage;

	if (address->storage.ss_family == AF_INET)
		return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ||
	       (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr) &&
		in6->sin6_addr.s6_addr[12] == IN_LOOPBACKNET);
}

/**
 * listen_open - listen
 * @address: where
 *
 * Return: the socket, non-blocking, or -1 with errno.
 */
int listen_open(const struct address *address)
{
	const int on = 1, send_size = SEND_BUFFER, receive_size = RECEIVE_BUFFER;
	int err, fd = socket(address->storage.ss_family,
			     SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* accepted sockets inherit them */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &send_size, sizeof(send_size));
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_size, sizeof(receive_size));
	if (!bind(fd, (const struct sockaddr *)&address->storage, address->size) &&
	    !listen(fd, BACKLOG))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/**
 * address_name - write an address as text
 * @address: an address of IPv4 or IPv6
 * @text: receives "address:port"
 */
void address_name(const struct sockaddr *address, char text[ADDRESS_TEXT])
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
	const struct sockaddr_in *in = (const struct sockaddr_in *)address;
	char host[INET6_ADDRSTRLEN];

	if (address->sa_family == AF_INET)
		snprintf(text, ADDRESS_TEXT, "%s:%u",
			 inet_ntop(AF_INET, &in->sin_addr, host, sizeof(host)),
			 ntohs(in->sin_port));
	else
		snprintf(text, ADDRESS_TEXT, "[%s]:%u",
			 inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof(host)),
			 ntohs(in6->sin6_port));
}

/**
 * listen_name - write where a socket listens as text
 * @fd: the socket
 * @text: receives "address:port"; if port 0 was asked for, the kernel chose the port
 */
void listen_name(int fd, char text[ADDRESS_TEXT])
{
	struct sockaddr_storage storage;
	socklen_t size = sizeof(storage);

	*text = '\0';
	if (!getsockname(fd, (struct sockaddr *)&storage, &size))
		address_name((const struct sockaddr *)&storage, text);
}

/* systemd */

/**
 * notify_open - connect to the service manager
 *
 * Return: a socket for notify_ready(), or -1 if no manager asks for messages.
 */
int notify_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;
	int fd;

	if (!len || len >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, len);
	/* an abstract name, which is not in the file system */
	if (*path == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !connect(fd, (struct sockaddr *)&address,
				offsetof(struct sockaddr_un, sun_path) + len))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/**
 * notify_ready - tell the service manager that clients are served
 * @fd: from notify_open(); it is closed, because confine() relies on that
 */
void notify_ready(int fd)
{
	static const char text[] = "READY=1";

	if (fd < 0)
		return;
	send(fd, text, strlen(text), MSG_NOSIGNAL);
	close(fd);
}
