// SPDX-License-Identifier: GPL-2.0-only
/*
 * allocinfod: serve /proc/allocinfo as metrics and profiles, see serve.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "number.h"
#include "serve.h"
#include "signals.h"
#include "status.h"
#include "version.h"

/* Data */

/* Descriptors that are no clients: files, sockets, standard error and their like. */
#define OTHER_FILES	32u
#define CLIENTS_MAX	65536u
#define TIME_MAX	3600u

static const char usage[] =
"Usage: allocinfod [options]\n"
"Serve the memory that each call site of the kernel holds: /metrics for Prometheus,\n"
"/debug/pprof/heap for go tool pprof and continuous profilers.\n"
"\n"
"Options:\n"
"  -l, --listen ADDRESS      IPv4:PORT or [IPv6]:PORT; the default is 127.0.0.1:9842\n"
"  -u, --user NAME           user to become if started by root; the default is nobody\n"
"  -c, --cache TIME          read the files at most once in TIME; the default is 1s\n"
"      --tls-cert FILE       serve by TLS, with the certificate in FILE\n"
"      --tls-key FILE        its key, which only the owner of FILE can read\n"
"      --tls-client-ca FILE  serve only clients with a certificate that one of the\n"
"                            certificates in FILE signed\n"
"      --auth-file FILE      serve only the users in FILE, which has a line USER:PASSWORD\n"
"                            for each, and which only its owner can read\n"
"      --connections N       clients at the same time; the default is 500\n"
"      --per-address N       clients of one address at the same time; the default is\n"
"                            100, and 0 is no limit\n"
"      --timeout TIME        close a connection that neither begins nor finishes a\n"
"                            request for TIME; the default is 30s\n"
"      --proc DIR            use DIR instead of /proc\n"
"  -h, --help                print this help\n"
"  -V, --version             print the version\n"
"\n"
"Exit status:\n"
"  0   a signal ended it, and all accepted requests were answered\n"
"  1   it could not start\n"
"  2   a signal ended it, and requests of slow clients were cut off\n"
"  3   this text or the version could not be written\n"
"  64  wrong options\n";

enum {
	OPT_CERT = 256, OPT_KEY, OPT_CLIENT_CA, OPT_AUTH, OPT_CONNECTIONS, OPT_PER_ADDRESS,
	OPT_TIMEOUT, OPT_PROC,
};

