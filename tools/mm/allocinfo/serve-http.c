// SPDX-License-Identifier: GPL-2.0-only
/*
 * The HTTP server, by libmicrohttpd.
 *
 * The library reads requests and writes responses, for all clients in the one thread of
 * the daemon. Its timeout begins again with each byte, so a client that sends or reads a
 * byte now and then would keep its connection forever. In place of it, a connection is
 * closed if it neither begins nor finishes a request for some seconds. shutdown() closes it,
 * and the library sees that as the end of the connection.
 *
 * The limits of clients are also ours. Those of the library make further clients wait or
 * refuse them, so idle connections would lock them out. Here a further client is accepted, and
 * evict() closes the oldest connection that waits for no answer.
 *
 * Two things that the library (0.9.75) overlooks while it waits for edges of epoll are found here:
 * server_sweep() finds the end of a connection that arrived together with data, and
 * serve_once() finds clients that wait after others left and made room for them. And while a
 * client is in the middle of a handshake of TLS, the library always wants to run again at
 * once: spin_pause() limits that, or half of a handshake would cost all of a CPU.
 */
#include <errno.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "serve.h"

/* Data */

/* Request and header of the response must fit into it. */
#define CLIENT_MEMORY	16384u
#define SWEEP_MS	1000
/*
 * The library may run 8 times after an event, because it does a request by TLS in steps, and
 * else without an event 200 times a second, in bursts of 200.
 */
#define SPIN_STEPS	8
#define SPIN_MS		5
#define SPIN_BURST	SERVE_NS
/* How long the answer to a client is safe from others that need its place. */
#define READ_TIME	(5 * SERVE_NS)
/* How long clients have to read their responses after a signal to end. */
#define FINISH		(10 * SERVE_NS)
#define TLS_VERSIONS	"SECURE128:-VERS-TLS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"

enum page { PAGE_INDEX, PAGE_METRICS, PAGE_PROFILE, NR_PAGES };

static const struct {
	const char *path;
	enum page page;
} paths[] = {
	{ "/", PAGE_INDEX },
	{ "/metrics", PAGE_METRICS },
	{ "/debug/pprof/heap", PAGE_PROFILE },
	{ "/debug/pprof/allocs", PAGE_PROFILE },
};

static const char index_text[] =
"allocinfod: the memory that the call sites of the Linux kernel hold\n"
"\n"
"/metrics             for Prometheus\n"
"/debug/pprof/heap    for go tool pprof: the memory that is not freed\n"
"/debug/pprof/allocs  the same, under the other name that profilers ask for\n";

/* Texts that never change, for a status of HTTP. */
enum fixed { FIXED_INDEX, FIXED_LOGIN, FIXED_CERTIFICATE, FIXED_PATH, FIXED_METHOD,
	     FIXED_DELTA, NR_FIXED };

static const struct {
	unsigned int status;
	const char *text;
	const char *header;
	const char *value;
} fixed_texts[NR_FIXED] = {
	[FIXED_INDEX] = { MHD_HTTP_OK, index_text, NULL, NULL },
	[FIXED_LOGIN] = { MHD_HTTP_UNAUTHORIZED, "user and password are needed\n",
		MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Basic realm=\"allocinfod\"" },
	[FIXED_CERTIFICATE] = { MHD_HTTP_FORBIDDEN,
		"a certificate of the client is needed\n", NULL, NULL },
	[FIXED_PATH] = { MHD_HTTP_NOT_FOUND, "no such page; / lists the pages\n", NULL, NULL },
	[FIXED_METHOD] = { MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are possible\n",
		MHD_HTTP_HEADER_ALLOW, "GET, HEAD" },
	[FIXED_DELTA] = { MHD_HTTP_BAD_REQUEST, "seconds= is not supported; "
		"fetch two profiles and compare them by go tool pprof -diff_base\n",
		NULL, NULL },
};

/**
 * struct client - a connection
 * @prev: the connection before it in the list
 * @next: the next connection
 * @fd: its socket
 * @network: its address, of IPv6 only the network of 64 bits
 * @since: time when it began, or when its last request began or ended
 * @in_request: it has sent the first line of a request that is not answered yet
 * @header_read: handle() was called for this request
 * @verified: its certificate was checked and is good
 * @evicted: it was closed to make room
 */
struct client {
	struct client *prev;
	struct client *next;
	int fd;
	uint64_t network;
	uint64_t since;
	bool in_request;
	bool header_read;
	bool verified;
	bool evicted;
};

