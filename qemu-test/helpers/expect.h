/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a helper reports a failed check: a note in the results of its test, and exit code 1.
 * The helper defines its name before it includes this file: #define HELPER "name".
 */
#ifndef _QT_EXPECT_H
#define _QT_EXPECT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void __attribute__((noreturn, format(printf, 1, 2)))
fail(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	printf("# " HELPER ": ");
	vprintf(format, ap);
	printf("\n");
	exit(1);
}

#define EXPECT(_cond, ...) do {						\
	if (!(_cond))							\
		fail(__VA_ARGS__);					\
} while (0)

#endif /* _QT_EXPECT_H */
