/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of allocinfod, an HTTP server for /metrics and /debug/pprof.
 *
 * The daemon has one thread. It opens everything while it still has privileges, then
 * drops them, then serves:
 *
 *	data_open()	serve-data.c	/proc/allocinfo and its like
 *	auth_read()	serve-auth.c	passwords
 *	listen_open()	serve-listen.c	the socket
 *	server_new()	serve-http.c	libmicrohttpd, and keys for TLS
 *	confine()	serve-confine.c	from here on, no file can be opened
 *	server_run()
 *
 * What a client sends can only make the daemon close the connection of that client.
 */
#ifndef _ALLOCINFO_SERVE_H
#define _ALLOCINFO_SERVE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <time.h>

#include "util.h"

#define SERVE_NS	UINT64_C(1000000000)

/* serve-log.c */

void __printf(1, 2) log_message(const char *format, ...);
void __printf(2, 0) log_va(void *unused, const char *format, va_list args);

/* serve-data.c */

struct MHD_Response;
struct data;

struct data *data_open(const char *proc, uint64_t cache_seconds);
struct MHD_Response *data_metrics(struct data *data, unsigned int *status);
struct MHD_Response *data_profile(struct data *data, unsigned int *status);
struct MHD_Response *data_text(const char *text);
void data_close(struct data *data);

/* serve-auth.c */

struct auth;

char *file_read(const char *path, bool secret);
struct auth *auth_read(const char *path);
bool auth_allows(const struct auth *auth, const char *user, const char *password);
void auth_free(struct auth *auth);

/* serve-listen.c */

/**
 * struct address - where to listen
 * @storage: the address
 * @size: its size in bytes
 */
struct address {
	struct sockaddr_storage storage;
	socklen_t size;
};

#define ADDRESS_TEXT	64

bool address_parse(const char *text, struct address *address);
bool address_is_loopback(const struct address *address);
int listen_open(const struct address *address);
void address_name(const struct sockaddr *address, char text[ADDRESS_TEXT]);
void listen_name(int fd, char text[ADDRESS_TEXT]);
int notify_open(void);
void notify_ready(int fd);

/* serve-http.c */

/**
 * struct server_options - limits and keys of a server
 * @connections: clients at the same time
 * @per_address: clients of one address, or of 64 bits of IPv6, at the same time; 0 for no
 *	limit
 * @timeout: seconds after which a connection is closed that neither begins nor finishes
 *	a request
 * @cert: certificate of the server for TLS, as PEM; NULL for HTTP without TLS
 * @key: its key
 * @client_ca: certificates of the authorities that sign the certificates of clients; NULL if
 *	clients need no certificate
 * @auth: users and passwords; NULL if clients need none
 */
struct server_options {
	uint64_t connections;
	uint64_t per_address;
	uint64_t timeout;
	char *cert;
	char *key;
	char *client_ca;
	struct auth *auth;
};

struct server;
struct MHD_Daemon;

struct server *server_new(const struct server_options *options, struct data *data,
			  int listen_fd);
struct MHD_Daemon *server_daemon(const struct server *server);
void server_sweep(struct server *server);
void server_run(struct server *server, int signal_fd);
size_t server_finish(struct server *server);
size_t server_clients(const struct server *server);
void server_free(struct server *server);

/* serve-confine.c */

bool confine(const char *user, uint64_t files);

static inline uint64_t serve_clock(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * SERVE_NS + ts.tv_nsec;
}

#endif /* _ALLOCINFO_SERVE_H */
