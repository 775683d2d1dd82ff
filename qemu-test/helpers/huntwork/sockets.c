// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets of any family.
 */
#define _GNU_SOURCE
#include "huntwork.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define MOST	16

static int sockets[MOST];
static unsigned int nr_sockets, current;
static bool optional;

static unsigned char bytes[8192];

static unsigned int index_of(const char *device)
{
	unsigned int index = if_nametoindex(device);

	if (!index)
		fail(device);
	return index;
}

/*
 * Bytes in hexadecimal, with any number of '.' between them.  %NAME stands for the index of that
 * network device; the name ends at the next '.'.
 */
static size_t parse(const char *text)
{
	size_t n = 0;
	unsigned int byte;

	memset(bytes, 0, sizeof(bytes));
	while (text && *text && n < sizeof(bytes)) {
		if (*text == '.') {
			text++;
		} else if (*text == '%') {
			char name[IF_NAMESIZE];
			unsigned int index;

			snprintf(name, sizeof(name), "%.*s", (int)strcspn(text + 1, "."), text + 1);
			index = index_of(name);
			text += 1 + strlen(name);
			if (n + sizeof(index) > sizeof(bytes))
				break;
			memcpy(bytes + n, &index, sizeof(index));
			n += sizeof(index);
		} else if (sscanf(text, "%2x", &byte) == 1) {
			bytes[n++] = byte;
			text += 2;
		} else {
			fprintf(stderr, "huntwork: no bytes: %s\n", text);
			exit(2);
		}
	}
	return n;
}

/* An address has at least the size of a struct sockaddr. */
static socklen_t parse_address(const char *text)
{
	size_t size = parse(text);

	return size < sizeof(struct sockaddr) ? sizeof(struct sockaddr) : size;
}

static void check(const char *what, long value)
{
	if (optional)
		may(what, value);
	else
		must(what, value);
}

static void add(int fd)
{
	int on = 1;

	if (fd < 0 || nr_sockets == MOST) {
		check("socket", fd < 0 ? fd : -1);
		return;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	/* an address that the last run has used */
	attempt("SO_REUSEADDR", setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)));
	current = nr_sockets;
	sockets[nr_sockets++] = fd;
}

static char **pair_up(char **args)
{
	int ends[2] = { -1, -1 };

	check("socketpair", socketpair(number(args[0]), number(args[1]), number(args[2]), ends));
	if (ends[0] >= 0) {
		add(ends[0]);
		add(ends[1]);
	}
	return args + 3;
}

static void connect_to(const char *address)
{
	socklen_t size = parse_address(address);
	int status = connect(sockets[current], (void *)bytes, size);

	if (status && errno == EINPROGRESS)
		return;
	check("connect", status);
}

static void accept_one(void)
{
	struct pollfd p = { .fd = sockets[current], .events = POLLIN };

	poll(&p, 1, 1000);
	add(accept(sockets[current], NULL, NULL));
}

static void receive_all(void)
{
	struct pollfd p = { .fd = sockets[current], .events = POLLIN };
	ssize_t n = 1;

	poll(&p, 1, 1000);
	while (n > 0)
		n = recv(sockets[current], bytes, sizeof(bytes), 0);
	if (n < 0 && errno != EAGAIN && errno != ECONNRESET && errno != ENOTCONN)
		check("recv", n);
}

static void send_to(const char *data, const char *address)
{
	struct iovec part;
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	static unsigned char copy[8192];
	size_t size = parse(data);

	memcpy(copy, bytes, size);
	part.iov_base = copy;
	part.iov_len = size;
	if (address) {
		m.msg_namelen = parse_address(address);
		m.msg_name = bytes;
	}
	check("sendmsg", sendmsg(sockets[current], &m, 0));
}

/* Enough data for several buffers */
static void send_much(size_t size)
{
	char *p = room(size);
	ssize_t n = send(sockets[current], p, size, 0);

	free(p);
	if (n < 0 && errno == EAGAIN)
		return;
	check("send", n);
}

static void control(unsigned long code, const char *text)
{
	parse(text);
	check("ioctl", ioctl(sockets[current], code, bytes));
}

static void set_option(char **args)
{
	size_t size = parse(args[2]);

	check("setsockopt", setsockopt(sockets[current], number(args[0]), number(args[1]), bytes, size));
}

static void get_option(char **args)
{
	socklen_t size = sizeof(bytes);

	memset(bytes, 0, sizeof(bytes));
	check("getsockopt", getsockopt(sockets[current], number(args[0]), number(args[1]), bytes, &size));
}

