// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of the kernel that no program of a guest makes, for the known leaks of
 * qemu-test/leaks.
 *
 *	trigger NAME
 *
 * Each name is a function do_NAME() of net.c or files.c. Exit code: 1 if a call failed
 * that has to succeed, 2 for wrong usage.
 */
#define _GNU_SOURCE
#include "trigger.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	void (*run)(void);
} triggers[] = {
	{ "cuse",	do_cuse },
	{ "encoded",	do_encoded },
	{ "ipip",	do_ipip },
	{ "llc",	do_llc },
	{ "packet",	do_packet },
	{ "sctp",	do_sctp },
	{ "udmabuf",	do_udmabuf },
	{ "unshare",	do_unshare },
	{ "uring",	do_uring },
	{ "xfrm",	do_xfrm },
};

void die(const char *what)
{
	fprintf(stderr, "trigger: %s: %s\n", what, strerror(errno));
	exit(1);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(triggers) / sizeof(triggers[0]); i++) {
		if (strcmp(argv[1], triggers[i].name))
			continue;
		triggers[i].run();
		return 0;
	}
	fprintf(stderr, "usage: trigger cuse | encoded | ipip | llc | packet | sctp | udmabuf |\n"
			"               unshare | uring | xfrm\n");
	return 2;
}
