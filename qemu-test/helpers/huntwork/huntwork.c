// SPDX-License-Identifier: GPL-2.0-only
/*
 * What workloads of qemu-test/hunt do by system calls, in one process:
 *
 *	huntwork KIND ARGS...
 *
 * The table below names the kinds; their functions describe the arguments. A call that this
 * kernel does not have is left out. Otherwise the first call that fails ends the program:
 * it prints the call and its error, and the exit code is 1; 2 for wrong usage.
 */
#define _GNU_SOURCE
#include "huntwork.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	void (*run)(char **args);
} kinds[] = {
	{ "alg", do_alg },
	{ "bpf", do_bpf },
	{ "encrypt", do_encrypt },
	{ "files", do_files },
	{ "ioctl", do_ioctl },
	{ "keys", do_keys },
	{ "ldisc", do_ldisc },
	{ "mkfs", do_mkfs },
	{ "mount", do_mount },
	{ "names", do_names },
	{ "notify", do_notify },
	{ "open", do_open },
	{ "packet", do_packet },
	{ "perf", do_perf },
	{ "plain", do_plain },
	{ "read", do_read },
	{ "socket", do_socket },
	{ "steps", do_steps },
	{ "uring", do_uring },
	{ "xdp", do_xdp },
};

void fail(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

long must(const char *what, long value)
{
	if (value < 0)
		fail(what);
	return value;
}

bool may(const char *what, long value)
{
	if (value >= 0)
		return true;
	switch (errno) {
	case 524:	/* ENOTSUPP, which should stay in the kernel */
	case EOPNOTSUPP:
	case ENOSYS:
	case ENOTTY:
	case EPERM:
	case EACCES:
	case EINVAL:
	case EROFS:
	case ENODATA:
	case EXDEV:
	case ENODEV:
	case ENXIO:
	case EAFNOSUPPORT:
	case EPROTONOSUPPORT:
	case ESOCKTNOSUPPORT:
	case ENOPROTOOPT:
	case ENOENT:
	case EPROTOTYPE:
	case EBADR:
	case EBADRQC:
	case EFAULT:
	case ENOSPC:
	case ERANGE:
	case E2BIG:
		return false;
	}
	fail(what);
}

bool attempt(const char *what, long value)
{
	if (value < 0 && errno == ENOMEM)
		fail(what);
	return value >= 0;
}

long number(const char *text)
{
	char *end = "";
	long n = text ? strtol(text, &end, 0) : 0;

	if (!text || *end) {
		fprintf(stderr, "huntwork: %s is no number\n", text ? text : "nothing");
		exit(2);
	}
	return n;
}

int open_or_fail(const char *path, int flags)
{
	return must(path, open(path, flags | O_CLOEXEC, 0600));
}

void put(const char *path, const char *text)
{
	int fd = open_or_fail(path, O_WRONLY);

	must(path, write(fd, text, strlen(text)));
	must(path, close(fd));
}

void *room(size_t size)
{
	void *p = calloc(1, size);

	if (!p)
		fail("calloc");
	return p;
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!strcmp(argv[1], kinds[i].name)) {
			kinds[i].run(argv + 2);
			return 0;
		}
	}
	fprintf(stderr, "usage: huntwork KIND ARGS...\n");
	return 2;
}
