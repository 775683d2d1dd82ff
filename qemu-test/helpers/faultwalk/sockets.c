// SPDX-License-Identifier: GPL-2.0-only
/*
 * The workload sockets: TCP, UDP, unix, packet and netlink sockets, epoll, timers and
 * pipes. lo has to be up.
 */
#include "faultwalk.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_packet.h>
#include <linux/rtnetlink.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <unistd.h>

#define UNIX_PATH	"/tmp/.faultwalk.sock"

/* A receive fails after three seconds. */
static int patient(int fd)
{
	struct timeval limit = { .tv_sec = 3 };

	if (keep(fd) >= 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return fd;
}

union address {
	struct sockaddr any;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
	struct sockaddr_un un;
};

static socklen_t loopback(union address *a, int family)
{
	memset(a, 0, sizeof(*a));
	a->any.sa_family = family;
	if (family == AF_INET) {
		a->in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return sizeof(a->in);
	}
	a->in6.sin6_addr = in6addr_loopback;
	return sizeof(a->in6);
}

/* A socket bound to a free port; a stream socket also listens. */
static bool bound(int *fd, int family, int type, union address *a, socklen_t *len)
{
	*len = loopback(a, family);
	return ok("socket", *fd = patient(socket(family, type | SOCK_CLOEXEC, 0))) &&
	       ok("bind", bind(*fd, &a->any, *len)) &&
	       (type != SOCK_STREAM || ok("listen", listen(*fd, 4))) &&
	       ok("getsockname", getsockname(*fd, &a->any, len));
}

static bool there_and_back(int a, int b)
{
	return ok_all("send", send(a, data, 1000, 0), 1000) &&
	       ok_all("recv", recv(b, back, 1000, MSG_WAITALL), 1000) &&
	       ok_all("send", send(b, data, 300, 0), 300) &&
	       ok_all("recv", recv(a, back, 300, MSG_WAITALL), 300);
}

static bool set_one(int fd, int level, int option)
{
	int one = 1;

	return ok("setsockopt", setsockopt(fd, level, option, &one, sizeof(one)));
}

static bool sockets_tcp(int family)
{
	struct linger at_once = { .l_onoff = 1 };
	union address a;
	socklen_t len;
	int l, c, s, size = 65536;

	return bound(&l, family, SOCK_STREAM, &a, &len) &&
	       ok("socket", c = patient(socket(family, SOCK_STREAM, 0))) &&
	       /* no TIME_WAIT */
	       ok("setsockopt", setsockopt(c, SOL_SOCKET, SO_LINGER, &at_once,
					   sizeof(at_once))) &&
	       ok("setsockopt", setsockopt(c, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size))) &&
	       set_one(c, IPPROTO_TCP, TCP_NODELAY) && set_one(c, SOL_SOCKET, SO_KEEPALIVE) &&
	       ok("connect", connect(c, &a.any, len)) &&
	       ok("accept", s = patient(accept(l, NULL, NULL))) &&
	       there_and_back(c, s) &&
	       set_one(c, SOL_SOCKET, SO_ZEROCOPY) &&
	       ok_all("send", send(c, data, 8000, MSG_ZEROCOPY), 8000) &&
	       ok_all("recv", recv(s, back, 8000, MSG_WAITALL), 8000) &&
	       read_some("/proc/net/tcp") && close_kept();
}

static bool sockets_udp(int family)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, 0xffff) };
	struct sock_fprog filter = { 1, code };
	union address a;
	socklen_t len;
	int fd;

	return bound(&fd, family, SOCK_DGRAM, &a, &len) &&
	       ok("setsockopt", setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter,
					   sizeof(filter))) &&
	       ok("connect", connect(fd, &a.any, len)) &&
	       ok_all("send", send(fd, data, 20000, 0), 20000) &&
	       ok_all("recv", recv(fd, back, 20000, 0), 20000) && close_kept();
}

/* Send the files a and b; the other side may never receive them. */
static bool send_files(int fd, int a, int b)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control = { .head = { .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(2 * sizeof(int)) } };
	struct iovec v = { data, 10 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	int files[2] = { a, b };

	memcpy(CMSG_DATA(&control.head), files, sizeof(files));
	return ok("sendmsg", sendmsg(fd, &m, 0));
}

static bool receive_files(int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(2 * sizeof(int))];
	} control;
	struct iovec v = { back, 10 };
	struct msghdr m = { .msg_iov = &v, .msg_iovlen = 1, .msg_control = &control,
			    .msg_controllen = sizeof(control) };
	int files[2];
	size_t n;

	if (!ok("recvmsg", recvmsg(fd, &m, 0)))
		return false;
	n = CMSG_FIRSTHDR(&m) ? (control.head.cmsg_len - CMSG_LEN(0)) / sizeof(int) : 0;
	memcpy(files, CMSG_DATA(&control.head), n * sizeof(int));
	for (size_t i = 0; i < n; i++)
		keep(files[i]);
	return n == 2 || failed("recvmsg", "fewer_files");
}