/**
 * struct server - the server
 * @daemon: that of the library
 * @data: what is served
 * @auth: users and passwords, or NULL
 * @need_certificate: clients need one
 * @timeout: limit of time in nanoseconds, see above
 * @clients: all connections, oldest last
 * @nr: number of @clients
 * @listen_fd: socket, or -1
 * @connections: largest number of clients
 * @per_address: largest number of clients of a network, or 0
 * @steps: runs since the last event
 * @spin: time up to which runs without an event are used up
 * @in_vain: clients waited at @listen_fd, but none was accepted
 * @epoll_fd: becomes readable when @daemon has work
 * @ending: no further requests are wanted
 * @fixed: responses
 */
struct server {
	struct MHD_Daemon *daemon;
	struct data *data;
	const struct auth *auth;
	bool need_certificate;
	uint64_t timeout;
	struct client *clients;
	size_t nr;
	int listen_fd;
	uint64_t connections;
	uint64_t per_address;
	unsigned int steps;
	uint64_t spin;
	bool in_vain;
	int epoll_fd;
	bool ending;
	struct MHD_Response *fixed[NR_FIXED];
};

/* Connections */

static void begin_client(struct server *server, struct client *client, int fd)
{
	client->fd = fd;
	client->since = serve_clock(CLOCK_MONOTONIC);
	client->next = server->clients;
	if (client->next)
		client->next->prev = client;
	server->clients = client;
	server->nr++;
}

static void end_client(struct server *server, struct client *client)
{
	if (client->prev)
		client->prev->next = client->next;
	else
		server->clients = client->next;
	if (client->next)
		client->next->prev = client->prev;
	server->nr--;
	free(client);
}

static uint64_t network_of(const struct sockaddr *address)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;
	uint64_t network;
	uint32_t host;

	if (address->sa_family == AF_INET)
		return ((const struct sockaddr_in *)address)->sin_addr.s_addr;
	if (address->sa_family != AF_INET6)
		return 0;
	if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
		memcpy(&host, &in6->sin6_addr.s6_addr[12], sizeof(host));
		return host;
	}
	memcpy(&network, &in6->sin6_addr, sizeof(network));
	return network;
}

/* May this connection be closed to make room for another one? */
static bool can_leave(const struct client *client, uint64_t now)
{
	bool answered = client->in_request && client->header_read;

	return !client->evicted && (!answered || now - client->since >= READ_TIME);
}

/*
 * Closes the oldest connection that can leave, but not the newest one. With @network, only
 * those of this network count. A client that reads its answer stays if another one can leave.
 */
static bool evict(struct server *server, const uint64_t *network)
{
	uint64_t now = serve_clock(CLOCK_MONOTONIC);
	struct client *client, *found = NULL;

	if (!server->clients)
		return false;
	for (client = server->clients->next; client; client = client->next) {
		if ((network && client->network != *network) || !can_leave(client, now))
			continue;
		if (!found || found->header_read > client->header_read ||
		    (found->header_read == client->header_read && found->since > client->since))
			found = client;
	}
	if (!found)
		return false;
	found->evicted = true;
	shutdown(found->fd, SHUT_RDWR);
	return true;
}

static size_t count(const struct server *server, const uint64_t *network)
{
	const struct client *client;
	size_t nr = 0;

	for (client = server->clients; client; client = client->next)
		nr += !client->evicted && (!network || client->network == *network);
	return nr;
}

/* The newest connection is one too many if no other one of its address can leave. */
static void make_room(struct server *server, struct client *newest)
{
	if (server->per_address && count(server, &newest->network) > server->per_address &&
	    !evict(server, &newest->network)) {
		newest->evicted = true;
		shutdown(newest->fd, SHUT_RDWR);
	}
	if (server->nr > server->connections && count(server, NULL) > server->connections)
		evict(server, NULL);
}

static void on_connection(void *cls, struct MHD_Connection *connection, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct server *server = cls;
	const union MHD_ConnectionInfo *address, *fd;
	struct client *client;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		address = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
		fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
		client = need_memory(1, sizeof(*client));
		client->network = network_of(address->client_addr);
		begin_client(server, client, fd->connect_fd);
		make_room(server, client);
		*context = client;
	} else if (*context) {
		end_client(server, *context);
		*context = NULL;
	}
}

