// SPDX-License-Identifier: GPL-2.0-only
/*
 * try-clean NAME...: print each name on a line, as clean_name() changes it.
 */
#include <stdio.h>

#include "utf8.h"

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		clean_name(argv[i]);
		puts(argv[i]);
	}
	return 0;
}
