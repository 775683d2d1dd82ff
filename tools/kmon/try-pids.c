// SPDX-License-Identifier: GPL-2.0-only
/*
 * try-pids PIDFIL PID...: write the names of tasks as kmonlog would, without a device.
 *
 * It looks up the PIDs at the start and again when standard input ends, then writes the
 * file.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "pids.h"
#include "replace.h"

int main(int argc, char **argv)
{
	struct pids pids = { 0 };
	struct replace to;
	bool ok;
	int i;

	if (argc < 2)
		return 2;
	signal(SIGXFSZ, SIG_IGN);
	replace_open(&to, argv[1]);
	for (i = 2; i < argc; i++)
		pids_see(&pids, strtoul(argv[i], NULL, 10));
	puts("seen");
	fflush(stdout);
	while (getchar() != EOF)
		;
	pids_look_again(&pids);
	ok = pids_write(&pids, &to);
	replace_close(&to);
	pids_free(&pids);
	return ok ? 0 : 1;
}