static struct client *client_of(struct MHD_Connection *connection)
{
	return MHD_get_connection_info(connection,
				       MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

/* The first line of a request is there. The result is passed to handle(). */
static void *on_request(void *cls, const char *uri, struct MHD_Connection *connection)
{
	struct client *client = client_of(connection);

	(void)cls;
	(void)uri;
	client->in_request = true;
	client->header_read = false;
	client->since = serve_clock(CLOCK_MONOTONIC);
	return client;
}

static void on_end(void *cls, struct MHD_Connection *connection, void **context,
		   enum MHD_RequestTerminationCode code)
{
	struct client *client = client_of(connection);
	struct server *server = cls;

	(void)context;
	(void)code;
	client->in_request = false;
	client->header_read = false;
	client->since = serve_clock(CLOCK_MONOTONIC);
	if (server->ending)
		shutdown(client->fd, SHUT_RD);
}

static bool has_ended(const struct client *client)
{
	struct pollfd fd = { .fd = client->fd, .events = POLLRDHUP };

	return poll(&fd, 1, 0) > 0;
}

/**
 * server_sweep - end connections that are too slow, or that the client has ended
 * @server: the server
 *
 * shutdown() is an edge that the library sees. What was received can still be read.
 */
void server_sweep(struct server *server)
{
	uint64_t now = serve_clock(CLOCK_MONOTONIC);
	struct client *client;

	for (client = server->clients; client; client = client->next) {
		if (now - client->since >= server->timeout)
			shutdown(client->fd, SHUT_RDWR);
		else if (has_ended(client))
			shutdown(client->fd, SHUT_RD);
	}
	if (count(server, NULL) > server->connections)
		evict(server, NULL);
}

/* Requests */

static bool has_certificate(struct client *client, struct MHD_Connection *connection)
{
	gnutls_typed_vdata_st use = {
		.type = GNUTLS_DT_KEY_PURPOSE_OID,
		.data = (void *)GNUTLS_KP_TLS_WWW_CLIENT,
	};
	const union MHD_ConnectionInfo *info;
	unsigned int problems;

	if (client->verified)
		return true;
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
	client->verified = info &&
		!gnutls_certificate_verify_peers(info->tls_session, &use, 1, &problems) &&
		!problems;
	return client->verified;
}

/* The administrator must see attempts to guess. A client without a password is no attempt. */
static void log_wrong_password(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *address;
	char name[ADDRESS_TEXT];

	address = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	address_name(address->client_addr, name);
	log_message("%s: wrong user or password", name);
}

static bool has_password(const struct auth *auth, struct MHD_Connection *connection)
{
	char *password = NULL;
	char *user = MHD_basic_auth_get_username_password(connection, &password);
	bool allowed = user && password && auth_allows(auth, user, password);

	if (user && !allowed)
		log_wrong_password(connection);
	MHD_free(user);
	MHD_free(password);
	return allowed;
}

static enum MHD_Result reply(const struct server *server, struct MHD_Connection *connection,
			     enum fixed what)
{
	return MHD_queue_response(connection, fixed_texts[what].status, server->fixed[what]);
}

/* Returns what follows http:// or https:// in @url, or NULL. The scheme may be in capitals. */
static const char *after_scheme(const char *url)
{
	static const char *const schemes[] = { "http://", "https://" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(schemes); i++) {
		if (!strncasecmp(schemes[i], url, strlen(schemes[i])))
			return url + strlen(schemes[i]);
	}
	return NULL;
}

/*
 * A client that takes this for a proxy asks for a whole address. Which host it names does not
 * matter, as with the header Host, but there must be one. An address without a path is that of
 * "/". RFC 9112, 3.2.2, and RFC 9110, 4.2.
 */
static const char *path_of(const char *url)
{
	const char *host = after_scheme(url), *path;

	if (!host || !strcspn(host, "/:@#"))
		return url;
	path = strchr(host, '/');
	return path ? path : "/";
}

static enum page page_of(const char *url)
{
	const char *path = path_of(url);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(paths); i++) {
		if (!strcmp(paths[i].path, path))
			return paths[i].page;
	}
	return NR_PAGES;
}

/* Without memory for a response, the library closes the connection. */
static enum MHD_Result reply_page(struct server *server, struct MHD_Connection *connection,
				  enum page page)
{
	struct MHD_Response *response;
	unsigned int status;