static bool sockets_pairs(void)
{
	int s[2], d[2];

	return ok("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, s)) &&
	       patient(s[0]) >= 0 && patient(s[1]) >= 0 &&
	       there_and_back(s[0], s[1]) &&
	       send_files(s[0], STDIN_FILENO, s[0]) && receive_files(s[1]) &&
	       /* nobody receives these: work for the garbage collector */
	       send_files(s[0], s[0], s[1]) &&
	       ok("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET, 0, d)) &&
	       patient(d[0]) >= 0 && patient(d[1]) >= 0 &&
	       set_one(d[1], SOL_SOCKET, SO_PASSCRED) &&
	       there_and_back(d[0], d[1]) && close_kept();
}

static bool sockets_unix(const char *path, size_t len)
{
	union address a = { .un = { .sun_family = AF_UNIX } };
	int l, c, s;

	memcpy(a.un.sun_path, path, len);
	len += offsetof(struct sockaddr_un, sun_path);
	return ok("socket", l = patient(socket(AF_UNIX, SOCK_STREAM, 0))) &&
	       ok("bind", bind(l, &a.any, len)) && ok("listen", listen(l, 4)) &&
	       ok("socket", c = patient(socket(AF_UNIX, SOCK_STREAM, 0))) &&
	       ok("connect", connect(c, &a.any, len)) &&
	       ok("accept", s = patient(accept(l, NULL, NULL))) &&
	       there_and_back(c, s) && read_some("/proc/net/unix") && close_kept();
}

static bool answer(const struct nlmsghdr *n, const char *what, bool *done)
{
	int error = 0;

	*done = n->nlmsg_type == NLMSG_DONE || n->nlmsg_type == NLMSG_ERROR;
	if (*done)
		memcpy(&error, NLMSG_DATA(n), sizeof(error));
	return error >= 0 || ok_error(what, -error);
}

/* Send a request and read the whole answer. */
static bool netlink(int fd, struct nlmsghdr *request, const char *what)
{
	const struct nlmsghdr *n;
	bool done = false;
	ssize_t len;

	if (!ok(what, send(fd, request, request->nlmsg_len, 0)))
		return false;
	while (!done) {
		len = recv(fd, back, sizeof(back), 0);
		if (!ok(what, len))
			return false;
		for (n = (void *)back; !done && NLMSG_OK(n, len); n = NLMSG_NEXT(n, len))
			if (!answer(n, what, &done))
				return false;
	}
	return true;
}

static bool netlink_dump(int fd, int type)
{
	struct {
		struct nlmsghdr n;
		struct rtgenmsg g;
		char pad[3];
	} r = { .n = { .nlmsg_len = sizeof(r), .nlmsg_type = type,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };

	return netlink(fd, &r.n, "netlink_dump");
}

static bool netlink_address(int fd, int type, const char *what)
{
	struct {
		struct nlmsghdr n;
		struct ifaddrmsg a;
		struct rtattr attr;
		struct in_addr addr;
	} r = { .n = { .nlmsg_len = sizeof(r), .nlmsg_type = type,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE |
				      NLM_F_REPLACE },
		.a = { .ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1 },
		.attr = { .rta_len = RTA_LENGTH(4), .rta_type = IFA_LOCAL },
		.addr.s_addr = htonl(0x7f4d0001) };

	return netlink(fd, &r.n, what);
}

static bool netlink_route(int fd, int type, const char *what)
{
	struct {
		struct nlmsghdr n;
		struct rtmsg m;
		struct rtattr dst_attr;
		struct in_addr dst;
		struct rtattr oif_attr;
		uint32_t oif;
	} r = { .n = { .nlmsg_len = sizeof(r), .nlmsg_type = type,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE |
				      NLM_F_REPLACE },
		.m = { .rtm_family = AF_INET, .rtm_dst_len = 16, .rtm_table = RT_TABLE_MAIN,
		       .rtm_protocol = RTPROT_BOOT, .rtm_scope = RT_SCOPE_LINK,
		       .rtm_type = RTN_UNICAST },
		.dst_attr = { RTA_LENGTH(4), RTA_DST }, .dst.s_addr = htonl(0x0a630000),
		.oif_attr = { RTA_LENGTH(4), RTA_OIF }, .oif = 1 };

	return netlink(fd, &r.n, what);
}

static bool sockets_netlink(void)
{
	int fd;

	return ok("socket", fd = patient(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE))) &&
	       netlink_dump(fd, RTM_GETLINK) && netlink_dump(fd, RTM_GETADDR) &&
	       netlink_address(fd, RTM_NEWADDR, "RTM_NEWADDR") &&
	       netlink_route(fd, RTM_NEWROUTE, "RTM_NEWROUTE") &&
	       netlink_dump(fd, RTM_GETROUTE) &&
	       netlink_route(fd, RTM_DELROUTE, "RTM_DELROUTE") &&
	       netlink_address(fd, RTM_DELADDR, "RTM_DELADDR") && close_kept();
}

static bool sockets_packet(void)
{
	struct tpacket_req ring = { .tp_block_size = 4096, .tp_block_nr = 4,
				    .tp_frame_size = 2048, .tp_frame_nr = 8 };
	struct ifconf conf = { .ifc_len = sizeof(back), .ifc_buf = back };
	int fd;

	return ok("socket", fd = patient(socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)))) &&
	       ok("setsockopt", setsockopt(fd, SOL_PACKET, PACKET_RX_RING, &ring,
					   sizeof(ring))) &&
	       ok("SIOCGIFCONF", ioctl(fd, SIOCGIFCONF, &conf)) && close_kept();
}