static void names(void)
{
	socklen_t size = sizeof(bytes);

	attempt("getsockname", getsockname(sockets[current], (void *)bytes, &size));
	size = sizeof(bytes);
	getpeername(sockets[current], (void *)bytes, &size);
}

static void close_all(void)
{
	while (nr_sockets)
		close(sockets[--nr_sockets]);
	current = 0;
}

/* Run one word and its arguments; returns the next word. */
static char **step(char **a)
{
	const char *word = *a++;

	optional = *word == '-';
	word += optional;
	if (!strcmp(word, "socket")) {
		add(socket(number(a[0]), number(a[1]), number(a[2])));
		return a + 3;
	}
	if (!strcmp(word, "pair"))
		return pair_up(a);
	if (!strcmp(word, "close")) {
		close_all();
		return a;
	}
	if (!strcmp(word, "use")) {
		current = number(a[0]);
		return a + 1;
	}
	if (current >= nr_sockets) {
		if (optional)
			exit(0);
		errno = EBADF;
		fail(word);
	}
	if (!strcmp(word, "bind")) {
		socklen_t size = parse_address(a[0]);

		check("bind", bind(sockets[current], (void *)bytes, size));
		return a + 1;
	}
	if (!strcmp(word, "connect")) {
		connect_to(a[0]);
		return a + 1;
	}
	if (!strcmp(word, "listen")) {
		check("listen", listen(sockets[current], 4));
		return a;
	}
	if (!strcmp(word, "accept")) {
		accept_one();
		return a;
	}
	if (!strcmp(word, "names")) {
		names();
		return a;
	}
	if (!strcmp(word, "send")) {
		send_to(a[0], NULL);
		return a + 1;
	}
	if (!strcmp(word, "sendto")) {
		send_to(a[0], a[1]);
		return a + 2;
	}
	if (!strcmp(word, "much")) {
		send_much(number(a[0]));
		return a + 1;
	}
	if (!strcmp(word, "receive")) {
		receive_all();
		return a;
	}
	if (!strcmp(word, "set")) {
		set_option(a);
		return a + 3;
	}
	if (!strcmp(word, "get")) {
		get_option(a);
		return a + 2;
	}
	if (!strcmp(word, "ioctl")) {
		control(strtoul(a[0], NULL, 0), a[1]);
		return a + 2;
	}
	if (!strcmp(word, "shutdown")) {
		shutdown(sockets[current], SHUT_RDWR);
		return a;
	}
	if (!strcmp(word, "sleep")) {
		usleep(number(a[0]) * 1000);
		return a + 1;
	}
	fprintf(stderr, "huntwork: no word %s\n", word);
	exit(2);
}

/*
 * socket WORD ARGS...: a number of words. A word that begins with - may fail because the kernel
 * does not have it.
 *
 *	socket FAMILY TYPE PROTOCOL	a new socket; all other words belong to the newest one
 *	pair FAMILY TYPE PROTOCOL	two connected ones
 *	use N				from now on, socket N; the first is 0
 *	close				all of them
 *	bind ADDRESS, connect ADDRESS, listen, accept, names, shutdown
 *	send DATA, sendto DATA ADDRESS, much SIZE, receive
 *	set LEVEL NAME VALUE, get LEVEL NAME, ioctl CODE VALUE
 *	sleep MILLISECONDS
 *
 * ADDRESS, DATA and VALUE are bytes as parse() reads them.
 */
void do_socket(char **args)
{
	/* RDS refuses MSG_NOSIGNAL */
	signal(SIGPIPE, SIG_IGN);
	while (*args)
		args = step(args);
	close_all();
}

static void set(int fd, int level, int name, const void *value, socklen_t size, const char *what)
{
	must(what, setsockopt(fd, level, name, value, size));
}

static void ring(int version, int name)
{
	struct tpacket_req3 r = {
		.tp_block_size = 4 * 4096, .tp_block_nr = 4, .tp_frame_size = 2048, .tp_frame_nr = 32,
		.tp_retire_blk_tov = name == PACKET_RX_RING ? 10 : 0,
	};
	int fd = must("socket", socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)));
	void *p;

	set(fd, SOL_PACKET, PACKET_VERSION, &version, sizeof(version), "PACKET_VERSION");
	set(fd, SOL_PACKET, name, &r, version == TPACKET_V3 ? sizeof(r) : sizeof(struct tpacket_req), "ring");
	p = mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		fail("mmap of a ring");
	munmap(p, 16 * 4096);
	close(fd);
}