	switch (page) {
	case PAGE_INDEX:
		return reply(server, connection, FIXED_INDEX);
	case PAGE_METRICS:
		response = data_metrics(server->data, &status);
		break;
	case PAGE_PROFILE:
		if (MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, "seconds"))
			return reply(server, connection, FIXED_DELTA);
		response = data_profile(server->data, &status);
		break;
	default:
		return reply(server, connection, FIXED_PATH);
	}
	return response ? MHD_queue_response(connection, status, response) : MHD_NO;
}

static bool has_body(struct MHD_Connection *connection)
{
	const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
							 MHD_HTTP_HEADER_CONTENT_LENGTH);

	return (length && strcmp(length, "0")) ||
	       MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
					   MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

static enum MHD_Result answer(struct server *server, struct MHD_Connection *connection,
			      struct client *client, const char *method, const char *url)
{
	if (server->need_certificate && !has_certificate(client, connection))
		return reply(server, connection, FIXED_CERTIFICATE);
	if (server->auth && !has_password(server->auth, connection))
		return reply(server, connection, FIXED_LOGIN);
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return reply(server, connection, FIXED_METHOD);
	return reply_page(server, connection, page_of(url));
}

/*
 * The library calls this when it has read the header, and again when it has read the body.
 * After an answer to the first call it closes the connection, so a body is never read.
 */
static enum MHD_Result handle(void *cls, struct MHD_Connection *connection, const char *url,
			      const char *method, const char *version, const char *body,
			      size_t *body_size, void **context)
{
	struct client *client = *context;
	bool again = client->header_read;

	(void)version;
	(void)body;
	(void)body_size;
	client->header_read = true;
	if (!again && !has_body(connection))
		return MHD_YES;
	return answer(cls, connection, client, method, url);
}

/* Start */

static bool make_fixed(struct server *server)
{
	size_t i;

	for (i = 0; i < NR_FIXED; i++) {
		server->fixed[i] = data_text(fixed_texts[i].text);
		if (!server->fixed[i])
			return false;
		if (fixed_texts[i].header &&
		    MHD_add_response_header(server->fixed[i], fixed_texts[i].header,
					    fixed_texts[i].value) != MHD_YES)
			return false;
	}
	return true;
}

static struct MHD_Daemon *start(struct server *server, const struct server_options *options,
				int listen_fd)
{
	unsigned int flags = MHD_USE_EPOLL | MHD_USE_ERROR_LOG |
			     (listen_fd < 0 ? MHD_USE_NO_LISTEN_SOCKET : 0);
	struct MHD_OptionItem listen[] = {
		{ MHD_OPTION_LISTEN_SOCKET, listen_fd, NULL },
		{ MHD_OPTION_END, 0, NULL },
	};
	struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, options->cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, options->key },
		{ MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)TLS_VERSIONS },
		{ options->client_ca ? MHD_OPTION_HTTPS_MEM_TRUST : MHD_OPTION_END, 0,
		  options->client_ca },
		{ MHD_OPTION_END, 0, NULL },
	};

	if (options->cert)
		flags |= MHD_USE_TLS;
	return MHD_start_daemon(flags, 0, NULL, NULL, handle, server,
		MHD_OPTION_EXTERNAL_LOGGER, log_va, NULL,
		MHD_OPTION_ARRAY, listen_fd < 0 ? &listen[1] : listen,
		MHD_OPTION_ARRAY, options->cert ? tls : &tls[ARRAY_SIZE(tls) - 1],
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)options->connections + 1,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CLIENT_MEMORY,
		MHD_OPTION_STRICT_FOR_CLIENT, 1,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
		MHD_OPTION_URI_LOG_CALLBACK, on_request, server,
		MHD_OPTION_NOTIFY_COMPLETED, on_end, server,
		MHD_OPTION_END);
}

/* Interface */

/**
 * server_new - start to serve; server_run() must follow
 * @options: limits and keys
 * @data: what to serve, must stay valid
 * @listen_fd: socket; closed by server_free(). -1 if the caller adds connections
 *
 * Return: the server, or NULL after a message.
 */
