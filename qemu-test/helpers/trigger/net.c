// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets and packets.
 */
#define _GNU_SOURCE
#include "trigger.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/netlink.h>
#include <linux/xfrm.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* <linux/llc.h> and <net/if.h> exclude each other. */
struct sockaddr_llc {
	sa_family_t family, arphrd;
	uint8_t test, xid, ua, sap, mac[6], pad[2];
};

static struct sockaddr_in address(const char *ip, uint16_t port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(port) };

	inet_pton(AF_INET, ip, &a.sin_addr);
	return a;
}

static struct iphdr ip_header(const char *from, const char *to, uint8_t protocol, uint16_t len)
{
	return (struct iphdr){
		.version = 4, .ihl = 5, .ttl = 64, .protocol = protocol,
		.tot_len = htons(sizeof(struct iphdr) + len),
		.saddr = address(from, 0).sin_addr.s_addr,
		.daddr = address(to, 0).sin_addr.s_addr,
	};
}

static uint16_t ip_checksum(const struct iphdr *ip)
{
	const uint16_t *p = (const void *)ip;
	uint32_t sum = 0;

	for (unsigned int i = 0; i < sizeof(*ip) / 2; i++)
		sum += p[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return ~(sum + (sum >> 16));
}

/* A packet in a packet, over the loopback device. */
void do_ipip(void)
{
	struct sockaddr_in to = address("127.0.0.1", 0);
	struct iphdr inner = ip_header("127.0.0.2", "127.0.0.1", IPPROTO_ICMP, 0);
	int fd = socket(AF_INET, SOCK_RAW, IPPROTO_IPIP);

	inner.check = ip_checksum(&inner);
	if (fd < 0 || sendto(fd, &inner, sizeof(inner), 0, (void *)&to, sizeof(to)) < 0)
		die("ipip");
	close(fd);
}

/* A datagram of a socket that was not bound. */
void do_llc(void)
{
	struct sockaddr_llc to = {
		.family = AF_LLC, .arphrd = ARPHRD_ETHER, .sap = 0x42,
		.mac = { 2, 0, 0, 0, 0, 1 },
	};
	int fd = socket(AF_LLC, SOCK_DGRAM, 0);

	if (fd < 0)
		die("llc");
	sendto(fd, "x", 1, 0, (void *)&to, sizeof(to));
	close(fd);
}

/* A packet that is too short for the header of IP, on port0. */
void do_packet(void)
{
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_IP), .sll_halen = 6,
		.sll_addr = { 2, 0, 0, 0, 0, 1 }, .sll_ifindex = if_nametoindex("port0"),
	};
	int fd = socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_IP));

	if (fd < 0 || sendto(fd, "too short", 9, 0, (void *)&to, sizeof(to)) < 0)
		die("packet");
	close(fd);
}

static uint32_t crc32c(const void *data, size_t len)
{
	const uint8_t *p = data;
	uint32_t crc = -1;

	while (len--) {
		crc ^= *p++;
		for (unsigned int i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return ~crc;
}

static int open_tun(const char *name)
{
	struct ifreq request = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR);

	strcpy(request.ifr_name, name);
	if (fd < 0 || ioctl(fd, TUNSETIFF, &request))
		die("tun");
	return fd;
}

/* An INIT with a parameter that nobody knows, to that port. */
static void send_init(int tun, uint16_t port)
{
	struct {
		struct iphdr ip;
		struct { uint16_t from, to; uint32_t tag, sum; } sctp;
		struct { uint8_t type, flags; uint16_t len; } chunk;
		struct { uint32_t tag, window; uint16_t out, in; uint32_t tsn; } init;
		struct { uint16_t type, len; uint32_t data; } unknown;
	} p = {
		.sctp = { htons(6000), htons(port), 0, 0 },
		.chunk = { 1, 0, htons(sizeof(p.chunk) + sizeof(p.init) + sizeof(p.unknown)) },
		.init = { htonl(0x1234567), htonl(65536), htons(1), htons(1), htonl(1) },
		.unknown = { htons(0xc123), htons(8), 0 },	/* to be reported */
	};

	p.ip = ip_header("10.9.0.2", "10.9.0.1", IPPROTO_SCTP, sizeof(p) - sizeof(p.ip));
	p.ip.check = ip_checksum(&p.ip);
	p.sctp.sum = crc32c(&p.sctp, sizeof(p) - sizeof(p.ip));
	if (write(tun, &p, sizeof(p)) != sizeof(p))
		die("INIT");
}

/* Both ends of an association begin at the same time: a collision of INITs. */
void do_sctp(void)
{
	struct sockaddr_in from = address("10.9.0.1", 5000), to = address("10.9.0.2", 6000);
	int tun = open_tun("tun0");
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, IPPROTO_SCTP);

	if (fd < 0 || bind(fd, (void *)&from, sizeof(from)))
		die("sctp");
	if (connect(fd, (void *)&to, sizeof(to)) && errno != EINPROGRESS)
		die("connect");
	for (unsigned int i = 0; i < 4; i++)
		send_init(tun, 5000);
	usleep(50000);
	close(fd);
	close(tun);
}

/* A security association whose algorithm for authentication is given in both forms. */
void do_xfrm(void)
{
	struct {
		struct nlmsghdr head;
		struct xfrm_usersa_info sa;
		struct nlattr trunc_attr;
		struct xfrm_algo_auth trunc;
		char trunc_key[16];
		struct nlattr auth_attr;
		struct xfrm_algo auth;
		char auth_key[16];
	} m = {
		.head = {
			.nlmsg_len = sizeof(m), .nlmsg_type = XFRM_MSG_NEWSA,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK,
		},
		.sa = {
			.family = AF_INET, .mode = XFRM_MODE_TRANSPORT, .reqid = 1,
			.id = { .proto = IPPROTO_AH, .spi = htonl(0x1000) },
			.lft = { XFRM_INF, XFRM_INF, XFRM_INF, XFRM_INF, 0, 0, 0, 0 },
		},
		.trunc_attr = {
			sizeof(m.trunc_attr) + sizeof(m.trunc) + sizeof(m.trunc_key), XFRMA_ALG_AUTH_TRUNC,
		},
		.trunc = { "cmac(aes)", 128, 96 },
		.auth_attr = {
			sizeof(m.auth_attr) + sizeof(m.auth) + sizeof(m.auth_key), XFRMA_ALG_AUTH,
		},
		.auth = { "cmac(aes)", 128 },
	};
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_XFRM);
	char answer[4096];

	m.sa.saddr.a4 = address("10.8.0.1", 0).sin_addr.s_addr;
	m.sa.id.daddr.a4 = address("10.8.0.2", 0).sin_addr.s_addr;
	if (fd < 0 || send(fd, &m, sizeof(m), 0) != sizeof(m) ||
	    recv(fd, answer, sizeof(answer), 0) < 0)
		die("xfrm");
	close(fd);
}
