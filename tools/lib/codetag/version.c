// SPDX-License-Identifier: GPL-2.0-only
/*
 * What --version of each program prints, see version.h.
 *
 * tools.mk defines TOOLS_VERSION, the version of all programs. A package passes its own
 * version to make. The formats of JSON outputs have versions of their own.
 */
#include <stdio.h>

#include "version.h"

/**
 * version_print - print the first line of --version
 * @program: name of the program
 *
 * A program that depends on the ABI of a kernel prints that in a second line.
 */
void version_print(const char *program)
{
	printf("%s (codetag-tools) %s\n", program, TOOLS_VERSION);
}