struct server *server_new(const struct server_options *options, struct data *data,
			  int listen_fd)
{
	struct server *server = need_memory(1, sizeof(*server));

	server->data = data;
	server->auth = options->auth;
	server->need_certificate = options->client_ca;
	server->timeout = options->timeout * SERVE_NS;
	server->listen_fd = listen_fd;
	server->connections = options->connections;
	server->per_address = options->per_address;
	if (make_fixed(server))
		server->daemon = start(server, options, listen_fd);
	if (!server->daemon) {
		log_message("cannot start the server%s", options->cert ?
			    "; are certificate and key valid, and for each other?" : "");
		server_free(server);
		return NULL;
	}
	server->epoll_fd = MHD_get_daemon_info(server->daemon,
					       MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	return server;
}

/**
 * server_daemon - the daemon of the library
 * @server: the server
 *
 * Return: the daemon, to add connections and to run it.
 */
struct MHD_Daemon *server_daemon(const struct server *server)
{
	return server->daemon;
}

/**
 * server_clients - number of connections
 * @server: the server
 *
 * Return: the number.
 */
size_t server_clients(const struct server *server)
{
	return server->nr;
}

/* The library wants to run at once. Returns the milliseconds to wait for an event before. */
static int spin_pause(struct server *server)
{
	uint64_t now = serve_clock(CLOCK_MONOTONIC);

	if (server->steps < SPIN_STEPS)
		return 0;
	server->spin = max_u64(server->spin, sat_sub(now, SPIN_BURST));
	if (server->spin > now)
		return SPIN_MS;
	server->spin += SPIN_MS * (SERVE_NS / 1000);
	return 0;
}

/*
 * Waits up to @wait milliseconds for something to do, and does it. Returns false if
 * @signal_fd is readable.
 */
static bool serve_once(struct server *server, int signal_fd, int wait)
{
	struct pollfd fds[] = {
		{ .fd = server->epoll_fd, .events = POLLIN },
		{ .fd = signal_fd, .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};
	MHD_UNSIGNED_LONG_LONG due;
	size_t nr = server->nr;

	if (nr <= server->connections && !server->in_vain)
		fds[2].fd = server->listen_fd;

	if (MHD_get_timeout(server->daemon, &due) == MHD_YES &&
	    (wait < 0 || due < (unsigned int)wait))
		wait = due ? (int)due : spin_pause(server);
	server->steps = poll(fds, ARRAY_SIZE(fds), wait) > 0 ? 0 : server->steps + 1;
	MHD_run(server->daemon);
	server->in_vain = fds[2].revents && server->nr == nr;
	return !fds[1].revents;
}

/**
 * server_run - serve
 * @server: the server
 * @signal_fd: when it becomes readable, server_run() returns
 */
void server_run(struct server *server, int signal_fd)
{
	uint64_t swept = 0, now;

	while (serve_once(server, signal_fd, server->nr ? SWEEP_MS : -1)) {
		now = serve_clock(CLOCK_MONOTONIC);
		if (now - swept >= SWEEP_MS * (SERVE_NS / 1000)) {
			server_sweep(server);
			swept = now;
		}
	}
}

static void stop_listening(struct server *server)
{
	if (server->listen_fd < 0)
		return;
	MHD_quiesce_daemon(server->daemon);
	close(server->listen_fd);
	server->listen_fd = -1;
}

/* Accepts the connections that wait, because the kernel has accepted them already. */
static void accept_all(struct server *server)
{
	struct pollfd waiting = { .fd = server->listen_fd, .events = POLLIN };
	size_t nr;

	do {
		nr = server->nr;
		serve_once(server, -1, 0);
	} while (poll(&waiting, 1, 0) > 0 && server->nr > nr);
}

/**
 * server_finish - answer the requests that were accepted, and accept no further ones
 * @server: the server
 *
 * A client that has sent no request is not waited for: for it, the connection ends.
 *
 * Return: number of requests that were cut off, because their clients were too slow.
 */
size_t server_finish(struct server *server)
{
	uint64_t begin = serve_clock(CLOCK_MONOTONIC);
	struct client *client;
	size_t cut = 0;

	accept_all(server);
	stop_listening(server);
	server->ending = true;
	for (client = server->clients; client; client = client->next) {
		if (!client->in_request)
			shutdown(client->fd, SHUT_RD);
	}
	while (server->nr && serve_clock(CLOCK_MONOTONIC) - begin < FINISH) {
		serve_once(server, -1, SWEEP_MS);
		server_sweep(server);
	}
	for (client = server->clients; client; client = client->next)
		cut += client->in_request;
	return cut;
}

/**
 * server_free - close all connections
 * @server: the server
 */
void server_free(struct server *server)
{
	size_t i;

	if (server->daemon) {
		stop_listening(server);
		MHD_stop_daemon(server->daemon);
	} else if (server->listen_fd >= 0) {
		close(server->listen_fd);
	}
	for (i = 0; i < NR_FIXED; i++) {
		if (server->fixed[i])
			MHD_destroy_response(server->fixed[i]);
	}
	free(server);
}
