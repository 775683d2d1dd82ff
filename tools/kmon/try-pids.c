// SPDX-License-Identifier: GPL-2.0-only
/*
 * try-pids PIDFIL PID...: the names of tasks that kmonlog would write, with no
 * device: the PIDs are looked up, once more when standard input ends, and written.
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
