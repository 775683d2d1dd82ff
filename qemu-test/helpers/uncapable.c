// SPDX-License-Identifier: GPL-2.0-only
/*
 * uncapable COMMAND [ARGUMENTS]: runs it as root, but without CAP_PERFMON and CAP_SYS_ADMIN,
 * like a process in a container.
 */
#define _GNU_SOURCE
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: uncapable COMMAND [ARGUMENTS]\n");
		return 2;
	}
	/* exec() gives root all capabilities of the bounding set */
	if (prctl(PR_CAPBSET_DROP, CAP_PERFMON) || prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN)) {
		perror("uncapable: prctl");
		return 2;
	}
	execvp(argv[1], argv + 1);
	perror(argv[1]);
	return 127;
}