static bool poll_both(int a, int b)
{
	struct epoll_event e = { .events = EPOLLIN };
	int fd, outer;

	return ok("epoll_create1", fd = keep(epoll_create1(0))) &&
	       ok("epoll_ctl", epoll_ctl(fd, EPOLL_CTL_ADD, a, &e)) &&
	       ok("epoll_ctl", epoll_ctl(fd, EPOLL_CTL_ADD, b, &e)) &&
	       ok("epoll_create1", outer = keep(epoll_create1(0))) &&
	       ok("epoll_ctl", epoll_ctl(outer, EPOLL_CTL_ADD, fd, &e)) &&
	       ok("epoll_wait", epoll_wait(outer, &e, 1, 0)) &&
	       ok("epoll_ctl", epoll_ctl(fd, EPOLL_CTL_DEL, a, NULL));
}

static bool sockets_events(void)
{
	struct itimerspec soon = { .it_value.tv_nsec = 1 };
	uint64_t n = 1;
	sigset_t set;
	int e, t;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return ok("eventfd", e = keep(eventfd(0, 0))) &&
	       ok_all("write", write(e, &n, sizeof(n)), sizeof(n)) &&
	       ok("timerfd_create", t = keep(timerfd_create(CLOCK_MONOTONIC, 0))) &&
	       ok("timerfd_settime", timerfd_settime(t, 0, &soon, NULL)) &&
	       poll_both(e, t) &&
	       ok_all("read", read(e, &n, sizeof(n)), sizeof(n)) &&
	       ok_all("read", read(t, &n, sizeof(n)), sizeof(n)) &&
	       ok("signalfd", keep(signalfd(-1, &set, 0))) && close_kept();
}

static bool sockets_pipes(void)
{
	struct pollfd many[100];
	int p[2], q[2];

	for (size_t i = 0; i < 100; i++)
		many[i] = (struct pollfd) { .fd = STDIN_FILENO, .events = POLLOUT };
	return ok("pipe", pipe(p)) && keep(p[0]) >= 0 && keep(p[1]) >= 0 &&
	       ok("pipe", pipe(q)) && keep(q[0]) >= 0 && keep(q[1]) >= 0 &&
	       ok("fcntl", fcntl(p[1], F_SETPIPE_SZ, 32 * 4096)) &&
	       ok_all("write", write(p[1], data, 10000), 10000) &&
	       ok("tee", tee(p[0], q[1], 4000, 0)) &&
	       ok("splice", splice(p[0], NULL, q[1], NULL, 4000, 0)) &&
	       ok("read", read(q[0], back, 5000)) &&
	       ok("poll", poll(many, 100, 0)) && close_kept();
}

static void sockets_work(void)
{
	static const char name[] = "\0faultwalk";

	(void)(sockets_tcp(AF_INET) && sockets_tcp(AF_INET6) &&
	       sockets_udp(AF_INET) && sockets_udp(AF_INET6) && sockets_pairs() &&
	       sockets_unix(UNIX_PATH, sizeof(UNIX_PATH)) &&
	       ok("unlink", unlink(UNIX_PATH)) && sockets_unix(name, sizeof(name)) &&
	       sockets_netlink() && sockets_packet() && sockets_events() &&
	       sockets_pipes());
}

static void sockets_clean(void)
{
	int fd;

	close_kept();
	unlink(UNIX_PATH);
	if (!*report->call)
		return;
	/* remove what may be left; a removal that finds nothing is no failure */
	fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	netlink_route(fd, RTM_DELROUTE, "");
	netlink_address(fd, RTM_DELADDR, "");
	close(fd);
}

const struct work sockets_workload = {
	.name = "sockets",
	.work = sockets_work,
	.clean = sockets_clean,
};