static void fanout(const struct sockaddr_ll *to)
{
	static const int kinds[] = {
		PACKET_FANOUT_HASH, PACKET_FANOUT_LB, PACKET_FANOUT_CPU, PACKET_FANOUT_ROLLOVER,
		PACKET_FANOUT_CBPF,
	};
	struct sock_filter pass[] = { BPF_STMT(BPF_RET | BPF_K, 0) };
	struct sock_fprog program = { 1, pass };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		int fds[2], id = 100 + i + (kinds[i] << 16);

		for (int j = 0; j < 2; j++) {
			fds[j] = must("socket", socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)));
			must("bind", bind(fds[j], (void *)to, sizeof(*to)));
			set(fds[j], SOL_PACKET, PACKET_FANOUT, &id, sizeof(id), "PACKET_FANOUT");
		}
		if (kinds[i] == PACKET_FANOUT_CBPF)
			set(fds[0], SOL_PACKET, PACKET_FANOUT_DATA, &program, sizeof(program), "fanout data");
		close(fds[0]);
		close(fds[1]);
	}
}

/* packet DEVICE: packet sockets with all kinds of rings, fanout groups and memberships */
void do_packet(char **args)
{
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	struct packet_mreq m = { .mr_type = PACKET_MR_PROMISC };
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, ~0U) };
	struct sock_fprog program = { 1, all };
	unsigned char data[60] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	int fd, on = 1;

	to.sll_ifindex = m.mr_ifindex = index_of(args[0]);
	for (int version = TPACKET_V1; version <= TPACKET_V3; version++) {
		ring(version, PACKET_RX_RING);
		ring(version, PACKET_TX_RING);
	}
	fanout(&to);
	fd = must("socket", socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)));
	must("bind", bind(fd, (void *)&to, sizeof(to)));
	set(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m), "membership");
	m.mr_type = PACKET_MR_ALLMULTI;
	set(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &m, sizeof(m), "membership");
	set(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program), "filter");
	set(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on), "timestamps");
	set(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on), "auxdata");
	must("send", send(fd, data, sizeof(data), 0));
	recv(fd, data, sizeof(data), MSG_DONTWAIT);
	set(fd, SOL_SOCKET, SO_DETACH_FILTER, &on, sizeof(on), "filter");
	close(fd);
}

/* xdp DEVICE: a socket of that family with its memory and its four rings */
void do_xdp(char **args)
{
	static const int rings[] = {
		XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING, XDP_TX_RING,
	};
	static const off_t offsets[] = {
		XDP_UMEM_PGOFF_FILL_RING, XDP_UMEM_PGOFF_COMPLETION_RING, XDP_PGOFF_RX_RING, XDP_PGOFF_TX_RING,
	};
	struct sockaddr_xdp to = { .sxdp_family = AF_XDP, .sxdp_flags = XDP_COPY };
	struct xdp_umem_reg memory = { .len = 64 * 4096, .chunk_size = 4096 };
	int fd = must("socket", socket(AF_XDP, SOCK_RAW, 0)), second, size = 16;
	struct xdp_mmap_offsets o;
	socklen_t len = sizeof(o);
	void *p = mmap(NULL, memory.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	memory.addr = (unsigned long)p;
	set(fd, SOL_XDP, XDP_UMEM_REG, &memory, sizeof(memory), "umem");
	for (size_t i = 0; i < 4; i++)
		set(fd, SOL_XDP, rings[i], &size, sizeof(size), "ring");
	must("offsets", getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &o, &len));
	for (size_t i = 0; i < 4; i++) {
		p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offsets[i]);
		if (p == MAP_FAILED)
			fail("mmap of a ring");
	}
	to.sxdp_ifindex = index_of(args[0]);
	must("bind", bind(fd, (void *)&to, sizeof(to)));
	second = must("socket", socket(AF_XDP, SOCK_RAW, 0));
	set(second, SOL_XDP, XDP_RX_RING, &size, sizeof(size), "ring");
	to.sxdp_flags = XDP_SHARED_UMEM;
	to.sxdp_shared_umem_fd = fd;
	must("bind", bind(second, (void *)&to, sizeof(to)));
	send(fd, NULL, 0, MSG_DONTWAIT);
	close(second);
	close(fd);
}
