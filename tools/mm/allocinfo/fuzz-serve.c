// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hostile bytes from a client, through the library to our handler.
 *
 * The bytes come by a socketpair, in as many pieces as the input wants, so the library parses
 * them as it does those of a network. A fuzzer that calls the handler itself would be quicker
 * and find less: the handler only compares strings. Faults are in what the handler, the library
 * and the list of connections assume about each other.
 *
 * The first byte chooses: bit 0 to need a password, bit 1 to end the sending side at once, so
 * that the end arrives together with the last bytes, bit 2 to close without reading. A byte
 * 0xff ends a piece. After each client the server must have no connection, and must answer a
 * good request of the next client.
 *
 * With clang this is a target for libFuzzer. With FUZZ_MAIN it is a program that takes
 * inputs, and sends each of their beginnings.
 */
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "serve.h"
#include "util.h"

#define GOOD		"GET /metrics HTTP/1.1\r\nHost: x\r\n" \
			"Authorization: Basic dTpw\r\n\r\n"	/* u:p */
#define PATIENCE	4
#define ROUNDS		512
#define ANSWER_MAX	(1u << 20)

enum { CHOICE_AUTH = 1, CHOICE_HALF = 2, CHOICE_CLOSE = 4 };

static char answer[ANSWER_MAX];
static struct data *data;
static struct server *servers[2];

/* A machine without /proc/allocinfo is enough: the file does not come from the client. */
static void write_file(const char *path, mode_t mode, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);

	EXPECT(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void start(void)
{
	struct server_options options = { .connections = 16, .per_address = 0, .timeout = 60 };
	char folder[] = "/tmp/fuzz-serve-XXXXXX", path[64];

	EXPECT(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/allocinfo", folder);
	write_file(path, 0600, "allocinfo - version: 2.0\n4096 1 a.c:1 func:f\n");
	data = data_open(folder, 3600);
	unlink(path);
	write_file(path, 0600, "u:p\n");
	servers[0] = server_new(&options, data, -1);
	options.auth = auth_read(path);
	servers[1] = server_new(&options, data, -1);
	unlink(path);
	rmdir(folder);
	EXPECT(data && options.auth && servers[0] && servers[1]);
}

static int connect_to(struct server *server)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	int fds[2];

	EXPECT(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds));
	EXPECT(MHD_add_connection(server_daemon(server), fds[0],
				  (struct sockaddr *)&address, sizeof(address)) == MHD_YES);
	return fds[1];
}

/* Reads what the server has sent so far. */
static size_t receive(int fd, size_t size)
{
	ssize_t got;

	while (size < ANSWER_MAX - 1) {
		got = read(fd, answer + size, ANSWER_MAX - 1 - size);
		if (got <= 0)
			break;
		size += got;
	}
	answer[size] = '\0';
	return size;
}

static size_t run(struct server *server, int fd, size_t size)
{
	MHD_run(server_daemon(server));
	return receive(fd, size);
}

/* The server runs between two pieces, and has not seen the last one. */
static size_t send_pieces(struct server *server, int fd, const uint8_t *bytes, size_t size)
{
	const uint8_t *end = bytes + size, *cut;
	size_t got = 0;

	for (; bytes < end; bytes = cut + 1) {
		cut = memchr(bytes, 0xff, end - bytes);
		if (!cut)
			cut = end;
		got = run(server, fd, got);
		/* a server that has closed the connection, or reads no further */
		if (send(fd, bytes, cut - bytes, MSG_NOSIGNAL) < 0)
			break;
	}
	return got;
}

/* Whatever the client sent, it gets nothing, or a response. */
static void check_answer(size_t size)
{
	if (!size)
		return;
	EXPECT(!strncmp(answer, "HTTP/1.", 7));
	EXPECT(atoi(answer + 9) >= 100 && atoi(answer + 9) <= 505);
}

/* Reads answers until the server has ended the connection. */
static size_t finish(struct server *server, int fd, size_t got)
{
	int i;

	for (i = 0; i < ROUNDS && server_clients(server); i++) {
		got = run(server, fd, got);
		server_sweep(server);
	}
	EXPECT(!server_clients(server));
	return receive(fd, got);
}

static void attack(struct server *server, uint8_t choice, const uint8_t *bytes, size_t size)
{
	int fd = connect_to(server), i;
	size_t got = send_pieces(server, fd, bytes, size);

	if (choice & CHOICE_CLOSE) {
		close(fd);
		finish(server, -1, got);
		return;
	}
	for (i = 0; i < (choice & CHOICE_HALF ? 0 : PATIENCE); i++)
		got = run(server, fd, got);
	shutdown(fd, SHUT_WR);
	check_answer(finish(server, fd, got));
	close(fd);
}

static void ask(struct server *server)
{
	int fd = connect_to(server), i;
	size_t got = 0;

	EXPECT(write(fd, GOOD, strlen(GOOD)) == (ssize_t)strlen(GOOD));
	for (i = 0; i < ROUNDS && !strstr(answer, "# EOF"); i++)
		got = run(server, fd, got);
	EXPECT(!strncmp(answer, "HTTP/1.1 200 ", 13) && strstr(answer, "linux_alloc_sites 1\n"));
	shutdown(fd, SHUT_WR);
	finish(server, fd, got);
	close(fd);
}

/**
 * LLVMFuzzerTestOneInput - serve a hostile client, then a good one
 * @bytes: a choice, then what the client sends
 * @size: size of @bytes
 *
 * Return: 0.
 */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct server *server;

	if (!size)
		return 0;
	if (!data)
		start();
	server = servers[*bytes & CHOICE_AUTH];
	attack(server, *bytes, bytes + 1, size - 1);
	answer[0] = '\0';
	ask(server);
	return 0;
}

#ifdef FUZZ_MAIN
static void check_cuts(uint8_t *input, size_t size)
{
	size_t cut;

	for (cut = 1; cut <= size; cut++)
		LLVMFuzzerTestOneInput(input, cut);
	printf("%zu cuts\n", size);
}

int main(int argc, char **argv)
{
	(void)argc;
	return fuzz_files(argv + 1, check_cuts);
}
#endif