static const struct option long_options[] = {
	{ "listen", required_argument, NULL, 'l' },
	{ "user", required_argument, NULL, 'u' },
	{ "cache", required_argument, NULL, 'c' },
	{ "tls-cert", required_argument, NULL, OPT_CERT },
	{ "tls-key", required_argument, NULL, OPT_KEY },
	{ "tls-client-ca", required_argument, NULL, OPT_CLIENT_CA },
	{ "auth-file", required_argument, NULL, OPT_AUTH },
	{ "connections", required_argument, NULL, OPT_CONNECTIONS },
	{ "per-address", required_argument, NULL, OPT_PER_ADDRESS },
	{ "timeout", required_argument, NULL, OPT_TIMEOUT },
	{ "proc", required_argument, NULL, OPT_PROC },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

/**
 * struct options - what the user wants
 * @address: where to listen
 * @user: user to become
 * @proc: where procfs is mounted
 * @cache: seconds between two reads
 * @cert: file of the certificate, or NULL
 * @key: file of its key, or NULL
 * @client_ca: file of the certificates for clients, or NULL
 * @auth: file of users and passwords, or NULL
 * @server: what these files contain, and limits
 */
struct options {
	struct address address;
	const char *user;
	const char *proc;
	uint64_t cache;
	const char *cert;
	const char *key;
	const char *client_ca;
	const char *auth;
	struct server_options server;
};

/* Options */

static uint64_t time_value(const char *word)
{
	uint64_t seconds;

	if (!seconds_parse(word, TIME_MAX, &seconds) || !seconds)
		usage_error("not a time from 1 second to 1 hour", word);
	return seconds;
}

static uint64_t clients_value(const char *word, uint64_t min)
{
	uint64_t nr;

	if (!number_parse(word, CLIENTS_MAX, &nr) || nr < min)
		usage_error("not a number of clients", word);
	return nr;
}

static void take_other(int option)
{
	switch (option) {
	case 'h':
		fputs(usage, stdout);
		end_output();
	case 'V':
		version_print("allocinfod");
		end_output();
	default:
		usage_error("unknown option", "");
	}
}

static void take_file(struct options *options, int option)
{
	switch (option) {
	case OPT_CERT:
		options->cert = optarg;
		break;
	case OPT_KEY:
		options->key = optarg;
		break;
	case OPT_CLIENT_CA:
		options->client_ca = optarg;
		break;
	case OPT_AUTH:
		options->auth = optarg;
		break;
	case OPT_PROC:
		options->proc = optarg;
		break;
	default:
		take_other(option);
	}
}

static void take_option(struct options *options, int option)
{
	switch (option) {
	case 'l':
		if (!address_parse(optarg, &options->address))
			usage_error("not an address with a port, such as 127.0.0.1:9842",
				    optarg);
		break;
	case 'u':
		options->user = optarg;
		break;
	case 'c':
		options->cache = time_value(optarg);
		break;
	case OPT_TIMEOUT:
		options->server.timeout = time_value(optarg);
		break;
	case OPT_CONNECTIONS:
		options->server.connections = clients_value(optarg, 1);
		break;
	case OPT_PER_ADDRESS:
		options->server.per_address = clients_value(optarg, 0);
		break;
	default:
		take_file(options, option);
	}
}

static void take_options(struct options *options, int argc, char **argv)
{
	int option;

	address_parse("127.0.0.1:9842", &options->address);
	while ((option = getopt_long(argc, argv, "l:u:c:hV", long_options, NULL)) != -1)
		take_option(options, option);
	if (optind < argc)
		usage_error("unknown word", argv[optind]);
	if (!options->cert != !options->key)
		usage_error("--tls-cert and --tls-key need each other", "");
	if (options->client_ca && !options->cert)
		usage_error("--tls-client-ca needs --tls-cert", "");
}

/* Start */

/* An optional file: true if there is none, or it could be read. */
static bool read_file(const char *path, bool secret, char **text)
{
	if (path)
		*text = file_read(path, secret);
	return !path || *text;
}

/* Returns false after a message. */
static bool read_secrets(struct options *options)
{
	struct server_options *server = &options->server;

	if (!read_file(options->cert, false, &server->cert) ||
	    !read_file(options->key, true, &server->key) ||
	    !read_file(options->client_ca, false, &server->client_ca))
		return false;
	if (options->auth)
		server->auth = auth_read(options->auth);
	return !options->auth || server->auth;
}

static void forget(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

/* The library has copies of certificates and keys. */
static void forget_keys(struct server_options *server)
{
	forget(server->cert);
	forget(server->key);
	forget(server->client_ca);
}

/* Only root can have more files open than the hard limit allows. */
static bool enough_files(uint64_t files)
{
	struct rlimit limit;

	if (!geteuid() || getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_max >= files)
		return true;
	fprintf(stderr, "%s: the limit of open files allows only %ju connections\n",
		program_invocation_short_name,
		(uintmax_t)sat_sub(limit.rlim_max, OTHER_FILES));
	return false;
}

static void warn_if_open(const struct options *options)
{
	const char *what = "nobody needs a password";

	if (address_is_loopback(&options->address) || options->client_ca ||
	    (options->auth && options->cert))
		return;
	if (options->auth)
		what = "passwords are not encrypted";
	fprintf(stderr, "%s: warning: other machines can connect, and %s\n",
		program_invocation_short_name, what);
}

/* Returns the socket, or -1 after a message. */
static int start_listening(const struct options *options)
{
	int fd = listen_open(&options->address);

	if (fd < 0)
		fprintf(stderr, "%s: cannot listen: %s\n", program_invocation_short_name,
			strerror(errno));
	return fd;
}

static void announce(const struct options *options, int listen_fd)
{
	char text[ADDRESS_TEXT];

	listen_name(listen_fd, text);
	fprintf(stderr, "%s: listening on http%s://%s/\n", program_invocation_short_name,
		options->cert ? "s" : "", text);
}

/* Code of a client could use every descriptor that the caller left open. */
static void close_inherited(void)
{
	int fd;

	close_range(STDERR_FILENO + 1, ~0u, 0);
	/* no file or socket of ours may become a standard one that was closed */
	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

/* Returns false after a message. */
static bool detach_input(void)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0 || dup2(fd, STDOUT_FILENO) < 0) {
		fprintf(stderr, "%s: /dev/null: %s\n", program_invocation_short_name,
			strerror(errno));
		return false;
	}
	close(fd);
	return true;
}

/* Opens everything that needs a privilege. Returns NULL after a message. */
static struct server *open_server(struct options *options, struct data *data)
{
	uint64_t files = options->server.connections + OTHER_FILES;
	struct server *server;
	int fd;

	if (!enough_files(files) || !read_secrets(options))
		return NULL;
	fd = start_listening(options);
	if (fd < 0)
		return NULL;
	server = server_new(&options->server, data, fd);
	forget_keys(&options->server);
	if (!server)
		return NULL;
	warn_if_open(options);
	tzset();
	if (confine(options->user, files)) {
		announce(options, fd);
		return server;
	}
	server_free(server);
	return NULL;
}

/* Returns an exit code. */
static int serve(struct server *server, int signal_fd, int notify_fd)
{
	size_t cut;

	notify_ready(notify_fd);
	server_run(server, signal_fd);
	cut = server_finish(server);
	if (!cut)
		return EXIT_GOOD;
	fprintf(stderr, "%s: requests of %zu slow clients were cut off\n",
		program_invocation_short_name, cut);
	return EXIT_LOST;
}

int main(int argc, char **argv)
{
	struct options options = {
		.user = "nobody", .proc = "/proc", .cache = 1,
		.server = { .connections = 500, .per_address = 100, .timeout = 30 },
	};
	struct server *server = NULL;
	int signal_fd, notify_fd, code = EXIT_CANNOT;
	struct data *data;
	sigset_t signals;

	close_inherited();
	hash_seed_init();
	take_options(&options, argc, argv);
	if (!detach_input())
		return EXIT_CANNOT;
	/* other daemons read their files again; the end would be a surprise */
	signal(SIGHUP, SIG_IGN);
	signal_fd = signals_open(&signals);
	notify_fd = notify_open();
	data = data_open(options.proc, options.cache);
	if (data && signal_fd >= 0)
		server = open_server(&options, data);
	if (server) {
		code = serve(server, signal_fd, notify_fd);
		server_free(server);
	}
	if (data)
		data_close(data);
	auth_free(options.server.auth);
	return code;
}
